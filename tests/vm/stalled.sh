#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR MIT
# What stops in the middle delays no other user: a compilation of a file, an open() of the device, the end of a process's memory.
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
stops=yes
if ! still_at_it && (($(slow_used) - used > took * 100)); then
	stops=no
	skip "and the other one is still at it" "this kernel stops no process in the middle of a system call"
else
	ok "and the other one is still at it" still_at_it
fi
kill -KILL "$stalled"
echo max >"$SCRATCH/cgroup/slow/cpu.max"
ok "nothing is left of either" nothing_left

# The first open() of the device registers the hooks, in the time of the opener, which has a thousandth of a CPU.
mkfifo "$SCRATCH/start"
begin_opening() {
	local round start
	"${another[@]}" bash -c 'read -r && : </dev/kunwind' <"$SCRATCH/start" &
	opening=$!
	exec {start}>"$SCRATCH/start"
	# In read().
	in_sleep "$opening" 0 || return
	echo 1000 1000000 >"$SCRATCH/cgroup/slow/cpu.max"
	echo "$opening" >"$SCRATCH/cgroup/slow/cgroup.procs"
	echo >&"$start"
	exec {start}>&-
	for ((round = 0; round < 100; round++)); do
		! is_opening || return 0
		sleep 0.1
	done
	return 1
}

is_opening() {
	grep kw_consumer_open "/proc/$opening/stack"
}

# opens_soon DEVICE: a process does. No signal ends its wait if not.
opens_soon() {
	local round
	sh -c ': <>"$1"' sh "$1" &
	for ((round = 0; round < 50; round++)); do
		kill -0 $! 2>/dev/null || { wait $!; return; }
		sleep 0.1
	done
	return 1
}

is_opened() {
	echo max >"$SCRATCH/cgroup/slow/cpu.max"
	wait "$opening"
}

modprobe --quiet fuse
if [[ $stops == no || ! -e /dev/fuse ]]; then
	skip "open() of the device stops no open() of another one" "this kernel has no FUSE, or stops no process in the middle of a system call"
else
	ok "kunwind is loaded anew, and has no hooks" reload
	ok "a user opens the device, and is stopped in the middle" begin_opening
	ok "root opens another device meanwhile" opens_soon /dev/fuse
	ok "and the user is still at it" is_opening
	ok "the user goes on, and has opened it" is_opened
	[[ ! $lttng_module ]] || modprobe "$lttng_module"
	ok "nothing is left of it" nothing_left
fi
rmdir "$SCRATCH/cgroup/slow"
umount "$SCRATCH/cgroup"

# A request waits for its turn, and its process, which has much memory, is killed meanwhile.
install -m 644 "$TOP/tests/subjects/ask.py" "$SCRATCH"
workers=/sys/devices/virtual/workqueue/kunwind-threads/cpumask
mkfifo "$SCRATCH/requests"
begin_waiting() {
	"${nobody[@]}" taskset --cpu-list 1 sleep 1000 &
	walked=$!
	"${another[@]}" taskset --cpu-list 1 python3 -S -c 'import time; much = bytes([1]) * (64 << 20); time.sleep(1000)' &
	waiting=$!
	"${another[@]}" taskset --cpu-list 1 python3 -S "$SCRATCH/ask.py" others <"$SCRATCH/requests" >"$SCRATCH/waited" &
	asking_too=$!
	exec {requests}>"$SCRATCH/requests"
	# It reads.
	in_sleep "$walked" && in_sleep "$waiting" && in_sleep "$asking_too" 0 || return
	echo 1 >"$workers" && hold_at kw_walk_other "$walked" || return
	"${nobody[@]}" python3 -S "$SCRATCH/ask.py" others <<<"$walked" >"$SCRATCH/answer" &
	asking=$!
	held || return
	echo "$waiting" >&"$requests"
	exec {requests}>&-
	is_waiting
}

is_waiting() {
	local round
	for ((round = 0; round < 20; round++)); do
		! grep -s kw_walk_thread "/proc/$asking_too/stack" || return 0
		pause 0.1
	done
	return 1
}

# anonymous: sets $anonymous to how many KiB of memory all processes have of their own. It starts no process.
anonymous() {
	local name
	while read -r name anonymous _; do
		[[ $name != AnonPages: ]] || return 0
	done </proc/meminfo
}

