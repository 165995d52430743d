#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR MIT
# The command kunwind records: what is lost and what is not, what is left out, and what becomes of a recording that is killed.
set -uo pipefail
# shellcheck source=tests/vm/lib/command
. "$TOP/tests/vm/lib/command"

# lossless COMMAND...: the default buffers are large enough for it.
lossless() {
	rm -rf lossless
	"$kunwind" trace --no-view --output lossless -- "$@" >/dev/null 2>said || true
	! grep -E 'were lost' said
}

# loses: the buffers are full, as nobody empties them meanwhile. A buffer says how much was lost once it is emptied and more comes, on its CPU.
loses() {
	"$kunwind" trace --no-view -m 64K -e read -e write --output lost -- sh -c 'many="dd if=/dev/zero of=/dev/null bs=1 count=3000"
		pkill -STOP -x lttng-consumerd; $many; pkill -CONT -x lttng-consumerd; for second in 1 2 3 4; do $many; sleep 1; done' 2>said
	cat said
	grep 'events are being lost' said && grep -E '[0-9]+ events were lost: the buffers of 64 KiB' said && grep -E -- '-m 128K makes' said
}

# Processes that begin and end, of which some begin programs.
storm='for i in 1 2 3 4 5 6 7 8 9 10; do for j in 1 2 3 4 5 6 7 8 9 10; do (:); (:); /bin/true; done; done'

# follows: a process that runs, and its children.
follows() {
	: >said
	mkfifo follow || return
	perl -e 'open my $go, "<", "follow" or die; <$go>; for (1..5) { system "/bin/true" }' &
	"$kunwind" trace --no-view -e openat -e wait4 --output follows --pid $! 2>said &
	local tracer=$!
	until_said recording || return
	echo >follow
	wait "$tracer" || return
	"$kunwind" report --raw follows | grep -o 'procname = "[a-z]*"' | sort | uniq -c | tee shown
	grep -q perl shown && grep -q true shown
}

waits() {
	"$kunwind" trace --off-cpu --summary --output waits -- sleep 1.5 >shown 2>said
	cat shown said
	# In microseconds or milliseconds it would not be a second. sleep arms its timer before it leaves the CPU: it waits
	# a little less than it says.
	grep -E '^ *[0-9.]+ % +1\.[0-9]+ s +[0-9]+ x off-CPU, woken by .* by sleep' shown && grep -q nanosleep shown
}

# recorder_killed SECONDS COMMAND...: the session of a recorder that is killed, after the command, ends within so many seconds.
recorder_killed() {
	local until
	: >said
	"$kunwind" trace --no-view -e openat --output killed 2>said &
	local pid=$!
	until_said recording || return
	lttng list | grep kunwind- || return
	"${@:2}"
	kill -KILL "$pid"
	wait "$pid"
	until=$((SECONDS + $1))
	while ((SECONDS < until)); do
		lttng list | grep -q kunwind- || return 0
		sleep 0.1
	done
	return 1
}

# left: if the process that ends the session was killed, too, what is left is said, and ended by `kunwind stop` alone.
left() {
	rm -rf killed
	! recorder_killed 5 pkill -KILL -x kunwind-watch || return
	"$kunwind" trace --no-view -e openat --output after -- true 2>said
	cat said
	grep -q "'kunwind stop' ends it" said && lttng list | grep -q kunwind- && "$kunwind" stop && ! lttng list | grep kunwind- &&
		"$kunwind" stop | grep 'no recording'
}

