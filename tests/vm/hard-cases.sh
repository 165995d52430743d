#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR MIT
# The hard cases: the stacks of each program of tests/subjects/hard are what its own comment says.
set -uo pipefail

sources=$TOP/tests/subjects/hard

traced=$(lttng list --kernel --syscall)
lacking=$(</sys/kernel/kunwind/missing)

# left_out NAME SOURCE: why the stacks that the source names cannot be had here; nothing if they can.
left_out() {
	local call
	while read -r call; do
		grep -qw "$call" <<<"$traced" || echo "this LTTng knows no $call()"
	done < <(sed -nE 's/^ \* (entry|exit) (\w+):.*/\2/p' "$2" | sort -u)
	[[ ! $lacking || $1 != grown ]] || echo "this kernel has no $lacking()"
}

# run NAME: as the program that it was built as; one that deletes itself does so with a copy.
run() {
	local name=$1 folder=$SCRATCH/out/$1 source=${1%-static} without
	source=$sources/${source%-i386}.c
	mkdir -p "$folder" "$SCRATCH/copy"
	without=$(left_out "$name" "$source")
	[[ -e $BUILT/hard/$name ]] || without="it was not built: its compiler is missing"
	if [[ $without ]]; then
		echo "without: $without" >"$folder/status"
		return
	fi
	cp -- "$BUILT/hard/$name" "$SCRATCH/copy/$name"
	if grep -Eq '^ \* (entry|exit) ' "$source"; then
		"$TOP/vm/record" "$folder/trace" -- "$SCRATCH/copy/$name" >"$folder/said" 2>&1 </dev/null
		echo $? >"$folder/status"
		babeltrace2 "$folder/trace" >"$folder/text"
	else
		timeout 60 "$SCRATCH/copy/$name" >"$folder/said" 2>&1 </dev/null
		echo $? >"$folder/status"
	fi
}

# listed NAME: the programs of that list of the Makefile.
listed() {
	sed -n "s/^$1 := //p" "$sources/Makefile"
}

# Or all would be left out.
[[ $traced == *getpriority* ]] || {
	echo "not ok 1 - LTTng lists the system calls that it traces"
	echo 1..1
	exit 1
}
i386=$(listed i386) only=$(listed only_i386)
[[ $i386 && $only ]] || {
	echo "not ok 1 - the Makefile names programs for i386"
	echo 1..1
	exit 1
}
for each in "$sources"/*.c; do
	each=${each##*/}
	[[ " $only " == *" ${each%.c} "* ]] || run "${each%.c}"
done
run musl-static
for each in $i386 $only; do
	run "$each-i386"
done
"$TOP/tests/oracles/check-hard" "$sources" "$BUILT/hard" "$SCRATCH/out"
