#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR MIT
# Where code in use is mapped anew, and where more code is than an address space remembers (KW_LOG), before the task can catch up.
set -uo pipefail
# shellcheck source=tests/vm/lib/tap.sh
. "$TOP/tests/vm/lib/tap.sh"

# Two events for each mapping, and 16 are remembered (2 * KW_SLOTS in kmod/space.h).
most=8

session() {
	lttng create events --output="$SCRATCH/trace" &&
		lttng enable-event --kernel --session=events --syscall mprotect &&
		lttng add-context --kernel --session=events --type=procname --type=callstack-user &&
		lttng start events
}

# recorded: where mprotect() returns, a stack each: of a page of the program's own code, writable and not; then for each number of
# mappings, when they are not executable any more, and when they are again.
recorded() {
	babeltrace2 "$SCRATCH/trace" | grep 'syscall_exit_mprotect.*procname = "events"' | tail -n 6 >"$SCRATCH/stacks"
	(($(wc -l <"$SCRATCH/stacks") == 6))
}

# ends N STOP FRAMES: the N-th of them ends so, and so many frames are proven.
ends() {
	sed -n "$1p" "$SCRATCH/stacks" | tee "$SCRATCH/stack"
	grep -q "_unwind_stop = ( \"$2\" .* _callstack_user_unwind_proven = $3," "$SCRATCH/stack"
}

ok "a session with the stacks of mprotect() begins" session
ok "a program replaces $most and $((most + 1)) mappings at once" "$BUILT/events" "$BUILT/maps0.so" "$most" "$((most + 1))"
ok "the session ends" lttng destroy events
ok "its stacks were recorded" recorded
# mprotect(), main(), two of the C library, _start.
ok "where a page of its own code becomes writable, one is whole" ends 1 COMPLETE 5
ok "where that is taken back, too" ends 2 COMPLETE 5
ok "where $most mappings are not executable any more, too" ends 3 COMPLETE 5
ok "where they are again, too: all events are remembered" ends 4 COMPLETE 5
ok "where one more is not executable any more, too" ends 5 COMPLETE 5
ok "where they are again, only the innermost frame is known" ends 6 INCOMPLETE_MAP 1
done_testing
