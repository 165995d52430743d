#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR MIT
# Functions with a uretprobe return to the kernel's trampoline: the stacks are the same as without.
set -uo pipefail
# shellcheck source=tests/vm/lib/tap.sh
. "$TOP/tests/vm/lib/tap.sh"

demo=$BUILT/demo
tracing=/sys/kernel/tracing

# Functions on the stack of the demo's system calls; fold() is there 21 times.
probe() {
	local name offset
	for name in bake mix fold main; do
		offset=$(nm "$demo.debug" | awk -v name="$name" '$3 == name { print $1 }')
		[[ $offset ]] || return 1
		echo "r:kunwind_test/$name $demo:0x$offset" >>"$tracing/uprobe_events" || return 1
	done
	echo 1 >"$tracing/events/kunwind_test/enable"
}

compare() {
	babeltrace2 "$SCRATCH/trace" | "$TOP/tests/vm/lib/check-demo" "$demo" "$demo.debug" "$TOP/tests/subjects/demo.expected" "$SCRATCH/map"
}

# Each of them was hit.
hit() {
	cat "$tracing/uprobe_profile"
	(($(awk '$3 > 0' "$tracing/uprobe_profile" | wc -l) == 4))
}

ok "uretprobes are set" probe
ok "the demo is traced" "$TOP/tests/vm/lib/record" "$SCRATCH/trace" -- "$demo" "$SCRATCH/map"
ok "they were hit" hit
ok "its functions are on its stacks, in order" compare
echo 0 >"$tracing/events/kunwind_test/enable"
echo >"$tracing/uprobe_events"
done_testing