# is_freed: while the other walk is still at it.
is_freed() {
	local round before still
	anonymous
	before=$anonymous
	kill -KILL "$waiting"
	for ((round = 0; round < 20; round++)); do
		anonymous
		read -r still <"$hold"
		((still)) || { echo "the walk has gone on"; return 1; }
		((anonymous > before - 60000)) || return 0
		pause 0.1
	done
	echo "$before KiB before, $anonymous now"
	return 1
}

end_waiting() {
	go_on
	echo 3 >"$workers"
	wait "$asking_too"
	wait "$asking"
	kill "$walked"
	says ESRCH cat "$SCRATCH/waited" && says "stop 1, frames" cat "$SCRATCH/answer"
}

ok "kunwind-test is loaded" modprobe kunwind-test
ok "a request for a stack waits behind another user's" begin_waiting
ok "its process is killed, and its memory is freed" is_freed
ok "the walk goes on, and the other request is told so" end_waiting

# A process is killed while another one of its user has its stack walked, and so keeps its memory. It has submitted a read to AIO, which the
# file's server never answers. The end of that memory waits for this, and keeps a worker.
[[ -e /dev/fuse ]] || { skip "the end of a process's memory is left to kunwind's workqueue" "this kernel has no FUSE"; done_testing; }
cat >"$SCRATCH/submit.py" <<'END'
import ctypes, os, struct, sys, time
IO_SETUP, IO_SUBMIT, PREAD = 206, 209, 0
libc = ctypes.CDLL(None)
context = ctypes.c_ulong(0)
assert libc.syscall(IO_SETUP, 1, ctypes.byref(context)) == 0
buffer = ctypes.create_string_buffer(4096)
fd = os.open(sys.argv[1], os.O_RDONLY | os.O_DIRECT)
# struct iocb
control = struct.pack("<Q2IHhI2Qq8x8x", 0, 0, 0, PREAD, 0, fd, ctypes.addressof(buffer), len(buffer), 0)
assert libc.syscall(IO_SUBMIT, context, 1, ctypes.byref(ctypes.c_char_p(control))) == 1
print("submitted", flush=True)
time.sleep(1000)
END

begin_reading() {
	"${nobody[@]}" taskset --cpu-list 1 python3 -S "$SCRATCH/submit.py" "$SCRATCH/fuse/held" >"$SCRATCH/submitted" 2>&1 &
	reading=$!
	said_by submitted submitted && in_sleep "$reading"
}

# begin_walk: the worker does it on the first CPU; the process, and this shell, are on the second one.
begin_walk() {
	echo 1 >"$workers" && hold_at kw_walk_other "$reading" || return
	"${nobody[@]}" python3 -S "$SCRATCH/ask.py" others <<<"$reading" >"$SCRATCH/answer" &
	asking=$!
	held
}

is_killed() {
	kill -KILL "$reading"
	wait "$reading"
	(($? == 137)) && (($(<"$hold") == 1))
}

end_walk() {
	go_on
	echo 3 >"$workers"
	wait "$asking" && says ESRCH cat "$SCRATCH/answer"
}

# is_left_to WORKQUEUE: soon, a worker is at the end of a process's memory: of that workqueue.
is_left_to() {
	local round stack worker
	for ((round = 0; round < 50; round++)); do
		while IFS= read -r stack; do
			worker=$(<"${stack%stack}comm")
			[[ $worker == kworker/* ]] || continue
			echo "it is left to $worker"
			[[ $worker == *"+$1" ]]
			return
		done < <(grep -ls exit_aio /proc/[0-9]*/stack)
		sleep 0.1
	done
	return 1
}

remove() {
	modprobe -r ${lttng_module:+"$lttng_module"} kunwind
}

is_in_use() {
	local said
	said=$(remove 2>&1)
	echo "$said"
	[[ $said == *'kunwind is in use'* ]]
}

goes_soon() {
	local round
	kill -KILL "$server"
	for ((round = 0; round < 50; round++)); do
		! remove || return 0
		sleep 0.1
	done
	return 1
}

ok "a FUSE file system is mounted" mount_files
server=$!
ok "a process reads a file, for ever" begin_reading
ok "another one of its user asks for its stack" begin_walk
ok "it is killed, and is gone at once" is_killed
ok "the other one is told so" end_walk
ok "the end of its memory is left to kunwind's workqueue" is_left_to kunwind-ends
ok "nothing else is left of it" nothing_left
rmmod kunwind-test
ok "kunwind cannot be removed meanwhile" is_in_use
ok "but when the server is gone" goes_soon
ok "the file system is unmounted" umount "$SCRATCH/fuse"
modprobe -a kunwind ${lttng_module:+"$lttng_module"}
done_testing
