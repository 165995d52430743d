#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR MIT
# Functions with a uretprobe return to the kernel's trampoline: the stacks are the same as without.
set -uo pipefail
# shellcheck source=tests/vm/lib/tap.sh
. "$TOP/tests/vm/lib/tap.sh"

tracing=/sys/kernel/tracing

# Functions on the stack of the demo's system calls; fold() is there 21 times.
probe() {
	local name offset
	for name in bake mix fold main; do
		offset=$(nm "$1.debug" | awk -v name="$name" '$3 == name { print $1 }')
		[[ $offset ]] || return 1
		echo "r:kunwind_test/$name $1:0x$offset" >>"$tracing/uprobe_events" || return 1
	done
	echo 1 >"$tracing/events/kunwind_test/enable"
}

compare() {
	babeltrace2 "$2" | "$TOP/tests/oracles/check-demo" "$1" "$1.debug" "$TOP/tests/subjects/demo.expected" "$SCRATCH/map"
}

# Each of them was hit.
hit() {
	cat "$tracing/uprobe_profile"
	(($(awk '$3 > 0' "$tracing/uprobe_profile" | wc -l) == 4))
}

# The same for x86-64 and for i386.
for name in demo demo32; do
	demo=$BUILT/$name
	if [[ $name == demo32 && ! -x $demo ]]; then
		skip "$name" "the compiler has no libraries for i386"
		continue
	fi
	ok "$name: uretprobes are set" probe "$demo"
	ok "$name is traced" "$TOP/vm/record" "$SCRATCH/$name" -- "$demo" "$SCRATCH/map"
	ok "$name: they were hit" hit
	ok "$name: its functions are on its stacks, in order" compare "$demo" "$SCRATCH/$name"
	echo 0 >"$tracing/events/kunwind_test/enable"
	echo >"$tracing/uprobe_events"
done
done_testing
