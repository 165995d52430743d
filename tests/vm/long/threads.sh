#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR MIT
# kunwind stack: threads of other processes, asleep and running; who may see whom; and nobody notices.
set -uo pipefail
# shellcheck source=tests/vm/lib/tap.sh
. "$TOP/tests/vm/lib/tap.sh"
# shellcheck source=tests/vm/lib/figures
. "$TOP/tests/vm/lib/figures"

kunwind=$BUILT/source/tools/kunwind/kunwind
cd "$SCRATCH" || exit

# begin NAME COMMAND...: in the background; when it returns, the command has written a line.
begin() {
	local name=$1 said
	shift
	mkfifo "$name.fifo"
	exec {input}<>"$name.fifo"
	"$@" <"$SCRATCH/nothing" >"$name.fifo" 2>/dev/null &
	begun=$!
	read -r -t 300 -u "$input" said
	exec {input}>&-
	[[ $said ]]
}

# status_is STATUS COMMAND...
status_is() {
	local wanted=$1 status=0
	shift
	"$@" >said 2>&1 || status=$?
	cat said
	((status == wanted))
}

# says PATTERN STATUS COMMAND...
says() {
	local pattern=$1
	shift
	status_is "$@" && grep -qE "$pattern" said
}

# as USER COMMAND...
as() {
	local user=$1
	shift
	setpriv --reuid "$user" --regid "$user" --init-groups -- "$@"
}

# judge FILE HOW...: the JSON in the file.
judge() {
	"$TOP/tests/oracles/check-threads" "${@:2}" <"$1"
}

# all_switches: how often threads of the sleepers left a CPU.
all_switches() {
	local each
	for each in "${sleepers[@]}"; do cat /proc/"$each"/task/*/status; done | awk '/ctxt_switches/ { sum += $2 } END { print sum }'
}

# A reader of it waits, as it has a writer.
mkfifo nothing
exec 9<>nothing

# Asleep, in as many ways as asleep.py knows, and 30 more programs.
begin asleep python3 "$TOP/tests/subjects/asleep.py"
: >empty
mapfile -t sleepers < <(echo "$begun" && pgrep -P "$begun")
for ((i = 0; i < 10; i++)); do
	# Of a file that is none, tail would look each second.
	tail -f "$SCRATCH/empty" &
	sleepers+=($!)
	bash -c 'read -r line' <nothing &
	sleepers+=($!)
	python3 -c 'import time; time.sleep(1000)' &
	sleepers+=($!)
done
# Programs start slowly in an emulated guest.
before='' after=$(all_switches)
for ((i = 0; i < 60; i++)); do
	[[ $before != "$after" ]] || break
	before=$after
	sleep 3
	after=$(all_switches)
done
ok "all are asleep" [ "$before" = "$after" ]
ok "kunwind stack shows sleeping programs" eval '"$kunwind" stack --json "${sleepers[@]}" >asleep.json'
after=$(all_switches)
ok "none of them was woken" [ "$before" = "$after" ]
for each in "${sleepers[@]}"; do eu-stack -p "$each"; done >asleep.eu 2>/dev/null
ok "each of their threads has eu-stack's frames" judge asleep.json eu-stack asleep.eu
ok "so does the text" eval '"$kunwind" stack "${sleepers[1]}" >text && grep "__libc_start_main+0x" text && grep "^process ${sleepers[1]} " text'
ok "a TID stands for one thread" eval '[[ $("$kunwind" stack "$(ls /proc/"${sleepers[0]}"/task | tail -n 1)" | grep -c "^  thread") == 1 ]]'
ok "--kernel shows where the kernel waits" eval '"$kunwind" stack --kernel "${sleepers[1]}" | grep -q "\[kernel\]  "'
ok "-n shows the programs of a name" eval '[[ $("$kunwind" stack -n tail | grep -c "^process") == 10 ]]'
kill -KILL "${sleepers[@]}"
wait

# 1,000 threads, in one call of the command.
begin thousand "$BUILT/branches" asleep 1000
thousand=$begun
{ time -p "$kunwind" stack --json "$thousand" >thousand.json; } 2>took
sed 's/^/# 1,000 threads: /' took
ok "1,000 threads are shown, and whole" judge thousand.json whole 1000
kill -KILL "$thousand"

# Running, on both CPUs.
begin busy "$BUILT/branches" busy 3
busy=$begun
watch() {
	timeout --preserve-status -s INT 100 "$kunwind" stack --json --watch=1 "$busy" >>busy.json
}
ok "--watch goes on until it is interrupted, and then ends well" watch
# On a busy machine, the guest takes few stacks in that time.
for ((i = 0; i < 5; i++)); do
	! judge busy.json branches 100 >/dev/null 2>&1 || break
	watch
done
ok "stacks of running threads are whole, and of one moment" judge busy.json branches 100

# Permission is ptrace's.
# No function: its shell, which stays in the background, is root's.
own=(setpriv --reuid tracer --regid tracer --init-groups --)
"${own[@]}" sleep 1000 &
theirs=$!
sleep 1000 &
ours=$!
sleep 2
ok "a user sees own processes" as tracer "$kunwind" stack "$theirs"
ok "but not root's" says 'may not trace' 1 as tracer "$kunwind" stack "$ours"
ok "nor another user's" says 'may not trace' 1 as nobody-else "$kunwind" stack "$theirs"
ok "with -a, others are counted" says 'processes are not shown' 0 as tracer "$kunwind" stack -a
ok "root sees them all" eval '"$kunwind" stack -a >all && grep -q "^process $ours " all && grep -q "^process $theirs " all'
"${own[@]}" python3 -c 'import ctypes, time; ctypes.CDLL(None).prctl(4, 0); time.sleep(1000)' &
hidden=$!
sleep 5
ok "nor a process that is not dumpable" says 'may not trace' 1 as tracer "$kunwind" stack "$hidden"
# Yama decides who may attach, not who may read.
scope=$(cat /proc/sys/kernel/yama/ptrace_scope)
echo 1 >/proc/sys/kernel/yama/ptrace_scope
ok "where Yama allows to trace children only, a user does not see others of his own" says 'may not trace' 1 as tracer "$kunwind" stack "$theirs"
ok "root does" eval '"$kunwind" stack "$theirs" >all && grep -q _start all'
echo "$scope" >/proc/sys/kernel/yama/ptrace_scope
kill "$theirs" "$ours" "$hidden" "$busy"

ok "a process that is not there is an error" says 'no process or thread 999999' 1 "$kunwind" stack 999999
ok "a kernel thread is one, too" says "kernel's" 1 "$kunwind" stack 2
ok "a name is no number" status_is 2 "$kunwind" stack sshd
ok "nothing is left" nothing_left
done_testing
