#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR MIT
# perf's user stacks are whole while kunwind-tracing is loaded: of programs that run already, too, and only while perf wants stacks.
set -uo pipefail
# shellcheck source=tests/vm/lib/tap.sh
. "$TOP/tests/vm/lib/tap.sh"
# shellcheck source=tests/vm/lib/perf
. "$TOP/tests/vm/lib/perf"

deep=(python3 -S "$TOP/tests/subjects/deep.py")

# asleep: deep.py sleeps until it is woken.
asleep() {
	mkfifo "$SCRATCH/wake"
	"${deep[@]}" "$SCRATCH/asleep.map" 0.5 <"$SCRATCH/wake" &
	sleeper=$!
	exec {wake}>"$SCRATCH/wake"
	soon sleeps "$sleeper"
}

# In read(), below all its calls.
sleeps() {
	[[ -s $SCRATCH/asleep.map && $(awk '{ print $1 }' "/proc/$1/syscall") == 0 ]]
}

# first_ones: perf of all processes, while one that slept wakes up, and one begins. Each event is the return from a read(): perf itself
# writes, and would record that, too.
first_ones() {
	cp -- "$(type -P ls)" "$SCRATCH/newcomer"
	begin_perf -e raw_syscalls:sys_exit --filter 'id == 0' -g -o "$SCRATCH/first" && consumes 1 || return
	echo >&"$wake"
	wait "$sleeper"
	"$SCRATCH/newcomer" / >/dev/null
	stop
}

# of PID: its stacks alone.
of() {
	perf script --no-inline -i "$SCRATCH/first" --pid "$1" "${fields[@]}" |
		"$TOP/tests/oracles/check-perf" "${@:2}"
}

# older: an event that is there before the module. With the module that was there before, modprobe has removed kunwind, too.
older() {
	begin_perf -e cpu-clock -F 997 -g -o "$SCRATCH/older" || return
	modprobe kunwind hooks_stay_s=0 && modprobe kunwind-tracing || return
	cp -- "$(readlink -f /usr/bin/python3)" "$SCRATCH/later"
	"$SCRATCH/later" -S "$TOP/tests/subjects/deep.py" "$SCRATCH/map" 0.2 </dev/null
	stop
}

# without_stacks: perf that wants none.
without_stacks() {
	begin_perf -e cpu-clock -F 97 -o "$SCRATCH/flat" && idle
	local verdict=$?
	stop && return "$verdict"
}

ok "kunwind is loaded, kunwind-tracing is not" fresh
ok "stock: python3 is recorded" cpu_clock "$SCRATCH/stock" "${deep[@]}" "$SCRATCH/map" 0.2
judged "stock: nearly no stack is whole" "$SCRATCH/stock" --comm python3 --stacks 100 --most 30
ok "a program sleeps deep in its calls" asleep
ok "kunwind-tracing is loaded" modprobe kunwind-tracing
ok "two functions are replaced, and none is hooked" idle
ok "perf without stacks changes nothing" without_stacks
ok "perf of all processes is recorded" first_ones
ok "the first stack of the one that slept is whole" of "$sleeper" --first --least 100
judged "the first stacks of all others are, too" "$SCRATCH/first" --first --least 99 --stacks 2
judged "and those of the one that is new" "$SCRATCH/first" --comm newcomer --least 99 --stacks 2
ok "soon after nothing is left of it" soon idle
ok "no table, and no address space" nothing_left

ok "python3 is recorded" cpu_clock "$SCRATCH/whole" "${deep[@]}" "$SCRATCH/map" 0.2
judged "its stacks are whole" "$SCRATCH/whole" --comm python3 --stacks 100 --least 99
ok "the module goes" modprobe -r kunwind-tracing
ok "nothing is replaced" says "" replaced
ok "it comes while perf records" older
judged "the event that is older has whole stacks then" "$SCRATCH/older" --comm later --stacks 100 --least 99
ok "soon after nothing is left of it" soon idle
ok "the modules are as before" restore
done_testing
