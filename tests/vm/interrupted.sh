#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR MIT
# A process is killed as it compiles, waits for another one's walk, or attaches; or its file changes as it compiles.
set -uo pipefail
# shellcheck source=tests/vm/lib/tap.sh
. "$TOP/tests/vm/lib/tap.sh"
# shellcheck source=tests/vm/lib/figures
. "$TOP/tests/vm/lib/figures"
# shellcheck source=tests/vm/lib/hold
. "$TOP/tests/vm/lib/hold"
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

# A tracer compiles for a process that ends meanwhile: what that had mapped is free at once, not when the tracer has compiled.
modprobe kunwind-test
mkdir "$SCRATCH/held"
mount -t tmpfs none "$SCRATCH/held"
echo x >"$SCRATCH/held/file"
cat >"$SCRATCH/hold.py" <<'END'
import mmap, sys, time
files = [open(path) for path in sys.argv[1:]]
held = mmap.mmap(files[0].fileno(), 0, mmap.MAP_SHARED, mmap.PROT_READ)
code = mmap.mmap(files[1].fileno(), 0, mmap.MAP_PRIVATE, mmap.PROT_READ | mmap.PROT_EXEC)
print("mapped", flush=True)
time.sleep(1000)
END
# begin_attaching: a tracer that is in the middle of the large file.
begin_attaching() {
	local round
	python3 -S "$SCRATCH/hold.py" "$SCRATCH/held/file" "$SCRATCH/large.so" >"$SCRATCH/said" &
	holder=$!
	for ((round = 0; round < 300; round++)); do
		! grep -q mapped "$SCRATCH/said" || break
		sleep 0.1
	done
	echo max >"$SCRATCH/cgroup/slow/cpu.max"
	(
		echo "$BASHPID" >"$SCRATCH/cgroup/slow/cgroup.procs"
		echo 1 >/sys/module/kunwind_test/parameters/attach
	) &
	tracer=$!
	for ((round = 0; round < 100000; round++)); do
		(($(<"$figures/build_bytes") < PART)) || break
	done
	echo 1000 >"$SCRATCH/cgroup/slow/cpu.max"
	(($(<"$figures/build_bytes") >= PART))
}
# From Linux 6.18 on, the tracer is not slowed down before it has compiled: there is a second or so.
is_free() {
	local round
	kill -KILL "$holder"
	wait "$holder" 2>/dev/null
	for ((round = 0; round < 20; round++)); do
		! umount "$SCRATCH/held" || break
		sleep 0.05
	done
	! mountpoint -q "$SCRATCH/held" && kill -0 "$tracer"
}
attached() {
	echo max >"$SCRATCH/cgroup/slow/cpu.max"
	wait "$tracer" && echo 0 >/sys/module/kunwind_test/parameters/attach
}
ok "a tracer compiles the file" begin_attaching
ok "its process ends, and leaves nothing mapped" is_free
ok "the tracer goes on" attached
ok "and nothing is left" nothing_left

# One worker walks for all requests for other processes' stacks. It does so on the first CPU, and what waits for it is on the second.
workers=/sys/devices/virtual/workqueue/kunwind-threads/cpumask
mkfifo "$SCRATCH/questions"
# begin_asking: a process that has asked for another one's stack, and can ask again.
begin_asking() {
	local round
	sleep 1000 &
	sleeper=$!
	in_sleep "$sleeper" || return
	taskset --cpu-list 1 python3 -S "$TOP/tests/subjects/ask.py" others <"$SCRATCH/questions" >"$SCRATCH/answers" &
	asking=$!
	exec {questions}>"$SCRATCH/questions"
	echo "$sleeper" >&"$questions"
	for ((round = 0; round < 300; round++)); do
		[[ ! -s $SCRATCH/answers ]] || break
		sleep 0.1
	done
	says "stop 1, frames" cat "$SCRATCH/answers"
}
# wait_for_other: it waits in its request, as another one's walk goes on.
wait_for_other() {
	local round command
	echo 1 >"$workers" && hold_at kw_walk_other "$sleeper" || return
	python3 -S "$TOP/tests/subjects/ask.py" others <<<"$sleeper" >"$SCRATCH/other" &
	other=$!
	held && echo "$sleeper" >&"$questions" || return
	for ((round = 0; round < 30; round++)); do
		read -r _ _ command _ <"/proc/$asking/syscall"
		# KUNWIND_IOC_THREAD
		[[ $command != 0xc028be02 ]] || break
		sleep 0.1
	done
	[[ $command == 0xc028be02 ]]
}
# is_gone: and the walk goes on.
is_gone() {
	kill -KILL "$asking"
	wait "$asking"
	echo "$(<"$hold") walks go on"
	(($(<"$hold") == 1))
}
other_comes() {
	go_on
	echo 3 >"$workers"
	wait "$other" && says "stop 1, frames" cat "$SCRATCH/other"
}
ok "a process asks for another one's stack" begin_asking
ok "it asks again, and waits for the walk of another request" wait_for_other
ok "it is killed, and is gone at once" is_gone
ok "the other request gets its stack" other_comes
exec {questions}>&-

# hides_itself: a process of the user who asks for its stack, and for that again after it has forbidden that.
hides_itself() {
	local user=(setpriv --reuid 65534 --regid 65534 --clear-groups) questions before
	mkfifo "$SCRATCH/hide" "$SCRATCH/hidden-questions"
	"${user[@]}" python3 -S -c 'import ctypes, sys
print("ready", flush=True)
sys.stdin.readline()
# PR_SET_DUMPABLE
ctypes.CDLL(None).prctl(4, 0, 0, 0, 0)
print("hidden", flush=True)
sys.stdin.readline()' <"$SCRATCH/hide" >"$SCRATCH/hider" &
	hider=$!
	exec {hide}>"$SCRATCH/hide"
	before=$(figure consumers)
	"${user[@]}" python3 -S "$TOP/tests/subjects/ask.py" others <"$SCRATCH/hidden-questions" >"$SCRATCH/hidden-answers" &
	exec {questions}>"$SCRATCH/hidden-questions"
	# In read(), or its mmap_lock might be taken.
	said_by hider ready && in_sleep "$hider" 0 && echo "$hider" >&"$questions" && said_by hidden-answers 'stop 1, frames' || return
	covered=$(($(figure consumers) - before))
	echo >&"$hide"
	said_by hider hidden && echo "$hider" >&"$questions" && said_by hidden-answers EACCES || return
	left=$(($(figure consumers) - before))
	exec {questions}>&- {hide}>&-
	wait "$hider" $!
	echo "consumers more: $covered, and then $left"
	((covered == 2 && left == 1))
}
ok "a process that forbids to see its stack is covered no longer" hides_itself

# tracer_killed: before it looks again at a process whose mmap_lock was taken. It does not attach then.
tracer_killed() {
	local tracer
	hold_at kw_attach "$sleeper" || return
	taskset --cpu-list 0 bash -c 'echo 1 >"$0"' "$attach" &
	tracer=$!
	if held; then
		kill -KILL "$tracer"
	fi
	wait "$tracer"
	(($? == 137))
}
attach=/sys/module/kunwind_test/parameters/attach
ok "a tracer is killed as it attaches" tracer_killed
go_on >>"$SCRATCH/said"
ok "it has not attached" [ "$(<"$attach")" = 0 ]
echo 0 >"$attach"
kill "$sleeper"
wait "$sleeper" 2>/dev/null
ok "nothing is left" nothing_left
modprobe -r kunwind-test
rmdir "$SCRATCH/cgroup/slow"
umount "$SCRATCH/cgroup"
done_testing
