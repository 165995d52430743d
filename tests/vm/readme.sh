#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR MIT
# The examples of README.md, and of the pages that it leads to, work as a reader pastes them. tests/host/readme.test checks the blocks that
# cannot run in a guest, and that each block is known to one of the two.
set -uo pipefail
# shellcheck source=tests/vm/lib/tap.sh
. "$TOP/tests/vm/lib/tap.sh"

blocks=$TOP/tests/vm/lib/blocks
lttng_page=$TOP/Documentation/using-lttng.md
module_page=$TOP/Documentation/kernel-modules.md
source=$BUILT/source
cd "$SCRATCH" || exit

# A reader is root here, has installed the command, the plugin and the library, and starts in an empty home directory.
mkdir bin
printf '#!/bin/sh\nexec "$@"\n' >bin/sudo
chmod +x bin/sudo
export PATH=$SCRATCH/bin:$source/tools/kunwind:$PATH HOME=$SCRATCH
export BABELTRACE_PLUGIN_PATH=$source/babeltrace/.libs

# In seconds, of one block. A debug kernel takes ten times as long.
limit=300
[[ ! -e /sys/kernel/debug/kmemleak ]] || limit=3000

# save PAGE LANGUAGE FILE: as the page asks for.
save() {
	local text
	text=$("$blocks" show "$1" "$2" "$3") && [[ $text ]] && printf '%s\n' "$text" >"$3"
}

# pastes PAGE NAME: runs those blocks. What they print is in NAME.said.
pastes() {
	save "$1" sh "$2" || return
	timeout "$limit" bash -euo pipefail "$2" >"$2.said" 2>&1 </dev/null
	local status=$?
	((status == 0)) || { echo "status $status"; tail -n 30 "$2.said"; }
	return "$status"
}

# shows PATTERN FILE
shows() {
	grep -qE "$1" "$2" || { tail -n 30 "$2"; return 1; }
}

# install_library: where pkg-config, the compiler and the loader find it, and no other test does.
install_library() {
	local pc
	make -C "$source/libkunwind" install DESTDIR="$SCRATCH/root" || return
	pc=$(find "$SCRATCH/root" -name libkunwind.pc)
	PKG_CONFIG_LIBDIR=${pc%/*} PKG_CONFIG_SYSROOT_DIR=$SCRATCH/root
	LD_LIBRARY_PATH=$(dirname "${pc%/*}")
	export PKG_CONFIG_LIBDIR PKG_CONFIG_SYSROOT_DIR LD_LIBRARY_PATH
}

ok "README: a trace with the command" pastes "$TOP/README.md" lttng
ok "it shows system calls down to the program's start" shows '__libc_start_main|_start' lttng.said
ok "it draws flame graphs" shows '</html>' ls.html

ok "using-lttng.md: the command, lttng and babeltrace2" pastes "$lttng_page" lttng
ok "lttng view shows whole stacks" shows '_callstack_user_unwind_stop = \( "COMPLETE"' lttng.said
ok "it shows what names the addresses" shows 'kunwind_map: ' lttng.said
ok "report --perfetto writes a whole file" gzip -t listing.pftrace.gz
lttng destroy --all >/dev/null 2>&1

ok "the library is installed" install_library
ok "README: the program can be saved" save "$TOP/README.md" c prog.c
ok "it compiles and runs" pastes "$TOP/README.md" program
ok "it prints frames" shows '^0x' program.said
ok "its stack is whole" shows '^the outermost frame was reached$' program.said
unset LD_LIBRARY_PATH

built=$TOP/build/module-$(uname -r)/src
if [[ -e /lib/modules/$(uname -r)/build/Makefile && -e $built/Module.symvers ]]; then
	ok "kernel-modules.md: the module can be saved" save "$module_page" c example.c
	ok "so can its Kbuild" save "$module_page" make Kbuild
	export KUNWIND=$built
	ok "it builds, and loads" pastes "$module_page" module
	ok "it tells the stack of the loading program" shows 'example: insmod has [1-9][0-9]* frames: COMPLETE' module.said
else
	skip "kernel-modules.md: the module" "this guest has no headers of its kernel"
fi

ok "README: perf" pastes "$TOP/README.md" perf
ok "its stacks reach _start" shows '\b_start\b' perf.said
ok "kunwind-tracing can be removed" modprobe -r kunwind-tracing
done_testing
