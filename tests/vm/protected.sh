#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR MIT
# In the middle of an mprotect() that makes memory executable, what was there before is not believed: not even before its pages change.
set -uo pipefail
# shellcheck source=tests/vm/lib/tap.sh
. "$TOP/tests/vm/lib/tap.sh"

# mprotect_fixup() calls this function before it changes any page, and perf_event_mmap() after that.
POINT=vma_set_page_prot

grep -q " T $POINT\$" /proc/kallsyms || skip_all "this kernel has no $POINT()"

session() {
	lttng create protected --output="$SCRATCH/trace" &&
		lttng enable-event --kernel --session=protected --probe="$POINT" changing &&
		lttng add-context --kernel --session=protected --type=procname --type=callstack-user &&
		lttng start protected
}

# stacks: of the events in the middle of the program's own mprotect(), with the return address that it made up as the second one.
stacks() {
	babeltrace2 "$SCRATCH/trace" | grep 'procname = "protected"'
}

recorded() {
	stacks | tail -n 1 | tee "$SCRATCH/last"
	grep -q callstack_user_unwind "$SCRATCH/last"
}

# cut: the last one ends with the address in the memory that changes.
cut() {
	cat "$SCRATCH/last"
	grep -Eq 'callstack_user_unwind = \[ \[0\] = 0x[0-9A-F]+, \[1\] = 0x[0-9A-F]+, \[2\] = 0xF{16} \]' "$SCRATCH/last" &&
		grep -q '"INCOMPLETE_MAP"' "$SCRATCH/last"
}

ok "a session with a probe in mprotect() begins" session
ok "a program makes other code executable where code was" "$BUILT/protected" "$BUILT/maps0.so" "$BUILT/maps1.so"
ok "the session ends" lttng destroy protected
ok "the stack in the middle was recorded" recorded
ok "it ends where the memory changes" cut
done_testing
