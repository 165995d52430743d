#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR MIT
# Want of memory passes, and of time, and a file that changes stays the same some day: a library that got no table has one soon after there
# is room, or after who attached has left it to its process, though that maps nothing more.
set -uo pipefail
# shellcheck source=tests/vm/lib/tap.sh
. "$TOP/tests/vm/lib/tap.sh"
# shellcheck source=tests/vm/lib/figures
. "$TOP/tests/vm/lib/figures"
# shellcheck source=tests/vm/lib/hold
. "$TOP/tests/vm/lib/hold"

nobody=(setpriv --reuid 65534 --regid 65534 --clear-groups)
chmod 755 "$SCRATCH"
install -m 644 "$TOP/tests/subjects/map-files.py" "$SCRATCH/map-files.py"
install -m 755 "$BUILT/source/tests/ioctl/starve" "$SCRATCH/starve"
glib=$(find /usr/lib -name 'libglib-2.0.so.0')
for number in {0..60}; do
	cp -- "$glib" "$SCRATCH/$number.so"
done

# begin NAME WORD COMMAND...: a user's process, which says WORD when it is ready; the descriptor input[NAME] is its input.
declare -A input
begin() {
	local name=$1 word=$2 opened
	shift 2
	rm -f "$SCRATCH/$name"
	mkfifo "$SCRATCH/$name"
	"${nobody[@]}" "$@" <"$SCRATCH/$name" >"$SCRATCH/$name.said" 2>&1 &
	exec {opened}>"$SCRATCH/$name"
	input[$name]=$opened
	said "$name" "$word"
}

# end NAME: of its input.
end() {
	local opened=${input[$1]}
	exec {opened}>&-
}

# said NAME WORD: it does so soon, as the last thing.
said() {
	said_by "$1.said" "$2"
}

# fill: the user's part of the budget has no room for one more.
fill() {
	local refused
	refused=$(<"$figures/table_refusals")
	begin filler mapped python3 -S "$SCRATCH/map-files.py" "$SCRATCH"/{1..60}.so &&
		(($(<"$figures/table_refusals") > refused))
}

# two_attempts: each takes a snapshot; $delay is how many milliseconds were between the two.
two_attempts() {
	local first
	next_attempt && first=$moment && next_attempt && delay=$((moment - first))
}

next_attempt() {
	local before now round
	read -r before <"$figures/map_builds"
	for ((round = 0; round < 200; round++)); do
		read -r now <"$figures/map_builds"
		moment=$((${EPOCHREALTIME/./} / 1000))
		((now == before)) || return 0
		sleep 0.05
	done
	return 1
}

# A process that opens the device.
ok "kunwind takes a budget of 2 MiB" reload table_budget_mb=2
ok "a process begins" begin starved ready "$SCRATCH/starve" "$SCRATCH/0.so" --device
ok "its user has no room for one more table" fill
echo >&"${input[starved]}"
ok "it asks for a stack, which is guessed" said starved guessed
ok "it tries again, and once more" two_attempts
echo "# $delay ms between these attempts"
# The first one comes a second after the library was mapped.
ok "the second delay is not as short as the first" [ "$delay" -gt 1500 ]
end filler
ok "its stacks are proven when there is room" said starved COMPLETE
ok "none was wrong" fails grep -q wrong "$SCRATCH/starved.said"
end starved
wait
ok "nothing is left" nothing_left

# A file that changes in the middle of each compilation: its identity, and not its bytes.
changes() {
	exec chrt -f 1 python3 -S -c 'import os, sys, time
while True:
    os.utime(sys.argv[1])
    time.sleep(0.002)' "$SCRATCH/0.so"
}
ok "kunwind takes its own budget" reload
changes &
changer=$!
changed=$(figure file_changes)
ok "a process begins" begin starved ready "$SCRATCH/starve" "$SCRATCH/0.so" --device
echo >&"${input[starved]}"
ok "its library changes all the time: its stacks are guessed" said starved guessed
echo "# changed in $(($(figure file_changes) - changed)) compilations"
kill "$changer"
ok "its stacks are proven when the library changes no more" said starved COMPLETE
ok "none was wrong" fails grep -q wrong "$SCRATCH/starved.said"
end starved
wait
ok "nothing is left" nothing_left

