#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR MIT
# Programs that sample themselves, as a user without privilege: what the traces say, next to what the source does.
set -uo pipefail
# shellcheck source=tests/vm/lib/tap.sh
. "$TOP/tests/vm/lib/tap.sh"

kunwind=$BUILT/source/tools/kunwind/kunwind
library=$BUILT/source/libkunwind
export BABELTRACE_PLUGIN_PATH=$BUILT/source/babeltrace/.libs
paranoid=$(</proc/sys/kernel/perf_event_paranoid)
trap 'echo $paranoid >/proc/sys/kernel/perf_event_paranoid' EXIT
echo 3 >/proc/sys/kernel/perf_event_paranoid
cd "$SCRATCH" || exit
chmod 711 .
install -d -o nobody -m 755 user
cd user || exit

# As the user nobody, which may not use perf.
as_nobody() {
	setpriv --reuid=nobody --regid=nogroup --clear-groups --no-new-privs "$@"
}

sampled() {
	as_nobody "$library/sampled" "$@"
}

folded() {
	"$kunwind" report --folded --count=time "$@" 2>said || { cat said; return 1; }
}

# share TRACE FUNCTION: of the time, in percent.
share() {
	folded "$1" | awk -v name="$2" '{ all += $NF } $0 ~ "[;]" name "[; ]" { some += $NF } END { printf "%.0f\n", all ? 100 * some / all : 0 }'
}

# between LOW WHAT HIGH
between() {
	echo "$2 of $1 to $3"
	((($2 >= $1) && ($2 <= $3)))
}

whole() {
	folded "$1" | awk '{ all += $NF } /\[truncated/ { cut += $NF; print } END { print cut " of " all; exit !(all && cut < 0.01 * all) }'
}

# in_thread NAME COMMAND...: ok, of samples of a thread that is not the main one (kunwind_profile_start(3), BUGS).
in_thread() {
	if [[ $(printf '%s\n' 6.4 "$(uname -r)" | sort -V | head -n 1) == 6.4 ]]; then
		ok "$@"
	else
		skip "$1" "before Linux 6.4, the main thread gets the signal"
	fi
}

no_perf() {
	! as_nobody perf stat -e task-clock -p $$ true
}

# One CPU second is 250 ticks at most: the time is right all the same.
time_is_accounted() {
	local ns
	# The awk of Debian 12 prints a large number as 8.2e+09.
	ns=$(folded "$1" | awk '{ sum += $NF } END { printf "%.0f\n", sum }')
	between "$2" $((ns / 1000000)) "$3"
}

right_places() {
	folded plain >all
	cat all
	awk '{ all += $NF } /^sampled;_start;[^;]*;[^;]*;main;plain;both;(much|little);/ { right += $NF }
		END { print right " of " all; exit !(all && right > 0.97 * all) }' all
}

ok "a program samples itself" sampled plain plain 97
ok "its stacks are those of its source" right_places
ok "three quarters of it" between 70 "$(share plain much)" 80
ok "and one quarter" between 20 "$(share plain little)" 30
ok "for as long as it runs" time_is_accounted plain 3700 4300
ok "all stacks are whole" whole plain

# All in all, they use four times as much as one.
ok "four threads sample themselves" sampled threads threads 97
worker() {
	folded threads | awk '/^sampled|^worker/ { all += $NF } /^worker;/ { some += $NF } END { print some " of " all; exit !(some > 0.9 * all) }'
}
in_thread "each under its own name" worker
in_thread "three quarters of each" between 65 "$(share threads much)" 82
ok "for as long as all of them run" time_is_accounted threads 14400 17600
ok "all stacks are whole" whole threads

# The second library is mostly where the first one was: it has its own names all the same.
ok "libraries that come and go" sampled libraries libraries "$library/.libs/sampled-one.so" "$library/.libs/sampled-other.so"
ok "the first has its names" between 40 "$(share libraries work_of_one)" 60
ok "the second has its own" between 40 "$(share libraries work_of_other)" 60
ok "all stacks are whole" whole libraries

ok "a child" sampled child child 97
not_in_parents() {
	folded child | fails grep only_in_child && folded child-child | grep 'child;only_in_child;both;much'
}
ok "is not sampled, except by itself" not_in_parents
ok "200 children that exit" sampled storm storm 997
ok "are no harm to the trace" between 10 "$(share storm little)" 100

ok "exit without a stop" sampled leave leave
ok "leaves a whole trace" between 60 "$(share leave much)" 90
killed() {
	sampled killed killed
	(($? == 137)) && time_is_accounted killed 4000 6100
}
ok "a process that is killed loses a second" killed

ok "descriptors that are others' by now" says "EBADF, 0 bytes" sampled closed closed
ok "a limit of file sizes" says "EFBIG" sampled limited limited 997
# A second's samples that have no room are lost; later ones may have it.
ok "leaves a trace" between 97 "$(share limited both)" 100
full_disk() {
	mount -t tmpfs -o size=64k,mode=777 none "$SCRATCH/small" || return
	local status=0
	sampled full "$SCRATCH/small/trace" 997 | tee said_there
	ls -l "$SCRATCH/small/trace"
	grep -qx ENOSPC said_there || status=1
	between 97 "$(share "$SCRATCH/small/trace" both)" 100 || status=1
	umount "$SCRATCH/small"
	return "$status"
}
mkdir -p "$SCRATCH/small"
ok "a full disk" full_disk
ok "a small alternate stack" sampled alternative alternative 997
in_thread "three quarters there, too" between 65 "$(share alternative much)" 85
ok "code that is made at run time" sampled made-code made-code 997
no_files() {
	folded made-code | awk '{ all += $NF } /made_code[^;]*;0x[0-9a-f]+;on-CPU/ { some += $NF; next } { print } END { print some " of " all; exit !(all && some > 0.6 * all) }'
}
ok "is no file's" no_files
ok "its folder is private" test "$(stat -c %a plain)" = 700
done_testing
