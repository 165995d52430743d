#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR MIT
# What comes in the middle of a compilation: its process is killed, or its file changes.
set -uo pipefail
# shellcheck source=tests/vm/lib/tap.sh
. "$TOP/tests/vm/lib/tap.sh"
# shellcheck source=tests/vm/lib/figures
. "$TOP/tests/vm/lib/figures"
# shellcheck source=tests/vm/lib/mappers
. "$TOP/tests/vm/lib/mappers"

# A quarter of what the large file takes; nothing else takes as much.
PART=$((6 << 20))
cp -- "$large" "$SCRATCH/large.so"
mkdir "$SCRATCH/cgroup"
mount -t cgroup2 none "$SCRATCH/cgroup"
echo +cpu >"$SCRATCH/cgroup/cgroup.subtree_control"
mkdir "$SCRATCH/cgroup/slow"
[[ -e $SCRATCH/cgroup/slow/cpu.max ]] || skip_all "this kernel cannot slow a process down"

# begin_compiling [INPUT]: a process that is in the middle of it, since $begun, and has a twentieth of a CPU from then on. It keeps the file
# mapped until its input ends.
begin_compiling() {
	local round
	echo max >"$SCRATCH/cgroup/slow/cpu.max"
	(
		echo "$BASHPID" >"$SCRATCH/cgroup/slow/cgroup.procs"
		exec python3 -S "$map" "$SCRATCH/large.so" <"${1-/dev/null}" >"$SCRATCH/said"
	) &
	for ((round = 0; round < 100000; round++)); do
		(($(<"$figures/build_bytes") < PART)) || break
	done
	echo 5000 >"$SCRATCH/cgroup/slow/cpu.max"
	begun=$(date +%s%N)
	(($(<"$figures/build_bytes") >= PART))
}

# end_compiling STATUS: the process's, which is 0 when it has mapped the file; after how many milliseconds, is in $took.
end_compiling() {
	local status=0
	wait $! 2>/dev/null || status=$?
	took=$((($(date +%s%N) - begun) / 1000000))
	((status == $1))
}

kill_it() {
	kill -KILL $! && end_compiling 137
}

ok "a process compiles a large file" begin_compiling
ok "it comes to its end" end_compiling 0
full=$took
ok "its table goes" nothing_left
ok "another one compiles the file" begin_compiling
ok "it is killed" kill_it
echo "# the first one went on for $full ms, the second one was gone after $took ms"
ok "it was gone soon" [ $((took * 4)) -lt "$full" ]
ok "nothing is left of it" nothing_left

changes=$(figure file_changes)
failures=$(figure table_failures)
# changed: what is compiled then is of no use, and the file is compiled again.
changed() {
	local round
	printf x >>"$SCRATCH/large.so"
	echo max >"$SCRATCH/cgroup/slow/cpu.max"
	for ((round = 0; round < 1200; round++)); do
		! grep -q mapped "$SCRATCH/said" || return 0
		sleep 0.1
	done
	return 1
}
mkfifo "$SCRATCH/input"
sleep 1000 >"$SCRATCH/input" &
input=$!
ok "the next one compiles it" begin_compiling "$SCRATCH/input"
ok "the file is changed meanwhile" changed
echo "# files changed $(($(figure file_changes) - changes)) times, $(($(figure table_failures) - failures)) tables failed"
ok "the table of what it was is not taken" [ "$(figure file_changes)" = $((changes + 1)) ]
ok "but one of what it is" [ "$(figure table_bytes)" -gt $((1 << 20)) ]
kill "$input"
ok "it comes to its end, too" end_compiling 0
ok "nothing is left" nothing_left
umount "$SCRATCH/cgroup"
done_testing
