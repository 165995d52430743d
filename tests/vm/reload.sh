#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR MIT
# Both modules are removed and loaded all the time, by one process and by two at once, under programs that use the device and under LTTng's sessions.
set -uo pipefail
# shellcheck source=tests/vm/lib/tap.sh
. "$TOP/tests/vm/lib/tap.sh"
# shellcheck source=tests/vm/lib/figures
. "$TOP/tests/vm/lib/figures"

# Removals of each module, by one process and then by two, and sessions with stacks meanwhile. On an idle machine that is seconds.
enough=3 enough_sessions=2 limit=$((LIMIT / 3))
updates=/lib/modules/$(uname -r)/updates/kunwind

# Programs that come and go: each opens the device only if it is there, and holds it all the time.
use_device() {
	while [[ ! -e $SCRATCH/end ]]; do
		"$BUILT/source/tests/ioctl/random-calls" 1 2 "$BUILT/hostile-lib.so" "$1" >/dev/null 2>&1
		sleep 2
	done
}

# Of a context that is LTTng's own, because kunwind-lttng was not there just then, there is no need to read anything.
has_stacks() {
	grep -qa callstack_user_unwind "$SCRATCH"/trace/kernel/metadata &&
		grep -q 'callstack_user_unwind = \[ \[0\] = 0x' <(babeltrace2 "$SCRATCH/trace")
}

# Sessions, and in how many of them kunwind's stacks were recorded.
trace() {
	local sessions=0 with_stacks=0 round
	while [[ ! -e $SCRATCH/end ]]; do
		lttng create reload --output="$SCRATCH/trace" &&
			lttng enable-event --kernel --session=reload --syscall openat
		for ((round = 0; round < 50; round++)); do
			[[ ! -d /sys/module/kunwind_lttng ]] || break
			sleep 0.1
		done
		lttng add-context --kernel --session=reload --type=callstack-user --type=pid &&
			lttng start reload &&
			ls / &&
			sessions=$((sessions + 1))
		lttng destroy reload
		! has_stacks || with_stacks=$((with_stacks + 1))
		rm -rf "$SCRATCH/trace"
		echo "$sessions $with_stacks" >"$SCRATCH/traced"
		sleep 1
	done >/dev/null 2>&1
}

# Each load looks at what has started.
run() {
	while [[ ! -e $SCRATCH/end ]]; do
		sleep 0.2
	done
}

# Nobody else loads or removes: this must work.
load_alone() {
	modprobe kunwind && modprobe kunwind-lttng && [[ -d /sys/module/kunwind_lttng ]]
}

# What another process has loaded, is removing or has removed under kunwind-lttng cannot be loaded, and says so.
load_beside() {
	local module said
	for module in kunwind kunwind-lttng; do
		said=$(insmod "$updates/$module.ko" 2>&1) ||
			grep -qE 'File exists|resource busy|Unknown symbol' <<<"$said" || {
			echo "$said"
			return 1
		}
	done
}

# removals PHASE MODULE: how often it was removed in it.
removals() {
	grep -cx "removed $2" "$SCRATCH/$1"
}

# remove PHASE: both modules. What is in use stays, and says so; where it goes while rmmod looks at it, rmmod may say nothing, or, if its refcnt
# is gone already, that unloading is not supported; and delete_module() of one that another process is loading or removing is EBUSY. Everything else
# must work.
remove() {
	local module said
	for module in kunwind_lttng kunwind; do
		if said=$(rmmod "$module" 2>&1); then
			echo "removed $module"
		elif grep -qE 'is in use|temporarily unavailable|is not currently loaded' <<<"$said" ||
			[[ $1 == by-two && (! $said || $said =~ 'No such file'|'resource busy'|'unloading is not supported') ]]; then
			echo refused
		else
			echo "strange: $said"
		fi
	done
}

# seen_enough PHASE: each module was removed often enough in it, by whomever, and enough sessions recorded stacks.
seen_enough() {
	local with_stacks
	read -r _ with_stacks <"$SCRATCH/traced"
	(($(removals "$1" kunwind) >= enough && $(removals "$1" kunwind_lttng) >= enough && with_stacks >= enough_sessions))
}

# cycles PHASE LOAD: until enough was seen. Programs have the device open most of the time: ten attempts find a
# moment when none has, on a busy machine, too.
cycles() {
	local said attempt begun=$SECONDS
	while ! seen_enough "$1" && ((SECONDS - begun < limit)); do
		for ((attempt = 0; attempt < 10; attempt++)); do
			remove "$1"
			[[ -d /sys/module/kunwind ]] || break
		done
		said=$("$2" 2>&1) || echo "strange: $said"
		# For sessions to begin in.
		sleep "$((RANDOM % 2)).$((RANDOM % 10))"
	done >>"$SCRATCH/$1"
}

# judge PHASE
judge() {
	local kunwind kunwind_lttng
	kunwind=$(removals "$1" kunwind) kunwind_lttng=$(removals "$1" kunwind_lttng)
	echo "# $1: kunwind was removed $kunwind times, kunwind_lttng $kunwind_lttng times; $(grep -cx refused "$SCRATCH/$1") in use or gone"
	ok "$1: each module was removed under load" [ "$kunwind" -ge "$enough" -a "$kunwind_lttng" -ge "$enough" ]
	ok "$1: each attempt to remove or load one either worked or said why not" fails grep strange "$SCRATCH/$1"
}

mkdir "$SCRATCH/files"
echo 0 0 >"$SCRATCH/traced"
use_device "$SCRATCH/files" &
trace &
run &
python3 "$TOP/tests/subjects/ask-often.py" "$SCRATCH/end" >"$SCRATCH/asked" &
touch "$SCRATCH"/by-{one,two}
cycles by-one load_alone
cycles by-two load_beside &
other=$!
cycles by-two load_beside
wait "$other"
ok "both can be loaded when nobody removes them" load_alone
touch "$SCRATCH/end"
wait
judge by-one
judge by-two
read -r whole others <"$SCRATCH/asked"
read -r sessions with_stacks <"$SCRATCH/traced"
echo "# $whole whole stacks, $others others; $sessions sessions, $with_stacks of them with stacks"
ok "stacks were asked for meanwhile, and all of them were whole" [ "$whole" -ge 100 -a "$others" = 0 ]
ok "sessions recorded stacks" [ "$with_stacks" -ge "$enough_sessions" ]
ok "nothing is left" nothing_left
ok "both can be removed now" eval 'rmmod kunwind_lttng && rmmod kunwind'
ok "and loaded" modprobe kunwind-lttng
done_testing
