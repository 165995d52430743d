#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR MIT
# More mappings are replaced in one system call than an address space remembers (KW_LOG): no snapshot can be believed until its task catches up.
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

# recorded: where mprotect() returns, a stack each, the program's own four times: without and with what was executable before, twice.
recorded() {
	babeltrace2 "$SCRATCH/trace" | grep 'syscall_exit_mprotect.*procname = "events"' | tail -n 4 >"$SCRATCH/stacks"
	(($(wc -l <"$SCRATCH/stacks") == 4))
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
ok "where nothing becomes executable, one is whole" ends 1 COMPLETE 5
ok "so is the one behind the events that are remembered" ends 2 COMPLETE 5
ok "and the next one where nothing becomes executable" ends 3 COMPLETE 5
ok "behind more events, only the innermost frame is known" ends 4 INCOMPLETE_MAP 1
done_testing
