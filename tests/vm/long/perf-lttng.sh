#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR MIT
# LTTng, perf and bpftrace at the same time: each has whole stacks, whichever comes or goes first.
set -uo pipefail
# shellcheck source=tests/vm/lib/tap.sh
. "$TOP/tests/vm/lib/tap.sh"
# shellcheck source=tests/vm/lib/tracers
. "$TOP/tests/vm/lib/tracers"

# same STACKS: each tracer saw the same stacks, as often as the demo ran meanwhile; and they are deep.
same() {
	local each want
	# The demo's libc lies where it does in a process whose addresses are not randomised.
	want=$(grep -m 1 "^demo 7ffff7" "$SCRATCH/stacks.lttng")
	for each in lttng:$1 perf:$2 bpftrace:$3; do
		[[ $(grep -cxF "$want" "$SCRATCH/stacks.${each%:*}") == "${each#*:}" ]] || {
			head "$SCRATCH"/stacks.*
			return 1
		}
	done
	(($(wc -w <<<"$want") >= 26))
}

# orders COME GO: the demo runs when one, two, three of them are there, and when two and one are left.
orders() {
	local who
	declare -A runs=([lttng]=0 [perf]=0 [bpftrace]=0)
	local there=()
	for who in $1; do
		"come_$who" || return
		there+=("$who")
		demo || return
		for each in "${there[@]}"; do runs[$each]=$((runs[$each] + 1)); done
	done
	for who in $2; do
		"go_$who" || return
		there=("${there[@]/#$who}")
		demo || return
		for each in "${there[@]}"; do [[ -z $each ]] || runs[$each]=$((runs[$each] + 1)); done
	done
	same "${runs[lttng]}" "${runs[perf]}" "${runs[bpftrace]}"
}

ok "kunwind-tracing is loaded" modprobe kunwind-tracing
ok "first come, first gone" orders 'lttng perf bpftrace' 'lttng perf bpftrace'
ok "last come, first gone" orders 'perf bpftrace lttng' 'lttng bpftrace perf'
ok "in turns" orders 'bpftrace lttng perf' 'lttng bpftrace perf'
ok "the modules are as before" restore
done_testing
