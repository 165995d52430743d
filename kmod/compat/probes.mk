# SPDX-License-Identifier: GPL-2.0-only OR MIT
# What the kernel offers: probes/NAME.c compiles if the kernel has NAME, and then found.h defines KW_HAVE_NAME. The headers
# next to found.h make up for the rest. Versions say nothing: distributions backport.

compat := kmod/compat
probes := $(patsubst $(src)/$(compat)/probes/%.c,$(obj)/$(compat)/probes/%.found,$(wildcard $(src)/$(compat)/probes/*.c))

# What the compiler says of a probe that fails is no news, but stays in a comment.
quiet_cmd_probe = PROBE   $(*F)
      cmd_probe = if said=`$(CC) $(filter-out -Wp$(comma)-M%,$(c_flags)) -fsyntax-only $< 2>&1`; then echo "$(pound)define KW_HAVE_$(*F)"; \
		  else echo "/* no $(*F): $$(echo "$$said" | sed -n 's/.*error: //p' | head -n 1 | tr -d '*') */"; fi >$@

$(probes): part-of-module := y
$(probes): $(obj)/$(compat)/probes/%.found: $(src)/$(compat)/probes/%.c FORCE
	$(call if_changed,probe)

filechk_found = cat $(filter %.found,$^)

$(obj)/$(compat)/found.h: $(probes) FORCE
	$(call filechk,found)

targets += $(patsubst $(obj)/%,%,$(probes)) $(compat)/found.h
# A header that the kernel lacks is found here, and one that it has is found first.
compat-flags := -I$(obj)/$(compat) -I$(src)/$(compat)/missing
