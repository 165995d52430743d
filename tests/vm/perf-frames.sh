#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR MIT
# The frames of perf's stacks: the demo's, which its source says, and those of code without tables, which stock has as well.
set -uo pipefail
# shellcheck source=tests/vm/lib/tap.sh
. "$TOP/tests/vm/lib/tap.sh"
# shellcheck source=tests/vm/lib/perf
. "$TOP/tests/vm/lib/perf"

# no_caller FILE: a stack of getppid() has what rbp leads to (no_frame in made.c).
no_caller() {
	awk -v RS= '/ NR 110 / && / 7654321\n?/ { found = 1; print } END { exit !found }' "$1"
}

ok "kunwind is loaded, kunwind-tracing is not" fresh
ok "stock: the demo is recorded" calls "$SCRATCH/demo" "$BUILT/demo" "$SCRATCH/map"
ok "stock: its functions are not on its stacks" fails compare_demo "$BUILT/demo" "$SCRATCH/demo" "$SCRATCH/map" "$header"
ok "stock: a program with code of its own making is recorded" calls "$SCRATCH/made" setarch -R "$BUILT/made"
perf script --no-inline -i "$SCRATCH/made" -F comm,pid,tid,event,trace,ip >"$SCRATCH/made.stock" 2>"$SCRATCH/said"
ok "stock: a caller that is none" no_caller "$SCRATCH/made.stock"

ok "kunwind-tracing is loaded" modprobe kunwind-tracing
for name in demo demo32; do
	if [[ $name == demo32 && ! -x $BUILT/$name ]]; then
		skip "$name" "the compiler has no libraries for i386"
		continue
	fi
	[[ $name == demo ]] || header=$header32
	ok "$name is recorded" calls "$SCRATCH/demo" "$BUILT/$name" "$SCRATCH/map"
	if [[ $(perf script -h 2>&1) != *dsoff* ]]; then
		skip "$name: its functions are on its stacks, in order" "perf before 6.3 prints offsets in files, not addresses"
		continue
	fi
	ok "$name: its functions are on its stacks, in order" compare_demo "$BUILT/$name" "$SCRATCH/demo" "$SCRATCH/map" "$header"
done

# Frame pointers lead through code without tables: nothing of that may be lost.
never_fewer() {
	perf script --no-inline -i "$SCRATCH/made" -F comm,pid,tid,event,trace,ip >"$SCRATCH/made.now"
	"$TOP/tests/oracles/check-never-fewer" made /usr/include/x86_64-linux-gnu/asm/unistd_64.h "$SCRATCH/made.stock" "$SCRATCH/made.now"
}
ok "code of a program's own making is recorded" calls "$SCRATCH/made" setarch -R "$BUILT/made"
ok "no stack has fewer frames than stock" never_fewer
ok "one with as many has the caller that is one" fails no_caller "$SCRATCH/made.now"

ok "the modules are as before" restore
done_testing
