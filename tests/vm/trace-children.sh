#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR MIT
# What is traced: the command from its execve on, its children and theirs, and nobody else.
set -uo pipefail
# shellcheck source=tests/vm/lib/tap.sh
. "$TOP/tests/vm/lib/tap.sh"

record() {
	"$TOP/vm/record" "$SCRATCH/$1" "${@:2}"
}

names() {
	babeltrace2 "$SCRATCH/$1" | sed -n 's/.* procname = "\([^"]*\)".*/\1/p' | sort | uniq -c | awk '{ print $2, $1 }'
}

# Another process, which makes many system calls all the time.
noise() {
	while :; do
		cat /proc/uptime
	done >/dev/null
}

only_ours() {
	names family | tee "$SCRATCH/names"
	[[ $(cut -d' ' -f1 "$SCRATCH/names" | sort | tr '\n' ' ') == "kunwind-launch setsid sh sleep true " ]]
}

first_is_execve() {
	babeltrace2 "$SCRATCH/family" | grep -v " kunwind_[a-z]*: " | head -n 2 >"$SCRATCH/first"
	sed -n 1p "$SCRATCH/first" | grep ' syscall_entry_execve: .*procname = "kunwind-launch"' &&
		sed -n 2p "$SCRATCH/first" | grep ' syscall_exit_execve: .*procname = "sh"'
}

only_events() {
	babeltrace2 "$SCRATCH/events" | awk '{ print $3 }' | sort -u | tee "$SCRATCH/names"
	babeltrace2 "$SCRATCH/events" | awk '{ for (i = 1; i < NF; i++) if ($i ~ /^(sched_|syscall_)/) { print $i; break } }' | sort -u |
		tee "$SCRATCH/names"
	[[ $(tr '\n' ' ' <"$SCRATCH/names") == "sched_process_exec: syscall_entry_openat: syscall_exit_openat: " ]]
}

status_is() {
	local wanted=$1
	shift
	"$@"
	(($? == wanted))
}

noise &
noise=$!
ok "a family of processes is traced" record family -- sh -c 'sh -c true; (/bin/true); setsid sleep 0.01; true & wait'
ok "the family is in the trace, and nobody else" only_ours
ok "the trace begins with the command's execve" first_is_execve
ok "tracepoints and system calls can be chosen" record events --event sched_process_exec --event openat -- ls /
ok "only these are in the trace" only_events
ok "the exit status is the command's" status_is 7 record status -- sh -c 'exit 7'
ok "a command that is killed" status_is 137 record killed -- sh -c 'kill -KILL $$'
ok "a command that is not there" status_is 127 record nothing -- there-is-no-such-command
kill "$noise"
done_testing
