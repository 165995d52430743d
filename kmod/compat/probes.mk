# SPDX-License-Identifier: GPL-2.0-only OR MIT
# What the kernel offers: found.h defines KW_HAVE_NAME if HEADER declares NAME, or if probes/NAME.c compiles. The headers next
# to found.h make up for the rest. Versions say nothing: distributions backport.

compat := kmod/compat

# NAME:HEADER, and since when. The header must compile on its own: linux/shrinker.h does not, but linux/list_lru.h has it.
declared := ftrace_regs_get_argument:linux/ftrace.h # 6.2: ftrace has functions for the registers that a callback is given.
declared += inode_get_ctime:linux/fs.h # 6.6, and stable kernels: a function reads the time of an inode's last change,
declared += inode_get_mtime:linux/fs.h # 6.7, and stable kernels: and that of its data's.
declared += shrinker_alloc:linux/list_lru.h # 6.7: the kernel allocates shrinkers, and a module registers one when it is ready.
declared += file_user_path:linux/fs.h # 6.8: the file of a mapping on an overlay has the underlying path, and knows the user's,
declared += file_user_inode:linux/fs.h # 6.8: and the user's inode.
declared += list_lru_add_obj:linux/list_lru.h # 6.8: list_lru_add() wants a node and a cgroup; list_lru_add_obj() finds them.
declared += TWAF_NO_ALLOC:linux/task_work.h # 6.12 only: the caller of task_work_add() says whether KASAN may allocate.
declared += rdmsrq_safe:asm/msr.h # 6.16: the functions for 64 bits of an MSR have a new name.

found-by-name := $(foreach each,$(declared),$(obj)/$(compat)/probes/$(firstword $(subst :, ,$(each))).found)
found-by-file := $(patsubst $(src)/$(compat)/probes/%.c,$(obj)/$(compat)/probes/%.found,$(wildcard $(src)/$(compat)/probes/*.c))
found := $(found-by-name) $(found-by-file)

# What the compiler is given. A name may be a macro.
$(found-by-name): probe = printf '%s\n' '$(pound)include <$(patsubst $(*F):%,%,$(filter $(*F):%,$(declared)))>' \
			  '$(pound)ifndef $(*F)' 'extern typeof($(*F)) *probe;' '$(pound)endif'
$(found-by-file): probe = cat $<

# What the compiler says of a probe that fails is no news, but stays in a comment.
quiet_cmd_probe = PROBE   $(*F)
      cmd_probe = if said=`$(probe) | $(CC) $(filter-out -Wp$(comma)-M%,$(c_flags)) -fsyntax-only -x c - 2>&1`; then echo "$(pound)define KW_HAVE_$(*F)"; \
		  else echo "/* no $(*F): $$(echo "$$said" | sed -n 's/.*error: //p' | head -n 1 | tr -d '*') */"; fi >$@

$(found): part-of-module := y
$(found-by-name): $(obj)/$(compat)/probes/%.found: FORCE
	$(call if_changed,probe)
$(found-by-file): $(obj)/$(compat)/probes/%.found: $(src)/$(compat)/probes/%.c FORCE
	$(call if_changed,probe)

filechk_found = cat $(filter %.found,$^)

$(obj)/$(compat)/found.h: $(found) FORCE
	$(call filechk,found)

targets += $(patsubst $(obj)/%,%,$(found)) $(compat)/found.h
# A header that the kernel lacks is found here, and one that it has is found first.
compat-flags := -I$(obj)/$(compat) -I$(src)/$(compat)/missing
