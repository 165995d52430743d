#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR MIT
# An unprivileged user of perf gets whole stacks of his own programs, and has nothing done for processes of others.
set -uo pipefail
# shellcheck source=tests/vm/lib/tap.sh
. "$TOP/tests/vm/lib/tap.sh"
# shellcheck source=tests/vm/lib/perf
. "$TOP/tests/vm/lib/perf"
# shellcheck source=tests/vm/lib/mappers
. "$TOP/tests/vm/lib/mappers"

chmod 755 "$SCRATCH"
mkdir -m 777 "$SCRATCH/files"
install -m 755 -t "$SCRATCH" "$TOP/tests/subjects/deep.py"
paranoid=$(sysctl -n kernel.perf_event_paranoid)

# as USER COMMAND...
as() {
	setpriv --reuid "$1" --regid "$1" --clear-groups env HOME="$SCRATCH/files" "${@:2}"
}

# level NUMBER
level() {
	sysctl -q kernel.perf_event_paranoid="$1"
}

# record FILE OPTION...: by one who may do little, a program of his own.
record() {
	as nobody-else perf record -F 997 -g -o "$SCRATCH/files/$1" "${@:2}" -- \
		python3 -S "$SCRATCH/deep.py" "$SCRATCH/files/map" 0.2 </dev/null
}

# processes USER: how many he has; the user - has all that are not the kernel's.
processes() {
	ps -e -o ruid=,vsz= | awk -v user="$([[ $1 == - ]] || id -u "$1")" '$2 && (user == "" || user == $1)' | wc -l
}

# sleepers: three of each user.
sleepers() {
	local user
	for user in root tracer nobody-else; do
		for _ in 1 2 3; do
			as "$user" sleep 1000 &
			sleeping+=($!)
		done
	done
	# Until each is the program.
	sleep 1
}
sleeping=()

# covers USER SLACK: exactly his processes are, except for so many that come and go: ps is one of them.
covers() {
	local spaces wanted
	spaces=$(figure spaces) wanted=$(processes "$1")
	echo "$spaces address spaces are covered, and $1 has $wanted processes of $(processes -)"
	((spaces >= wanted - $2 && spaces <= wanted + $2))
}

# builds COMMAND...: for how many mappings it had something done.
builds() {
	local before
	before=$(figure map_builds)
	for _ in {1..20}; do
		"$@" || return
	done
	echo $(($(figure map_builds) - before))
}

# works_for_own: programs that others start are none of kunwind's business while his perf records.
works_for_own() {
	local own other
	own=$(builds as nobody-else true) other=$(builds as tracer true)
	echo "20 programs of his own: $own maps; of another user: $other maps"
	# His perf may do something meanwhile.
	((own >= 20 && other < 10))
}

# begin_his LEVEL CONSUMERS: his perf is one of so many.
begin_his() {
	level "$1" && begin as nobody-else perf record -e cpu-clock:u --user-callchains -F 97 -g -o "$SCRATCH/files/his" -- sleep 1000 && soon consumes "$2" && sleep 1
}

# changers: five processes that are root's while everything is covered, and then his, without a mapping in between.
changers() {
	local before
	before=$(processes nobody-else)
	mkfifo "$SCRATCH/go" && exec {go}<>"$SCRATCH/go" || return
	for _ in {1..5}; do
		python3 -S -c 'import os, sys, time
os.read(0, 1)
os.setuid(int(sys.argv[1]))
time.sleep(1000)' "$(id -u nobody-else)" <"$SCRATCH/go" &
		sleeping+=($!)
	done
	echo 12345 >&"$go"
	soon has nobody-else $((before + 5))
}

# has USER COUNT: so many processes.
has() {
	local count
	count=$(processes "$1")
	echo "$1 has $count processes"
	((count == $2))
}

# end_his: his perf ends with its program.
end_his() {
	pkill --parent "$(pgrep -u nobody-else -x perf)" -x sleep
	wait "$begun"
	soon idle
}

# at_once: eight of his perfs begin together, and it takes long to cover his processes. One of them does that.
at_once() {
	local each now most=0 perfs=()
	for each in {1..8}; do
		as nobody-else perf record -e cpu-clock:u --user-callchains -g -o "$SCRATCH/files/his$each" -- sleep 1 >/dev/null 2>&1 </dev/null &
		perfs+=($!)
	done
	while kill -0 "${perfs[@]}" 2>/dev/null; do
		now=$(figure consumers)
		((now <= most)) || most=$now
		sleep 0.02
	done
	wait "${perfs[@]}"
	echo "at most $most of them attached"
	((most == 1))
}

# no_tables: not even one that nobody maps.
no_tables() {
	(($(figure tables) == 0))
}

