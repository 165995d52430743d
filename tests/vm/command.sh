#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR MIT
# The command kunwind, where the module and LTTng are: its own stack, a trace of a program, what it says of the system.
#
# A trace that has all system calls takes seconds to read here, for its metadata alone: most traces have few events.
set -uo pipefail
# shellcheck source=tests/vm/lib/command
. "$TOP/tests/vm/lib/command"

status_is() {
	local wanted=$1 status=0
	shift
	"$@" || status=$?
	echo "status $status"
	((status == wanted))
}

# signalled SIGNAL STATUS COMMAND...: it ends with that status after the signal, which is sent to all of the foreground, as Ctrl-C is, or to it alone.
signalled() {
	local signal=$1 wanted=$2 status=0 job
	shift 2
	: >said
	set -m
	"$@" >shown 2>said &
	job=$!
	set +m
	until_said 'recording\|begun' && sleep 1
	[[ $signal != INT ]] || job=-$job
	kill -s "$signal" -- "$job"
	wait "${job#-}" || status=$?
	echo "status $status"
	cat said
	((status == wanted))
}

stacks_shown() {
	grep -c "  libc\.so\.6" shown
}

# half_written TRACE: a copy with half a packet at a stream's end, as a full disk leaves it.
half_written() {
	local file
	cp -r "$1" "$1-half" && file=$(find "$1-half" -name 'kunwind_0') && head -c 1000 "$file" | tee -a "$file" >/dev/null
}

# A child that has ended stays a zombie while its parent sleeps.
of_zombie() {
	local parent status=0
	perl -e 'my $child = fork // die; if (!$child) { sleep 5; exit } $| = 1; print "$child\n"; sleep' >child &
	parent=$!
	until [[ -s child ]]; do sleep 0.1; done
	timeout 120 "$kunwind" trace --no-view -e openat --output ending --pid "$(<child)" || status=$?
	kill "$parent"
	echo "status $status"
	((!status))
}

as_stranger() {
	setpriv --reuid nobody-else --regid nobody-else --init-groups --reset-env -- "$@"
}

ok "stack: from the command itself to _start" prints '_start' "$kunwind" stack
ok "stack --json is JSON" prints '"function"' sh -c '"$1" stack --json | python3 -m json.tool' sh "$kunwind"
# odd_name: of a process: a byte that is not UTF-8, and U+009B, which terminals take for an escape.
odd_name() {
	local odd status
	python3 -c 'import time
open("/proc/self/comm", "wb").write(b"a\xff\xc2\x9bz")
time.sleep(1000)' &
	odd=$!
	until LC_ALL=C grep -q '^a.*z$' "/proc/$odd/comm"; do sleep 0.1; done
	"$kunwind" stack "$odd" >said && grep -F " a\xff\u009bz" said &&
		"$kunwind" stack --json "$odd" >said && python3 -c 'import json
assert json.load(open("said"))[0]["threads"][0]["name"] == "a\ufffd\u009bz"'
	status=$?
	kill "$odd"
	return "$status"
}
ok "stack: a process with an odd name" odd_name
# ended_is_forgotten: after a process has ended, the one that asked for its stack keeps none of its tables.
ended_is_forgotten() {
	local maps=/sys/kernel/kunwind/maps subject watcher before round
	sleep 1000 &
	subject=$!
	"$kunwind" stack --watch=1000 "$subject" >watched &
	watcher=$!
	for ((round = 0; round < 100; round++)); do
		! grep -q _start watched || break
		sleep 0.1
	done
	before=$(<"$maps")
	kill "$subject"
	wait "$subject"
	for ((round = 0; round < 50; round++)); do
		(($(<"$maps") >= before)) || break
		sleep 0.1
	done
	kill "$watcher"
	echo "$before maps before its end, $(<"$maps") after it"
	((round < 50 && before > 0))
}
ok "stack: a process that has ended is not kept" ended_is_forgotten
ok "status: the module is there" prints "[Cc]onsumers" "$kunwind" status
ok "status --json is JSON" prints consumers sh -c '"$1" status --json | python3 -m json.tool' sh "$kunwind"
ok "table: of libc" prints '[0-9]+ rows|rows' "$kunwind" table "$(ldd /bin/ls | sed -n 's/.*libc.so.6 => \([^ ]*\).*/\1/p')"

ok "trace: the exit status is the program's" status_is 3 "$kunwind" trace --no-view -e openat --output failed -- sh -c 'exit 3'
ok "trace: a program that is not there" status_is 127 "$kunwind" trace --no-view --kernel-stack --output nothing -- there-is-no-such-program
ok "and no folder is left" [ ! -e nothing ]
ok "trace: a file that is no program" status_is 126 "$kunwind" trace --no-view --output nothing -- /etc/passwd
ok "trace: the program's system calls, with stacks by name" prints '__libc_start_main|_start' \
	"$kunwind" trace --color=never --output listing -- /bin/ls -l /
