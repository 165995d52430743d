#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR MIT
# kunwind-tracing is loaded and removed 10,000 times while perf, bpftrace and LTTng record: each stack is kunwind's or the kernel's own,
# and none is lost.
set -uo pipefail
# shellcheck source=tests/vm/lib/tap.sh
. "$TOP/tests/vm/lib/tap.sh"
# shellcheck source=tests/vm/lib/tracers
. "$TOP/tests/vm/lib/tracers"

loads=10000
module=/sys/module/kunwind_tracing
# The stacks of the demo's call, with kunwind-tracing and without; and how often the demo ran.
whole='' stock='' ran=0

# record NAME: perf's stack of the demo's call, in that variable.
record() {
	come_perf && demo && go_perf && printf -v "$1" %s "$(grep -m 1 '^demo ' "$SCRATCH/stacks.perf")" && [[ ${!1} ]]
}

# Each stack of the demo is what its source says; addresses are the same in the next run.
is_right() {
	calls "$SCRATCH/demo" setarch -R "$BUILT/demo" "$SCRATCH/map" &&
		compare_demo "$BUILT/demo" "$SCRATCH/demo" "$SCRATCH/map" "$header"
}

# The demo, while COMMAND does its work.
during_demo() {
	local status=0
	demo &
	"$@" || status=1
	wait $! && ran=$((ran + 1)) || status=1
	return "$status"
}

# What kunwind-lttng has replaced stays.
perf_is_replaced() {
	[[ " $(replaced) " == *" perf_callchain_user "* ]]
}

load() {
	modprobe kunwind-tracing && [[ -d $module ]]
}

remove() {
	rmmod kunwind_tracing && [[ ! -d $module ]]
}

# load_among_demos: also what is replaced. To read that takes longer than to load.
load_among_demos() {
	during_demo load && perf_is_replaced && demo && during_demo remove && ! perf_is_replaced && demo && ran=$((ran + 2))
}

# load_all: the tracers record meanwhile; samples come at any instruction. Where the guest's clock counts instructions, waiting for the
# kernel's grace periods takes no time as long as nothing else runs.
load_all() {
	local round status=0
	come_lttng && come_bpftrace && come_perf -e cpu-clock/freq=19/ || return
	for ((round = 1; round <= loads && status == 0; round++)); do
		if ((round % 20)); then
			load && remove || status=1
		else
			load_among_demos || status=1
		fi
		((round % 100)) || echo "# $round loads" >&"$progress"
	done
	go_perf && go_bpftrace && go_lttng || status=1
	echo "$((round - 1)) loads, the demo ran $ran times"
	return "$status"
}

# only TRACER STACK...: it recorded each run of the demo, and each time one of these stacks; how often, in `times`.
only() {
	local each tracer=$1
	grep '^demo ' "$SCRATCH/stacks.$tracer" >"$SCRATCH/stacks"
	shift
	times=()
	for each; do
		times+=("$(grep -cxF -- "$each" "$SCRATCH/stacks")")
	done
	! grep -vxF "$(printf '%s\n' "$@")" "$SCRATCH/stacks" | sort | uniq -c | grep . &&
		[[ $(wc -l <"$SCRATCH/stacks") == "$ran" ]]
}

# each_of_two TRACER: of both.
each_of_two() {
	only "$1" "$whole" "$stock" && ((times[0] >= loads / 20 && times[1] >= loads / 20))
}

exec {progress}>&1
ok "kunwind and kunwind-lttng are loaded, kunwind-tracing is not" modprobe -r kunwind-tracing
ok "stock: perf records the demo" record stock
ok "kunwind-tracing is loaded" modprobe kunwind-tracing
ok "with it, the demo's stacks are what its source says" is_right
ok "perf records the demo again" record whole
ok "they are deep, and the kernel's own are not" [ "$(wc -w <<<"$whole")" -ge 26 -a "$(wc -w <<<"$stock")" -lt 20 ]
ok "kunwind-tracing goes" rmmod kunwind_tracing
ok "kunwind-tracing is loaded and removed $loads times" load_all
ok "LTTng has whole stacks, of all runs" only lttng "$whole"
for tracer in perf bpftrace; do
	ok "$tracer has whole stacks and the kernel's own, of all runs, and no other" each_of_two "$tracer"
	echo "# $tracer: ${times[0]} whole, ${times[1]} the kernel's own"
done
ok "the modules are as before" restore
done_testing
