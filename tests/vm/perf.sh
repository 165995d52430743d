#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR MIT
# perf's user stacks are whole while kunwind-tracing is loaded: of programs that run already, too, and only while perf wants stacks.
set -uo pipefail
# shellcheck source=tests/vm/lib/tap.sh
. "$TOP/tests/vm/lib/tap.sh"
# shellcheck source=tests/vm/lib/perf
. "$TOP/tests/vm/lib/perf"

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
first_are_whole
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
