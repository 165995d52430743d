#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR MIT
# LTTng's own contexts are untouched while kunwind-lttng is loaded; without it, callstack-user is LTTng's own again.
set -uo pipefail
# shellcheck source=tests/vm/lib/tap.sh
. "$TOP/tests/vm/lib/tap.sh"

# session NAME CONTEXT...: a text file with openat's events and these contexts.
session() {
	local name=$1 types=() each
	shift
	for each in "$@"; do
		types+=("--type=$each")
	done
	lttng create "$name" --output="$SCRATCH/$name" &&
		lttng enable-event --kernel --session="$name" --syscall openat &&
		lttng add-context --kernel --session="$name" "${types[@]}" &&
		lttng start "$name" &&
		ls / >/dev/null &&
		lttng destroy "$name" &&
		babeltrace2 "$SCRATCH/$name" >"$SCRATCH/$name.text" &&
		[[ -s $SCRATCH/$name.text ]]
}

# every TEXT PATTERN: all of its lines match; none TEXT PATTERN: none does.
every() {
	! grep -Evm 1 -e "$2" "$SCRATCH/$1.text"
}

none() {
	! grep -Em 1 -e "$2" "$SCRATCH/$1.text"
}

kernel_stack='_callstack_kernel_length = [0-9]+, callstack_kernel = \[ \[0\] = 0xFFFFFFFF'
unwound='_callstack_user_unwind_length = [0-9]+, callstack_user_unwind = \[ \[0\] = 0x'
frame_pointers='_callstack_user_length = [0-9]+, callstack_user = \['

ok "a session with procname, pid, tid, vpid" session plain procname pid tid vpid
ok "they are there" every plain 'procname = "[^"]+", pid = [0-9]+, tid = [0-9]+, vpid = [0-9]+ \}'
# lttng-modules 2.13.9 never looks task_prio() up (src/lttng-context-prio.c): its prio calls a null pointer, and the kernel panics.
if [[ $(modinfo -F version lttng-tracer) == 2.13.9 ]]; then
	skip "a session with prio" "prio of lttng-modules 2.13.9 crashes the kernel"
	skip "it is there" "prio of lttng-modules 2.13.9 crashes the kernel"
else
	ok "a session with prio" session prio prio
	ok "it is there" every prio 'prio = [0-9]+ \}'
fi
ok "a session with callstack-kernel" session kernel callstack-kernel
ok "callstack-kernel is LTTng's own" every kernel "$kernel_stack"
ok "and has no user stack" none kernel 'callstack_user'
ok "a session with all" session all pid callstack-user callstack-kernel procname
ok "callstack-user is kunwind's" every all "$unwound"
ok "callstack-user is not LTTng's" none all "$frame_pointers"
ok "callstack-kernel next to it" every all "$kernel_stack"
ok "the others next to it" every all 'pid = [0-9]+, .*procname = "[^"]+" \}'
# in_execve: a task has the memory of the new program, and registers of the old one, which are no frame of it.
in_execve() {
	lttng create execve --output="$SCRATCH/execve" &&
		lttng enable-event --kernel --session=execve --probe=setup_arg_pages in_execve &&
		lttng add-context --kernel --session=execve --type=callstack-user &&
		lttng start execve && /bin/true && lttng destroy execve || return
	babeltrace2 "$SCRATCH/execve" | grep in_execve >"$SCRATCH/in_execve"
	head -n 3 "$SCRATCH/in_execve"
	[[ -s $SCRATCH/in_execve ]] && ! grep -v '_length = 1, .*"CONTEXT"' "$SCRATCH/in_execve"
}
ok "in execve() there is no frame of the old program" in_execve
ok "kunwind-lttng can be removed" modprobe -r kunwind-lttng
ok "a session without it" session without callstack-user
ok "callstack-user is LTTng's own again" every without "$frame_pointers"
ok "and not kunwind's" none without "$unwound"
ok "kunwind-lttng can be loaded again" modprobe kunwind-lttng
ok "a session with it again" session again callstack-user
ok "callstack-user is kunwind's again" every again "$unwound"
done_testing