# Who is traced, and the child that shares its snapshot.
session() {
	lttng create retry --output="$SCRATCH/trace" &&
		lttng enable-event --kernel --session=retry --syscall getppid --filter="\$ctx.procname == \"starve\"" &&
		lttng add-context --kernel --session=retry --type=pid --type=callstack-user &&
		lttng start retry
}

# stacks: a line for each, with the process and whether it is whole and proven. Without a table, the code ahead leads on, by guesses.
stacks() {
	babeltrace2 "$SCRATCH/trace" | sed -nE '
		s/.* pid = ([0-9]+).*(0xF{16}).*/\1 cut/p; t
		s/.* pid = ([0-9]+).*_length = ([0-9]+),.*_proven = \2\>.*/\1 proven/p; t
		s/.* pid = ([0-9]+).*/\1 guessed/p'
}

# first_are WORD, last_are WORD: of both processes.
first_are() {
	[[ $(stacks | sort -s -u -k 1,1 | tee /dev/stderr | cut -d' ' -f2) == "$1"$'\n'"$1" ]]
}

last_are() {
	[[ $(stacks | tac | sort -s -u -k 1,1 | tee /dev/stderr | cut -d' ' -f2) == "$1"$'\n'"$1" ]]
}

# loaded: the process and its child have the library.
loaded() {
	local round
	for ((round = 0; round < 600; round++)); do
		(($(grep -l "$SCRATCH/0.so" /proc/[0-9]*/maps 2>/dev/null | wc -l) < 2)) || return 0
		sleep 0.1
	done
	return 1
}

# two_snapshots: both have taken one, and then had stacks. It starts no program, which would take a snapshot, too. The delay between retries has
# doubled each time, so they need not wait for longer than they have waited already, since $mapped.
two_snapshots() {
	local before now end=$((2 * SECONDS - mapped + 6))
	read -r before <"$figures/map_builds"
	now=$before
	while ((now < before + 2 && SECONDS < end)); do
		pause 0.1
		read -r now <"$figures/map_builds"
	done
	pause 3
}

# both_heal WORD COMMAND...: what their stacks are before; after the command the session ends, and with it the processes.
both_heal() {
	"${@:2}"
	ok "the session ends" lttng destroy retry
	end starved
	wait
	ok "at first the stacks of both processes are $1" first_are "$1"
	ok "their last ones are proven" last_are proven
	echo "# $(stacks | sort | uniq -c | awk '{ print $3, $1 }' | paste -sd' '), $(<"$figures/map_builds") maps"
	ok "nothing is left" nothing_left
}

ok "kunwind takes a budget of 3 MiB, for the whole system" reload table_budget_mb=3
modprobe kunwind-lttng
ok "a session begins" session
ok "a process begins" begin starved ready "$SCRATCH/starve" "$SCRATCH/0.so"
ok "its user has no room for one more table" fill
echo "# tables have $(<"$figures/table_bytes") bytes"
mapped=$SECONDS
echo >&"${input[starved]}"
ok "it loads its library, and forks" loaded
# Each of the two calls getppid() five times a second, and that is traced.
builds=$(<"$figures/map_builds")
sleep 5
builds=$(($(<"$figures/map_builds") - builds))
echo "# $builds maps in five seconds"
ok "they do not try again at each event" [ "$builds" -lt 20 ]
end filler
both_heal guessed two_snapshots

# An attaching tracer works for each user for a limited time. The processes do the rest themselves.
ok "kunwind is told to leave all tables to their processes" reload attach_work_ms=0
modprobe kunwind-lttng

