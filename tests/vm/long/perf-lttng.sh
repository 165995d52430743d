#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR MIT
# LTTng, perf and bpftrace at the same time: each has whole stacks, whichever comes or goes first.
set -uo pipefail
# shellcheck source=tests/vm/lib/tap.sh
. "$TOP/tests/vm/lib/tap.sh"
# shellcheck source=tests/vm/lib/perf
. "$TOP/tests/vm/lib/perf"

# The demo makes this call once, 10 frames deep; all programs lie where they did before.
call=getegid

come_lttng() {
	lttng create orders --output="$SCRATCH/trace" >"$SCRATCH/said" &&
		lttng enable-event --kernel --session=orders --syscall "$call" >>"$SCRATCH/said" &&
		lttng add-context --kernel --session=orders --type=callstack-user --type=procname --type=pid --type=tid >>"$SCRATCH/said" &&
		lttng start orders >>"$SCRATCH/said"
}

go_lttng() {
	lttng destroy orders >"$SCRATCH/said"
	babeltrace2 "$SCRATCH/trace" | PYTHONPATH=$TOP/tests/oracles python3 -c '
import sys, stacks
for each in stacks.read(sys.stdin):
    if each.is_entry():
        print(*map("%x".__mod__, each.frames))' >"$SCRATCH/stacks.lttng"
	rm -r "$SCRATCH/trace"
}

come_perf() {
	begin_perf -e "syscalls:sys_enter_$call" -g -o "$SCRATCH/data"
}

go_perf() {
	stop && perf script -i "$SCRATCH/data" -F ip | awk '
		!NF { if (stack) print stack; stack = ""; next }
		$1 !~ /^ffffffff/ { stack = stack (stack ? " " : "") $1 }
		END { if (stack) print stack }' >"$SCRATCH/stacks.perf"
}

come_bpftrace() {
	bpftrace -B line -e "tracepoint:syscalls:sys_enter_$call { printf(\"%s\\n\", ustack(raw)); }" >"$SCRATCH/bpftrace" 2>&1 </dev/null &
	bpftrace=$!
	soon sees_a_shell
}

# It says that it attaches before it has. A shell makes the call when it begins.
sees_a_shell() {
	bash -c :
	grep -qE '^ *[0-9a-f]+$' "$SCRATCH/bpftrace"
}

go_bpftrace() {
	kill -INT "$bpftrace"
	wait "$bpftrace"
	sed 's/ *$//' "$SCRATCH/bpftrace" | awk '
		/^ *[0-9a-f]+$/ { stack = stack (stack ? " " : "") $1; next }
		{ if (stack) print stack; stack = "" }
		END { if (stack) print stack }' >"$SCRATCH/stacks.bpftrace"
}

demo() {
	setarch -R "$BUILT/demo" "$SCRATCH/map"
}

# same STACKS: each tracer saw the same stacks, as often as the demo ran meanwhile; and they are deep.
same() {
	local each want
	# Shells make the call, too. The demo's libc lies where it does in a process whose addresses are not randomised.
	want=$(grep -m 1 ^7ffff7 "$SCRATCH/stacks.lttng")
	for each in lttng:$1 perf:$2 bpftrace:$3; do
		[[ $(grep -cxF "$want" "$SCRATCH/stacks.${each%:*}") == "${each#*:}" ]] || {
			head "$SCRATCH"/stacks.*
			return 1
		}
	done
	(($(wc -w <<<"$want") >= 25))
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
