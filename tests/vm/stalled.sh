#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR MIT
# A user whose compilation is stopped in the middle delays no other user who maps the same file.
set -uo pipefail
# shellcheck source=tests/vm/lib/tap.sh
. "$TOP/tests/vm/lib/tap.sh"
# shellcheck source=tests/vm/lib/figures
. "$TOP/tests/vm/lib/figures"
# shellcheck source=tests/vm/lib/mappers
. "$TOP/tests/vm/lib/mappers"

# A quarter of what the large file takes; nothing else takes as much.
PART=$((6 << 20))
mkdir "$SCRATCH/cgroup"
mount -t cgroup2 none "$SCRATCH/cgroup"
echo +cpu >"$SCRATCH/cgroup/cgroup.subtree_control"
mkdir "$SCRATCH/cgroup/slow"
[[ -e $SCRATCH/cgroup/slow/cpu.max ]] || skip_all "this kernel cannot slow a process down"
cp -- "$large" "$SCRATCH/large.so"

# begin_stalled: a user's process that is in the middle of compiling the file, and has a hundredth of a CPU from then on.
begin_stalled() {
	local round
	echo max >"$SCRATCH/cgroup/slow/cpu.max"
	(
		echo "$BASHPID" >"$SCRATCH/cgroup/slow/cgroup.procs"
		exec "${nobody[@]}" python3 -S "$map" "$SCRATCH/large.so" </dev/null >/dev/null
	) &
	stalled=$!
	for ((round = 0; round < 100000; round++)); do
		(($(<"$figures/build_bytes") < PART)) || break
	done
	echo 1000 100000 >"$SCRATCH/cgroup/slow/cpu.max"
	used=$(slow_used)
	(($(<"$figures/build_bytes") >= PART))
}

# slow_used: the CPU time that it has had, in microseconds.
slow_used() {
	sed -n 's/^usage_usec //p' "$SCRATCH/cgroup/slow/cpu.stat"
}

still_at_it() {
	(($(figure build_bytes) >= PART))
}

# timed USER...: $took is how many milliseconds it takes that user's process to map the file.
timed() {
	local begun
	begun=$(date +%s%N)
	begin_mapping other "$@" python3 -S "$map" "$SCRATCH/large.so" || return
	took=$((($(date +%s%N) - begun) / 1000000))
	end_mapping
}

ok "a user maps a large file" timed "${another[@]}"
alone=$took
ok "nothing is left" nothing_left
ok "another user is stopped in the middle of its compilation" begin_stalled
# end_mapping waits for all children: this one is not to be waited for.
disown "$stalled"
ok "the first one maps it again" timed "${another[@]}"
echo "# $alone ms alone, $took ms meanwhile"
ok "as fast as before" [ "$took" -lt $((2 * alone + 1000)) ]
# From Linux 6.18 on, a process that has used up cpu.max goes on until it returns to user space, and so ends its compilation. It shows in the
# time used: more than a tenth, not a hundredth.
if ! still_at_it && (($(slow_used) - used > took * 100)); then
	skip "and the other one is still at it" "this kernel stops no process in the middle of a system call"
else
	ok "and the other one is still at it" still_at_it
fi
kill -KILL "$stalled"
echo max >"$SCRATCH/cgroup/slow/cpu.max"
ok "nothing is left of either" nothing_left
umount "$SCRATCH/cgroup"
done_testing
