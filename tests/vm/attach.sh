#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR MIT
# Processes that began long before anybody took stacks: asleep in a system call, or busy in user space.
set -uo pipefail
# shellcheck source=tests/vm/lib/live
. "$TOP/tests/vm/lib/live"
# shellcheck source=tests/vm/lib/figures
. "$TOP/tests/vm/lib/figures"
# shellcheck source=tests/vm/lib/hold
. "$TOP/tests/vm/lib/hold"

cd "$SCRATCH" || exit
unshare --uts python3 "$TOP/tests/subjects/asleep.py" >asleep.said 2>&1 &
for ((round = 0; round < 300; round++)); do
	grep -q asleep asleep.said && break
	sleep 0.3
done
ok "they sleep" settled
mapfile -t pids < <(others)
for each in "${pids[@]}"; do
	eu-stack -p "$each" >>sleepers 2>>said
done
# It would make the others' start slow, and never settles.
unshare --uts "$BUILT/busy" &
busy=$!
spins() {
	local round
	for ((round = 0; round < 100; round++)); do
		[[ $(<"/proc/$busy/comm") != busy ]] || return 0
		sleep 0.1
	done
	return 1
}
ok "another one spins" spins
sleep 1
eu-stack -p "$busy" >eu-stack-busy 2>>said

session() {
	lttng create late --output="$SCRATCH/trace" &&
		lttng enable-channel --kernel --session=late --subbuf-size=1M --num-subbuf=8 late &&
		lttng enable-event --kernel --session=late --channel=late --syscall --all &&
		lttng enable-event --kernel --session=late --channel=late sched_switch &&
		lttng add-context --kernel --session=late --channel=late --type=procname --type=pid --type=tid --type=callstack-user &&
		lttng start late
}
ok "a session begins" session
sleep 3
# Each leaves its system call, and goes no further.
kill -STOP "${pids[@]}"
sleep 1
ok "it ends" lttng destroy late
kill -KILL "${pids[@]}" "$busy"
babeltrace2 trace >text
compare() {
	"$TOP/tests/oracles/check-eu-stack" --exit asleep sleepers <text
}
ok "the sleepers' stacks are eu-stack's" compare
sed 's/^/# /' tap.said | head -n 20
switches() {
	grep " sched_switch: .* tid = $busy, " text
}

ok "the busy one was seen" [ "$(switches | wc -l)" -ge 3 ]
# What eu-stack said of it, and all different stacks that were recorded of it: addresses on a line.
expected() {
	sed -nE 's/^#[0-9]+ +0x0*([0-9a-f]+).*/\1/p' eu-stack-busy | paste -sd' '
}
recorded() {
	switches | sed -E 's/.*callstack_user_unwind = \[(( \[[0-9]+\] = 0x[0-9A-F]+,?)*) \].*/\L\1/; s/ \[[0-9]+\] = 0x/ /g; s/,//g; s/^ //' | sort -u
}
echo "# $(switches | wc -l) switches away from it, $(recorded | wc -l) different stacks: $(recorded | head -c 200 | head -n 1)"
ok "it was below five calls of its own, and libc's" [ "$(expected | wc -w)" -ge 8 ]
ok "each of its stacks is eu-stack's" [ "$(recorded)" = "$(expected)" ]

# One consumer more, over and over, while programs begin: what is half mapped is the business of who maps it.
programs_begin() {
	lttng create often --snapshot --output="$SCRATCH/often" &&
		lttng enable-event --kernel --session=often --syscall --all &&
		lttng add-context --kernel --session=often --type=callstack-user &&
		lttng start often || return
	for ((round = 0; round < 300; round++)); do
		/bin/true
	done
}
attach_over_and_over() {
	for ((attaches = 0; ; attaches++)); do
		echo 1 >/sys/module/kunwind_test/parameters/attach
		echo 0 >/sys/module/kunwind_test/parameters/attach
		[[ ! -e $SCRATCH/begun ]] || break
	done
	echo "# $attaches times"
}
modprobe kunwind-test
before=$(</sys/kernel/kunwind/stops/INCOMPLETE_MAP)
attach_over_and_over &
ok "programs start while a tracer attaches" programs_begin
touch "$SCRATCH/begun"
wait $!
after=$(</sys/kernel/kunwind/stops/INCOMPLETE_MAP)
ok "and no stack ends with INCOMPLETE_MAP" [ $((after - before)) = 0 ]
lttng destroy often >"$SCRATCH/said" 2>&1

# A tracer of all processes goes. It finds that no consumer wants a user's sleeping process any more, and then drops it. A tracer of that user
# comes in between. It spins on the second CPU until the first one goes on, after five seconds: this shell cannot make it go on.
ok "nothing is left" nothing_left
setpriv --reuid 65533 --regid 65533 --clear-groups sleep 1000 &
sleeper=$!
ok "a user's process sleeps" in_sleep "$sleeper"
parameters=/sys/module/kunwind_test/parameters
tracers_pass() {
	local status=1
	echo 1 >"$parameters/attach" && hold_at kw_is_wanted 65533 || return
	taskset --cpu-list 0 bash -c 'echo 0 >"$0"' "$parameters/attach" &
	if held; then
		echo 65533 >"$parameters/attach_user"
		status=$?
	fi
	go_on
	wait $! && return "$status"
}
ok "a tracer goes, and one of a user comes" tracers_pass
ok "the user's only process is covered" [ "$(figure spaces)" = 1 ]
echo -1 >"$parameters/attach_user"
ok "nothing is left" nothing_left
kill "$sleeper"
wait "$sleeper" 2>/dev/null
modprobe -r kunwind-test
done_testing
