#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR MIT
# kunwind-tracing comes and goes under perf and bpftrace, and says why where it cannot come.
set -uo pipefail
# shellcheck source=tests/vm/lib/tap.sh
. "$TOP/tests/vm/lib/tap.sh"
# shellcheck source=tests/vm/lib/perf
. "$TOP/tests/vm/lib/perf"

replace=/sys/module/kunwind_test/parameters/replace
cp -- "$(readlink -f /usr/bin/python3)" "$SCRATCH/before"
cp -- "$SCRATCH/before" "$SCRATCH/behind"

# busy NAME SECONDS: a program of that name.
busy() {
	"$SCRATCH/$1" -S "$TOP/tests/subjects/deep.py" "$SCRATCH/$1.map" "$2" </dev/null
}

# held FUNCTION: another module replaces it.
held() {
	local status
	echo "$1" >"$replace" || return
	echo "kunwind-test: $1 is held" >/dev/kmsg
	! modprobe kunwind-tracing || return
	[[ ! -d /sys/module/kunwind_tracing && $(replaced) == "$1" ]]
	status=$?
	((status == 0)) || echo "replaced: $(replaced)"
	dmesg | sed "1,/kunwind-test: $1 is held/d"
	echo >"$replace"
	((status == 0)) && [[ ! $(replaced) ]] &&
		dmesg | sed "1,/kunwind-test: $1 is held/d" |
		grep -qF "kunwind_tracing: $1() cannot be replaced: a livepatch or another module replaces it already"
}

# held_later: another module replaces a function after kunwind-tracing was loaded. perf opens an event for each CPU, and only the first is
# attempted: each attempt would cover all processes before it fails.
held_later() {
	local status attempts
	modprobe kunwind-tracing || return
	echo perf_callchain_user >"$replace" && echo "kunwind-test: held later" >/dev/kmsg || return
	perf record -q -e cpu-clock -F 97 -a -g -o "$SCRATCH/later" true
	status=$?
	echo >"$replace"
	rmmod kunwind_tracing || return
	attempts=$(dmesg | sed '1,/kunwind-test: held later/d' | grep -c 'kunwind_tracing: perf_callchain_user() cannot be replaced')
	echo "perf: $status, $attempts attempts for $(nproc) CPUs"
	((status == 0 && attempts == 1 && $(nproc) > 1))
}

# goes: rmmod while perf records all processes.
goes() {
	begin_perf -e cpu-clock -F 997 -g -o "$SCRATCH/goes" && consumes 1 && busy before 0.2 && rmmod kunwind_tracing && [[ ! $(replaced) ]] && consumes 0 && busy behind 0.2
	local status=$?
	stop && return "$status"
}

# again_and_again SECONDS: under perf and bpftrace, which want stacks all the time.
again_and_again() {
	local end rounds=0 status=0
	begin_perf -e cpu-clock -F 997 -g -o "$SCRATCH/often" || return
	bpftrace -e 'profile:hz:99 { @[ustack(raw)] = count(); } tracepoint:sched:sched_switch { @few[ustack(raw, 20)] = count(); }' \
		>"$SCRATCH/bpftrace" 2>&1 </dev/null &
	local bpftrace=$!
	soon grep -q Attaching "$SCRATCH/bpftrace" || status=1
	end=$((SECONDS + $1))
	# Processes that come and go meanwhile.
	while [[ ! -e $SCRATCH/end ]]; do ls / >/dev/null; done &
	while ((SECONDS < end && status == 0)); do
		modprobe kunwind-tracing && rmmod kunwind_tracing && [[ ! $(replaced) ]] || status=1
		rounds=$((rounds + 1))
	done
	touch "$SCRATCH/end"
	kill -INT "$bpftrace"
	wait "$bpftrace" && stop || status=1
	wait
	echo "$rounds rounds, status $status; bpftrace printed $(grep -c '^@' "$SCRATCH/bpftrace") stacks"
	echo "$rounds" >"$SCRATCH/rounds"
	((status == 0 && rounds >= 3)) && grep -q '^@' "$SCRATCH/bpftrace"
}

ok "kunwind is loaded, kunwind-tracing is not" fresh
ok "so is kunwind-test" modprobe kunwind-test
for function in perf_callchain_user get_callchain_buffers put_callchain_buffers; do
	ok "where another module replaces $function(), kunwind-tracing says so, and nothing is left of it" held "$function"
done
ok "where that happens later, perf has the kernel's own stacks, and does not wait for each CPU" held_later
ok "kunwind-test goes" modprobe -r kunwind-test
ok "without it, kunwind-tracing is loaded" modprobe kunwind-tracing
ok "it goes while perf records" goes
judged "before, stacks are whole" "$SCRATCH/goes" --comm before --stacks 100 --least 99
judged "then they are the kernel's own" "$SCRATCH/goes" --comm behind --stacks 100 --most 30
ok "it comes and goes under perf and bpftrace" again_and_again 30
echo "# $(<"$SCRATCH/rounds") times"
ok "nothing is left" nothing_left
ok "the modules are as before" restore
done_testing
