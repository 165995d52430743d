#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR MIT
# A trace has what turns its addresses into names: across fork, exec, dlopen, used addresses and process IDs, in a chroot, from the middle.
set -uo pipefail
# shellcheck source=tests/vm/lib/tap.sh
. "$TOP/tests/vm/lib/tap.sh"

random_addresses
maps=$BUILT/maps
libs=("$BUILT"/maps[0-3].so)
check=$TOP/tests/oracles/check-maps

record() {
	"$TOP/vm/record" "$SCRATCH/$1" "${@:2}"
}

# checked NAME OPTION...: what check-maps says of that trace.
checked() {
	babeltrace2 "$SCRATCH/$1" >"$SCRATCH/$1.text" 2>"$SCRATCH/$1.warnings" &&
		"$check" "${@:2}" <"$SCRATCH/$1.text" && [[ ! -s $SCRATCH/$1.warnings ]]
}

# spaces NAME: the numbers in that trace, in order.
spaces() {
	sed -n 's/.* kunwind_map: .*{ space = \([0-9]*\),.*/\1/p' "$SCRATCH/$1.text" | sort -nu
}

in_chroot() {
	mkdir -p "$SCRATCH/root" "$SCRATCH/inside"
	record chroot -- unshare --mount sh -euc 'mount --rbind / "$1" && shift && exec "$@"' sh "$SCRATCH/root" \
		chroot "$SCRATCH/root" "$maps" steps "$SCRATCH/inside" "${libs[@]:0:3}"
}

reused_pid() {
	mkdir -p "$SCRATCH"/pid{1,2,3}
	record pid -- bash -euc 'for each in 1 2 3; do echo 29999 >/proc/sys/kernel/ns_last_pid; "$0" sleep "$1$each"; done' \
		"$maps" "$SCRATCH/pid"
}

# begin SESSION [OPTION...]: all system calls with their stacks, of everybody, and what the addresses mean; OPTIONS are of the latter's channel.
begin() {
	lttng create "$1" --output="$SCRATCH/$1" &&
		lttng enable-channel --kernel --session="$1" --subbuf-size=1M --num-subbuf=8 stacks &&
		lttng enable-event --kernel --session="$1" --channel=stacks --syscall --all &&
		lttng add-context --kernel --session="$1" --channel=stacks --type=procname --type=pid --type=tid --type=callstack-user &&
		lttng enable-channel --kernel --session="$1" "${@:2}" maps &&
		lttng enable-event --kernel --session="$1" --channel=maps 'kunwind_*' &&
		lttng start "$1"
}

# until_there FILE...
until_there() {
	local tries
	for ((tries = 0; tries < 200; tries++)); do
		stat -- "$@" >/dev/null 2>&1 && return
		sleep 0.05
	done
	return 1
}

# from_the_middle: a process waits, another one forks all the time, and the mmap_lock of two is taken half of the time; the session begins,
# its state is dumped again, and another one begins.
from_the_middle() {
	local pids=() files=() each status=0
	mkdir -p "$SCRATCH/middle"
	for each in wait forks busy busy; do
		"$maps" "$each" "$SCRATCH/middle" "${libs[@]:0:2}" &
		pids+=($!)
		files+=("$SCRATCH/middle/$!.1")
	done
	until_there "${files[@]}" &&
		begin session && sleep 1 && lttng regenerate statedump --session=session && begin other && lttng destroy other || status=1
	touch "$SCRATCH/middle/go"
	for each in "${pids[@]}"; do
		wait "$each" || status=1
	done
	lttng destroy session && return "$status"
}

dumps_are() {
	[[ $(grep -c 'kunwind_statedump_begin' "$SCRATCH/$1.text") == "$2" ]]
}

# lossy: a channel of two pages that nobody reads meanwhile loses mappings, and says so.
lossy() {
	local status=0
	begin lost --subbuf-size=4096 --num-subbuf=2 && pkill -STOP lttng-consumerd || return
	"$maps" storm 20 "${libs[@]}" || status=$?
	pkill -CONT lttng-consumerd
	((!status)) && lttng destroy lost && babeltrace2 "$SCRATCH/lost" 2>&1 >/dev/null | grep -E 'discarded [0-9]+ events?'
}

# ftrace: the same events, without LTTng's probes.
ftrace() {
	local tracing=/sys/kernel/tracing id
	id=$(readelf -nW /usr/bin/true | sed -n 's/.*Build ID: //p')
	begin consumer && echo 1 >"$tracing/events/kunwind/enable" && /usr/bin/true &&
		echo 0 >"$tracing/events/kunwind/enable" && lttng destroy consumer &&
		grep -E "kunwind_map: space=[0-9]+ .* build_id=$id path=/usr/bin/true$" "$tracing/trace" &&
		grep -E 'kunwind_exit: space=[0-9]+$' "$tracing/trace" >/dev/null
}

reloaded() {
	modprobe -r kunwind-lttng kunwind && modprobe kunwind-lttng && record again -- true && checked again true &&
		(($(spaces steps | tail -n 1) < $(spaces again | head -n 1)))
}

mkdir -p "$SCRATCH/points"
ok "libraries come and go, and children" record steps -- "$maps" steps "$SCRATCH/points" "${libs[@]:0:3}"
ok "what was announced is what the kernel says" checked steps --checkpoints "$SCRATCH/points" 10 --marks 5 --ids 6 maps
ok "the same in a chroot of a mount namespace" in_chroot
ok "its paths are those inside" checked chroot --checkpoints "$SCRATCH/inside" 10 --marks 5 maps
ok "a process ID is used three times" reused_pid
ok "its address spaces are three" checked pid --reused 3 maps
ok "three threads open and close libraries, and fork" record storm -- "$maps" storm 40 "${libs[@]}"
ok "each call comes from the library that made it" checked storm --marks 250 maps
ok "a session begins in the middle of processes' lives" from_the_middle
ok "its state dump has what they map" checked session --partial --checkpoints "$SCRATCH/middle" 1 --marks 20 maps
ok "and is of this session alone" dumps_are session 2
ok "what is lost is visible" lossy
ok "ftrace has the events, too" ftrace
ok "no number comes again after the module was loaded anew" reloaded
done_testing