ok "trace: only the program's" fails grep -E '^[^ ].*(lttng-sessiond|lttng-consumerd)' said
# unseen: the exit of execve() is the new program's first instruction, of which the trace tells later.
first_exit() {
	awk '/ execve\(/ { inside = 1; next } /^[^ ]/ { inside = 0 } inside' said | tee shown && [[ -s shown ]] && ! grep '^    0x' shown
}
ok "the first frame of a program has a name" first_exit

bash -c 'while sleep 0.1; do :; done' &
busy=$!
trap 'kill "$busy"' EXIT
ok "trace: system calls by a pattern" prints 'openat' "$kunwind" trace --color=never --event 'openat*' --output pattern -- /bin/ls /
ok "report --folded: a line for each stack" prints '^[^ ].*;.* [0-9]+$' "$kunwind" report --folded pattern
ok "report --flame: a page" sh -c '"$1" report --flame page.html pattern && grep -q "</html>" page.html' sh "$kunwind"
ok "report --perfetto: a whole file" sh -c '"$1" report --perfetto trace.pftrace.gz pattern && gzip -t trace.pftrace.gz' sh "$kunwind"
ok "trace: a pattern of nothing" prints "there is no event 'nothing" sh -c '! "$1" trace --event "nothing*" --output none -- true' sh "$kunwind"
ok "trace: Ctrl-C ends a recording of everything" signalled INT 0 "$kunwind" trace --color=never -e clock_nanosleep --output everything
ok "and it is shown" stacks_shown
ok "trace: Ctrl-C ends one of a process" signalled INT 0 "$kunwind" trace --color=never -e openat --output process --pid "$busy"
ok "and it is shown" stacks_shown
ok "the process lives on" kill -0 "$busy"
ok "trace: Ctrl-C is the command's" signalled INT 130 "$kunwind" trace --color=never -e openat --output command -- \
	sh -c 'echo begun >&2; exec sleep 1000'
ok "and what it did is shown" stacks_shown
ok "trace: SIGTERM is the command's, too" signalled TERM 143 "$kunwind" trace --color=never -e openat --output ended -- \
	sh -c 'echo begun >&2; exec sleep 1000'
ok "and what it did is shown" stacks_shown
ok "trace: a process that ends, and that nobody waits for" of_zombie
ok "trace: a folder that cannot be made, and where else" prints '[-]o DIR puts' sh -c '! "$1" trace -o /proc/none true' sh "$kunwind"
ok "where nothing can be written, the trace is in /tmp" prints 'the trace is in /tmp/kunwind-' \
	sh -c 'cd "$2" && "$1" trace -e openat -- true' sh "$kunwind" "$TOP"
faults=(-e page-faults)
if ! lttng list --kernel | grep -q x86_exceptions_page_fault_user; then
	skip "page faults" "LTTng has no such event on this kernel"
	ok "what has page faults, then" prints 'perf record -e page-faults' sh -c '! "$1" trace --faults --output none -- true' sh "$kunwind"
	faults=()
fi
ok "events as perf calls them" prints sched_switch "$kunwind" trace --full --io -e sched:sched_switch "${faults[@]}" \
	-e syscalls:sys_enter_execve --output perfs -- sleep 0.1
((!${#faults[@]})) || ok "page faults" grep page_fault_user said
ok "system calls of perf's" grep 'execve(' said
ok "a set of events" grep 'openat(' said
ok "an event that is none, and what it may be" prints "did you mean 'sched_switch'" \
	sh -c '! "$1" trace -e sched_swich --output none -- true' sh "$kunwind"
ok "a file that cannot be written is told before the command runs" prints '/nowhere/x: No such file' \
	sh -c '! "$1" trace --flame /nowhere/x -- touch ran && [ ! -e ran ]' sh "$kunwind"
ok "a packet is half written" half_written pattern
ok "report: it says what is missing" prints 'its last 1000 bytes are no whole packet' "$kunwind" report --color=never pattern-half
ok "and shows the rest" grep -q "  libc\.so\.6" said
ok "trace: who may not is told the group" prints "group 'tracing'" as_stranger sh -c '! "$1" trace -o /tmp/none true' sh "$kunwind"
ok "stack: everybody may" prints _start as_stranger "$kunwind" stack
pkill -x lttng-sessiond
while pgrep -x lttng-sessiond >/dev/null; do sleep 0.2; done
ok "trace: without the session daemon, how to start it" prints 'lttng-sessiond --daemonize' sh -c '! "$1" trace -o none true' sh "$kunwind"
lttng-sessiond --daemonize --quiet

modprobe -r kunwind-lttng kunwind
ok "without the module, stack says how to load it" prints modprobe sh -c '! "$1" stack' sh "$kunwind"
ok "and so does status" prints modprobe sh -c '"$1" status; true' sh "$kunwind"
ok "and trace" prints modprobe sh -c '! "$1" trace --no-view --output without -- true' sh "$kunwind"
done_testing
