#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR MIT
# Functions with a uretprobe return to the kernel's trampoline: the stacks are the same as without.
set -uo pipefail
# shellcheck source=tests/vm/lib/tap.sh
. "$TOP/tests/vm/lib/tap.sh"

tracing=/sys/kernel/tracing

# offset FILE SYMBOLS NAME: where a function is in a file, of which SYMBOLS has the symbols.
offset() {
	local address type off vaddr filesz
	address=$(nm "$2" | awk -v name="$3" '$3 == name { print "0x" $1 }')
	[[ $address ]] || return 1
	while read -r type off vaddr _ filesz _; do
		if [[ $type == LOAD ]] && ((address >= vaddr && address < vaddr + filesz)); then
			printf '%#x\n' $((address - vaddr + off))
			return
		fi
	done < <(readelf -lW "$1")
	return 1
}

# probe FILE SYMBOLS NAME...: uretprobes on such functions.
probe() {
	local file=$1 symbols=$2 name at
	shift 2
	for name; do
		at=$(offset "$file" "$symbols" "$name") || return 1
		echo "r:kunwind_test/$name $file:$at" >>"$tracing/uprobe_events" || return 1
	done
	echo 1 >"$tracing/events/kunwind_test/enable"
}

unprobe() {
	echo 0 >"$tracing/events/kunwind_test/enable"
	echo >"$tracing/uprobe_events"
}

compare() {
	babeltrace2 "$2" | "$TOP/tests/oracles/check-demo" "$1" "$1.debug" "$TOP/tests/subjects/demo.expected" "$SCRATCH/map"
}

# hit N: each of them was hit.
hit() {
	cat "$tracing/uprobe_profile"
	(($(awk '$3 > 0' "$tracing/uprobe_profile" | wc -l) == $1))
}

# The same for x86-64 and for i386.
for name in demo demo32; do
	demo=$BUILT/$name
	if [[ $name == demo32 && ! -x $demo ]]; then
		skip "$name" "the compiler has no libraries for i386"
		continue
	fi
	# They are on the stack of its system calls; fold() is there 21 times.
	ok "$name: uretprobes are set" probe "$demo" "$demo.debug" bake mix fold main
	ok "$name is traced" "$TOP/vm/record" "$SCRATCH/$name" -- "$demo" "$SCRATCH/map"
	ok "$name: they were hit" hit 4
	ok "$name: its functions are on its stacks, in order" compare "$demo" "$SCRATCH/$name"
	unprobe
done

# musl's qsort() has no unwind information. The walk follows its code, and so finds the trampoline.
musl=$BUILT/hard/musl-static
said=$SCRATCH/out/musl-static
if [[ -x $musl ]]; then
	mkdir -p "$said"
	ok "musl: uretprobes are set" probe "$musl" "$musl" qsort main
	timeout 60 "$musl" >"$said/said" 2>&1 </dev/null
	echo $? >"$said/status"
	ok "musl: they were hit" hit 2
	ok "musl: its stacks are the same as without" \
		"$TOP/tests/oracles/check-hard" "$TOP/tests/subjects/hard" "$BUILT/hard" "$SCRATCH/out"
	unprobe
else
	skip "musl" "it was not built: its compiler is missing"
fi
done_testing