ok "a process begins" begin starved ready "$SCRATCH/starve" "$SCRATCH/0.so"
echo >&"${input[starved]}"
ok "it loads its library, and forks" loaded
rm -r "$SCRATCH/trace"
ok "a session begins" session
left=$(<"$figures/mappings_left")
echo "# $left mappings were left"
ok "mappings were left" [ "$left" -gt 3 ]
both_heal cut sleep 4
# Where a system call begins, its task is not about to return to user mode: the process tries where the first one ends.
ok "only the first ones are not" [ "$(stacks | grep -c cut)" -le 6 ]

# A tracer publishes what it has, and then leaves the rest to the process. The process forks in between.
ok "kunwind is told so again" reload attach_work_ms=0
modprobe kunwind-lttng
modprobe kunwind-test

# fork_meanwhile: the tracer is a thread of LTTng's daemon.
fork_meanwhile() {
	local daemon round child='' status=1
	daemon=$(pgrep -o -x lttng-sessiond) && taskset --all-tasks --pid --cpu-list 0 "$daemon" || return
	hold_at kw_space_leave "$starved"
	session &
	if held; then
		echo >&"${input[starved]}"
		for ((round = 0; round < 40; round++)); do
			read -r child <"/proc/$starved/task/$starved/children" || sleep 0.05
			[[ ! $child ]] || break
		done
		echo "its child is ${child:-missing}, $(<"$hold") tasks wait"
		[[ ! $child || $(<"$hold") == 0 ]] || status=0
	fi
	go_on
	taskset --all-tasks --pid --cpu-list 0-1 "$daemon"
	wait $! && return "$status"
}
ok "a process begins, and loads its library" begin starved ready "$SCRATCH/starve" "$SCRATCH/0.so" --loaded
starved=$!
rm -r "$SCRATCH/trace"
ok "it forks while a tracer attaches" fork_meanwhile
both_heal cut sleep 4
modprobe -r kunwind-test

# Processes of a user share a large address space: each is one more snapshot of all of it, which lacks a table.
# attach_to_crowd: sets took to its milliseconds, and taken to how many snapshots it took.
attach_to_crowd() {
	local start=${EPOCHREALTIME/./} before
	before=$(<"$figures/map_builds")
	attach_once || return
	took=$(((${EPOCHREALTIME/./} - start) / 1000))
	taken=$(($(<"$figures/map_builds") - before))
}

# attach_once: and no more.
attach_once() {
	echo 1 >/sys/module/kunwind_test/parameters/attach && echo 0 >/sys/module/kunwind_test/parameters/attach
}

ok "kunwind is told to leave all tables to their processes again" reload attach_work_ms=0
modprobe kunwind-test
ok "a user's processes share 60,000 mappings" begin crowd ready "$BUILT/crowd" "$SCRATCH/0.so" 60000 500
ok "a tracer attaches" attach_to_crowd
echo "# in $took ms, with $taken snapshots"
ok "it has looked at the shared mappings" [ "$(<"$figures/mappings_left")" -gt 60000 ]
ok "and has gone on after two seconds" [ "$took" -lt 8000 ]
end crowd
wait
ok "nothing is left" nothing_left
modprobe -r kunwind-test

# A table that is there takes no time to compile.
ok "kunwind is told to leave all tables to their processes, too" reload attach_work_ms=0
modprobe kunwind-test
ok "a process sleeps" begin sleeper mapped python3 -S "$SCRATCH/map-files.py" --no-device "$SCRATCH/0.so"
ok "a tracer attaches" attach_once
without=$(<"$figures/mappings_left")
ok "another process has its tables made, which are the same" begin maker mapped python3 -S "$SCRATCH/map-files.py" "$SCRATCH/0.so"
before=$(<"$figures/mappings_left")
ok "a tracer attaches again" attach_once
with=$(($(<"$figures/mappings_left") - before))
echo "# $with mappings were left, and $without before"
ok "fewer mappings were left" [ "$with" -lt "$without" ]
end sleeper
end maker
wait
ok "nothing is left" nothing_left
modprobe -r kunwind-test

