#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR MIT
# Names where a trace is not read from start to end: before its state dump, live, and in the parts of a session that rotates.
set -uo pipefail
# shellcheck source=tests/vm/lib/tap.sh
. "$TOP/tests/vm/lib/tap.sh"

kunwind=$BUILT/source/tools/kunwind/kunwind
export BABELTRACE_PLUGIN_PATH=$BUILT/source/babeltrace/.libs
cd "$SCRATCH" || exit
untold='addresses that lie in no mapping of the trace'

# They make system calls all their lives, which begin before any session: one so many that some fall into a state dump, and one so few that
# a live viewer keeps up with them on a slow machine.
perl -e 'select undef, undef, undef, 0.002 while 1' &
busy=$!
perl -e 'select undef, undef, undef, 0.02 while 1' &
calm=$!
program=$busy
lttng-relayd --daemonize --output="$SCRATCH/relay"
trap 'kill "$busy" "$calm" "$(pidof -s lttng-relayd)"' EXIT

# prepare SESSION OPTION...: $program's calls with their stacks, and what the addresses mean.
prepare() {
	lttng create "$@" &&
		lttng enable-channel --kernel --session="$1" --subbuf-size=1M --num-subbuf=8 stacks &&
		lttng enable-event --kernel --session="$1" --channel=stacks --syscall --filter="\$ctx.pid == $program" --all &&
		lttng add-context --kernel --session="$1" --channel=stacks --type=procname --type=pid --type=tid --type=callstack-user &&
		lttng enable-channel --kernel --session="$1" maps &&
		lttng enable-event --kernel --session="$1" --channel=maps 'kunwind_*'
}

# names TEXT: there are many stacks, and each is from a function of libc that has a name up to the program's begin. The first that is not is shown.
names() {
	awk '
		function done() { if (n && !(call && begin) && !bad++) print stack; stacks += n > 0; n = call = begin = 0 }
		/^[^ ]/ { done(); stack = $0; next }
		{ n++; stack = stack "\n" $0 }
		/^    [A-Za-z0-9_]*select[0-9]*\+.*  libc\.so\.6/ { call = 1 }
		/^    perl[+!]/ || /  perl$/ { begin = call }
		END { done(); print stacks + 0 " stacks, " bad + 0 " without names"; exit !(stacks >= 20 && !bad) }' "$1"
}

# reported TRACE: all its stacks have names, and nothing is missing.
reported() {
	local status=0
	"$kunwind" report "$1" >report.text 2>report.said || status=1
	cat report.said
	((status == 0)) && names report.text && ! grep "$untold" report.said
}

# early TRACE: it has stacks before the state dump's end.
early() {
	babeltrace2 --clock-seconds "$1" | awk '
		{ now = substr($1, 2) + 0; if (!from) from = now }
		/kunwind_statedump_end/ && !over { over = now }
		/ syscall_/ && !over { n++ }
		END { printf "%d events before the end of the dump, %.1f s after the first\n", n, over - from; exit !(n && over) }'
}

from_the_middle() {
	prepare middle --output="$SCRATCH/middle" && lttng start middle && sleep 0.5 && lttng destroy middle
}

# until_there FILE PATTERN: a line that matches appears.
until_there() {
	local tries
	for ((tries = 0; tries < 600; tries++)); do
		grep -q "$2" "$1" && return
		sleep 0.1
	done
	return 1
}

# restarted: a session that was stopped, while a program began that is then recorded, too.
restarted() {
	prepare restarted --output="$SCRATCH/restarted" && lttng start restarted && sleep 0.5 && lttng stop restarted || return
	perl -e 'select undef, undef, undef, 0.0005 while 1' &
	local later=$! status=0
	lttng enable-event --kernel --session=restarted --channel=stacks --syscall --filter="\$ctx.pid == $later" --all &&
		sleep 1 && lttng start restarted && sleep 0.5 && lttng destroy restarted || status=1
	kill "$later"
	babeltrace2 restarted | grep 'kunwind_statedump_begin' && babeltrace2 restarted | grep -c "syscall_.* pid = $later," || status=1
	return "$status"
}