# one_is_killed: his first perf covers his processes, gets little of a CPU, and is killed. The second one waits for it, and then covers them itself.
one_is_killed() {
	local first second other opens round state
	opens=$(sed -n 's/^#define __NR_perf_event_open //p' "$header")
	evict_until no_tables || return
	mkdir "$SCRATCH/cgroup" && mount -t cgroup2 none "$SCRATCH/cgroup" && echo +cpu >"$SCRATCH/cgroup/cgroup.subtree_control" &&
		mkdir "$SCRATCH/cgroup/killed" || return
	as nobody-else perf record -e cpu-clock:u --user-callchains -g -o "$SCRATCH/files/his1" -- sleep 1000 >/dev/null 2>&1 </dev/null &
	soon consumes 1 && first=$(pgrep -u nobody-else -x perf) && echo "$first" >"$SCRATCH/cgroup/killed/cgroup.procs" &&
		echo 1000 500000 >"$SCRATCH/cgroup/killed/cpu.max" || return
	# With an event for each CPU, the next event would do.
	as nobody-else perf record --per-thread -e cpu-clock:u --user-callchains -g -o "$SCRATCH/files/his2" -- sleep 10 >/dev/null 2>&1 </dev/null &
	other=$!
	for ((round = 0; round < 600; round++)); do
		! second=$(pgrep -u nobody-else -x perf | grep -vx "$first") || [[ $(cat "/proc/$second/syscall") != "$opens "* ]] || break
		sleep 0.1
	done
	# It runs, which is to say that it compiles: afterwards it would sleep.
	state=$(cat "/proc/$first/syscall")
	echo "the first one's system call: $state; $round looks at the second one's"
	[[ $state == running ]] || return
	echo max >"$SCRATCH/cgroup/killed/cpu.max"
	kill -KILL "$first"
	while kill -0 "$first" 2>/dev/null; do
		sleep 0.02
	done
	soon consumes 1 && wait "$other"
}

# While a perf compiles, another one is started: on a busy machine, ten seconds may be too little for that.
ok "kunwind is loaded, kunwind-tracing is not" fresh attach_work_ms=120000
ok "stock, level 2: he records" eval 'level 2; record stock -e cpu-clock:u --user-callchains'
judged "stock: nearly no stack is whole" "$SCRATCH/files/stock" --comm python3 --stacks 50 --most 30
ok "kunwind-tracing is loaded" modprobe kunwind-tracing
ok "level 1: he records" eval 'level 1; record one -e cpu-clock'
judged "level 1: his stacks are whole" "$SCRATCH/files/one" --comm python3 --stacks 50 --least 99
ok "level 2: he records" eval 'level 2; record two -e cpu-clock:u --user-callchains'
judged "level 2: his stacks are whole" "$SCRATCH/files/two" --comm python3 --stacks 50 --least 99
ok "soon after nothing is left" soon idle

ok "he maps a large file" begin_mapping his as nobody-else python3 -S "$map" --no-device "$large"
ok "of many perfs that begin together, one covers his processes" at_once
ok "soon after nothing is left" soon idle
ok "one that is killed meanwhile leaves that to another one" one_is_killed
rmdir "$SCRATCH/cgroup/killed" && umount "$SCRATCH/cgroup"
end_mapping
ok "soon after nothing is left" soon idle

ok "three users sleep" sleepers
ok "he records again" begin_his 1 1
ok "his processes are covered, and no others" covers nobody-else 2
ok "nothing is done for programs of others" works_for_own
ok "he ends" end_his
ok "root records everything" begin_perf -e cpu-clock -F 97 -g -o "$SCRATCH/all"
ok "then all processes are covered" covers - 5
ok "root ends" stop
kill "${sleeping[@]}"
ok "soon after nothing is left" soon idle

ok "kunwind-test is loaded" modprobe kunwind-test
# attach VALUE: 1: a consumer of everything is there.
attach() {
	echo "$1" >/sys/module/kunwind_test/parameters/attach
}
ok "everything is covered" attach 1
sleeping=()
ok "five of root's processes become his" changers
ok "he records" begin_his 1 2
ok "not everything is covered any more" attach 0
ok "his processes are, and no others" covers nobody-else 2
ok "he ends" end_his
kill "${sleeping[@]}"
ok "soon after nothing is left" soon idle
ok "kunwind-test is removed" rmmod kunwind-test

ok "level 2: he may not record the whole system" fails as nobody-else perf record -a -e cpu-clock -g -o "$SCRATCH/files/no" -- true
ok "nor a process of root" fails as nobody-else perf record -e cpu-clock:u --user-callchains -g -o "$SCRATCH/files/no" -p 1 -- true
ok "soon after nothing is left" soon idle
# No file tells him the event's number, but there are few.
event=$(cat /sys/kernel/tracing/events/kunwind/user_stack/id)
# counted UID: what the event says to that user; all processes would be covered for it.
counted() {
	python3 "$TOP/tests/subjects/open-event.py" count "$event" "$1" </dev/null
}
ok "level 2: he may not count kunwind:user_stack" [ "$(counted 65534)" = EACCES ]
ok "and nothing was done for him" idle
ok "root may" [ "$(counted 0)" = opened ]

# many_users: each wants stacks of his own programs; one has so many IDs.
many_users() {
	mapfile -t uids < <(seq 20000 20069)
	coproc many { python3 "$TOP/tests/subjects/open-event.py" callchain "${uids[@]}"; }
	mapfile -t -n 70 said <&"${many[0]}"
	consumers=$(figure consumers)
	eval "exec ${many[1]}>&-"
	# shellcheck disable=SC2154
	wait "$many_PID"
	echo "70 users have opened: ${#said[@]} answers; consumers: $consumers"
	[[ ${#said[@]} == 70 && ${said[*]} != *E* && $consumers == 64 ]]
}
ok "level 2: 70 users want stacks, and 64 are covered" many_users
ok "soon after nothing is left" soon idle
ok "level 3: he may not record at all" fails eval 'level 3; record no -e cpu-clock:u --user-callchains'
ok "and nothing was done for him" idle
sysctl -q kernel.perf_event_paranoid="$paranoid"
ok "the modules are as before" restore
done_testing