# apart_pid: a recording of another PID namespace, with the same number or not, is neither ended nor a hindrance. One whose namespace is
# gone is ended; a session that a user has given a name like that is not.
apart_pid() {
	local number session gone dated=kunwind-20261124-153000
	unshare --pid --fork --mount-proc "$kunwind" trace --no-view -e openat --output there -- sleep 4321 2>there.said &
	local pid=$!
	until lttng list | grep -q kunwind-; do sleep 0.2; done
	"$kunwind" stop | grep 'no recording' || return
	session=$(lttng list | grep -o 'kunwind-[0-9-]*' | head -n 1)
	number=${session#kunwind-}
	# No namespace has the last number.
	gone=kunwind-${number%%-*}-4294967295-${number#*-*-}
	lttng create "$gone" && lttng create "$dated" && "$kunwind" stop | grep "$gone is ended" || return
	lttng list | grep "$session" && lttng destroy "$dated" || return
	pkill -xf 'sleep 4321'
	wait "$pid"
	(($? == 128 + 15))
}

# daemon_ends: LTTng's daemon is killed while it records. What there is of the trace is not all.
daemon_ends() {
	local pid status
	"$kunwind" trace --no-view -e openat --output cut -- sleep 5 2>said &
	pid=$!
	until lttng list | grep -q kunwind-; do sleep 0.2; done
	pkill -KILL -x lttng-sessiond
	wait "$pid"
	status=$?
	cat said
	lttng-sessiond --daemonize
	((status == 1)) && grep -q 'LTTng' said
}

full_disk() {
	mkdir -p small && mount -t tmpfs -o size=3M tmpfs small || return
	"$kunwind" trace --no-view -e read -e write --output small/trace -- dd if=/dev/zero of=/dev/null bs=1 count=20000 2>said
	local status=$?
	cat said
	umount -l small
	((status)) && grep 'the disk is full' said
}

# everything: all system calls of all processes but those of the tracer.
everything() {
	local status
	# There is one that does something.
	bash -c 'while sleep 0.1; do :; done' &
	"$kunwind" trace --no-view --duration 3 --output system -e 'clock_nanosleep' -e 'read' -e 'epoll_wait' -e futex -e poll 2>said
	status=$?
	kill "$!"
	((status == 0)) || return
	# Events that say what is mapped have a process, too, but no name of it.
	babeltrace2 system | grep -o ' procname = .* pid = [0-9]*' | grep -o '[0-9]*$' | sort | uniq -c | tee shown
	[[ -s shown ]] && ! while read -r _ pid; do cat "/proc/$pid/comm" 2>/dev/null; done <shown | grep '^lttng'
}

kernel_stacks() {
	"$kunwind" trace -k --full --output kernel -e openat -- /bin/true >shown 2>said || return
	head -20 shown
	grep -q do_syscall_64 shown && ! grep -E '^    (lttng|save_func|.*\[lttng)' shown
}

# namesakes: neither a process's name nor a container hides it.
namesakes() {
	cp /bin/ls kunwind-launch
	"$kunwind" trace --no-view -e openat -e execve -e read --output namesakes -- sh -c './kunwind-launch /; exec unshare --uts --ipc --net cat /etc/hostname' >/dev/null 2>said || return
	"$kunwind" report --raw namesakes >raw
	grep -o '[a-z_]*: .*procname = "[a-z-]*"' raw | sed 's/:.*procname = / /' | sort | uniq -c | tee shown
	grep -q 'openat "kunwind-launch"' shown && grep -q 'openat "cat"' shown &&
		# The first event of all is the launcher's, which has done nothing else.
		head -n 1 raw | grep 'syscall_entry_execve: .*procname = "kunwind-launch"'
}

apart() {
	"$kunwind" trace --full -e write --output apart -- echo hello 2>said | tee shown | head -n 3
	! grep -x hello shown && grep -x hello said
}

nothing_happens() {
	sleep 100 &
	timeout 60 "$kunwind" trace --duration 2 -e openat --output asleep --pid $! >shown 2>said
	local status=$?
	kill $!
	cat said
	((status == 1)) && grep 'the trace has no events' said
}

ok "dd with blocks of a byte loses nothing" lossless dd if=/dev/zero of=/dev/null bs=1 count=30000
ok "a storm of forks loses nothing" lossless sh -c "$storm"
ok "with small buffers, losses are told" loses
ok "a process and its children" follows
ok "where a thread waits" waits
ok "a recorder that was killed" recorder_killed 100 true
ok "and the process that ends its session" left
ok "a recorder in another PID namespace" apart_pid
ok "a full disk" full_disk
ok "everything but the tracer" everything
ok "the kernel's stacks without LTTng's frames" kernel_stacks
ok "the command's output and the view are apart" apart
ok "a name like the launcher's, and another UTS namespace" namesakes
ok "nothing happens" nothing_happens
ok "LTTng's daemon is killed" daemon_ends
ok "no session is left" fails sh -c 'lttng list | grep kunwind-'
done_testing