url=net://localhost/host/$(hostname)/live

# view NAME OPTION...: shows the live session while it goes on.
view() {
	# What a shell starts in the background ignores SIGINT.
	env --default-signal=INT babeltrace2 "${@:2}" --component=names:filter.kunwind.symbolize --component=text:sink.kunwind.text >"$1.text" 2>"$1.said" &
	viewer=$!
}

# A viewer that waits for the session sees its state dump. It asks for sessions now and then only: what is recorded is sent after 5 s, so that
# it is there by then.
live() {
	view live --component=source.ctf.lttng-live --params="inputs=[\"$url\"],session-not-found-action=\"continue\""
	program=$calm prepare live --live=5000000 --set-url=net://localhost && lttng start live && until_there live.text '  libc\.so\.6'
}

# One that comes later does not, until there is another one. It ends with the session.
late() {
	kill "$viewer"
	wait "$viewer"
	view late --input-format=lttng-live "$url"
	until_there late.text '^    0x' && lttng regenerate statedump --session=live && until_there late.text '  libc\.so\.6' &&
		lttng destroy live && wait "$viewer"
}

# to_the_end: once it had names, all that it showed has them.
to_the_end() {
	names <(awk '/libc/ { from = 1 } from' late.text)
}

# idle: a viewer that comes late sees the one stack of a program that then does nothing, although no state dump will come.
idle() {
	mkfifo wake || return
	perl -e 'open my $wake, "<", "wake" or die; sleep 1000' &
	program=$!
	sleep 1
	prepare idle --live=2000000 --set-url=net://localhost && lttng start idle && sleep 10 || return
	view idle --input-format=lttng-live "net://localhost/host/$(hostname)/idle"
	sleep 15
	: >wake
	until_there idle.text '^    ' && until_there idle.said 'no state dump came'
	local status=$?
	cat idle.said
	kill "$program"
	# As Ctrl-C does.
	kill -INT "$viewer"
	wait "$viewer"
	grep "$untold\|cannot be resolved" idle.said || status=1
	program=$calm
	lttng destroy idle
	return "$status"
}

rotating() {
	prepare rotating --output="$SCRATCH/rotating" && lttng start rotating && sleep 0.5 && lttng rotate rotating && sleep 0.5 &&
		lttng rotate rotating && lttng regenerate statedump --session=rotating && sleep 0.5 && lttng destroy rotating &&
		parts=("$SCRATCH"/rotating/archives/*-[012]) && ((${#parts[@]} == 3))
}

# nothing_told TRACE: the report says what is missing, and invents nothing.
nothing_told() {
	"$kunwind" report "$1" >report.text 2>report.said && grep "$untold" report.said && fails grep '\[anon\]\|libc' report.text
}

events() {
	babeltrace2 "$1" | grep -c ' syscall_'
}

all_parts() {
	local sum=0 part
	for part in "${parts[@]}"; do
		sum=$((sum + $(events "$part")))
	done
	echo "$sum events in all parts, $(events rotating) in the session"
	((sum > 0 && sum == $(events rotating)))
}

# of_live NAME COMMAND...: ok, of a live session.
of_live() {
	if [[ $(uname -r) == *-debug ]]; then
		skip "$1" "lttng-modules read freed memory as a live session ends (Documentation/notes/guests.md), and KASAN ends the guest"
	else
		ok "$@"
	fi
}

ok "a session begins while a program runs" from_the_middle
ok "it has stacks before its state dump" early middle
ok "all have names" reported middle
ok "a session is stopped and started again" restarted
ok "what began meanwhile has names, too" reported restarted
of_live "a live session has names while it goes on" live
of_live "a viewer that comes later has them after another state dump" late
of_live "and to the session's end" to_the_end
of_live "a viewer of a program that does nothing more" idle
ok "a session rotates" rotating
ok "its first part has names by itself" reported "${parts[0]-}"
ok "its second part says what is missing" nothing_told "${parts[1]-}"
ok "its third part has names after another state dump" reported "${parts[2]-}"
ok "read together, all have names" reported rotating
ok "and nothing is missing or there twice" all_parts
done_testing