# NMIs alone walk a process that maps nothing more, as samples of perf do on most machines. This shell, on the other CPU, starts no process meanwhile.
ok "kunwind is told to leave all tables to their processes once more" reload attach_work_ms=0
modprobe kunwind-test
taskset --pid --cpu-list 1 $$ >"$SCRATCH/said"
taskset --cpu-list 0 "$BUILT/busy" &
busy=$!
sleep 2
ok "a tracer attaches, and leaves a busy process to itself" attach_once
echo 1 >/sys/module/kunwind_test/parameters/attach
read -r before <"$figures/table_builds"
echo 0 >/sys/module/kunwind_test/parameters/aim
read -r -t 5 _ <> <(:)
read -r after <"$figures/table_builds"
echo -1 >/sys/module/kunwind_test/parameters/aim
kill "$busy"
wait "$busy"
echo 0 >/sys/module/kunwind_test/parameters/attach
echo "# $((after - before)) tables were compiled meanwhile"
ok "NMIs make it try again" [ "$after" -gt "$before" ]
taskset --pid --cpu-list 0-1 $$ >"$SCRATCH/said"
ok "nothing is left" nothing_left
modprobe -r kunwind-test

# A compilation that has begun is left, too. Files without unwind information fail each time.
large=$(find /usr/lib -name '*.so*' -type f -printf '%s %p\n' | sort -rn | sed -n '1s/^[0-9]* //p')
ok "a process maps a large file" begin mapper mapped python3 -S "$SCRATCH/map-files.py" --no-device "$large"

ok "kunwind has its own parameters" reload
modprobe kunwind-test
ok "a tracer attaches, and detaches" attach_once
usual=$(<"$figures/table_failures")
ok "no mapping was left" [ "$(<"$figures/mappings_left")" = 0 ]
# A file that is open for writing is left as well.
exec {writer}>>"$large"
ok "a tracer attaches while the file is open for writing" attach_once
exec {writer}>&-
ok "its mapping was left" [ "$(<"$figures/mappings_left")" = 1 ]
modprobe -r kunwind-test

# cut_short: the user's time is over in the middle of a compilation, and not between two of them. How long the others take nobody knows before.
cut_short() {
	local ms
	for ms in 1 2 4 8 16 32 64 128 256 512 1024; do
		reload attach_work_ms="$ms" && modprobe kunwind-test && attach_once || return 1
		echo "# $ms ms: $(<"$figures/mappings_left") mappings were left, $(<"$figures/table_failures") tables failed, $usual before"
		(($(<"$figures/table_failures") <= usual)) || return 0
		modprobe -r kunwind-test
	done
	return 1
}

ok "a tracer attaches, whose time is over in the middle of a compilation" cut_short
ok "mappings were left" [ "$(<"$figures/mappings_left")" -gt 0 ]
end mapper
wait
ok "nothing is left" nothing_left
modprobe -r kunwind-test

# stop_sleeper: a process that sleeps, and lacks a table, is stopped. The switch to another one is the first walk since it may try again.
stop_sleeper() {
	lttng create stopped --output="$SCRATCH/stopped" &&
		lttng enable-event --kernel --session=stopped sched_switch &&
		lttng add-context --kernel --session=stopped --type=callstack-user &&
		lttng start stopped && sleep 2 && kill -STOP "$sleeper" && sleep 1 && lttng destroy stopped &&
		[[ $(awk '{ print $3 }' "/proc/$sleeper/stat") == T ]] &&
		babeltrace2 "$SCRATCH/stopped" | grep "prev_tid = $sleeper, " >"$SCRATCH/said"
}
ok "kunwind is told to leave all tables to their processes again" reload attach_work_ms=0
modprobe kunwind-lttng
ok "a process sleeps" begin sleeper mapped python3 -S "$SCRATCH/map-files.py" --no-device "$large"
sleeper=$!
ok "it is stopped while a tracer is there" stop_sleeper
ok "it keeps no work" [ "$(<"$figures/pending")" = 0 ]
ok "nor the modules" modprobe -r kunwind-lttng kunwind
kill -CONT "$sleeper"
end sleeper
wait
ok "kunwind takes its own parameters again" reload
modprobe kunwind-lttng
done_testing
