#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR MIT
# kunwind profile --on-request: programs switch the recording of LTTng on and off, without privilege of their own.
set -uo pipefail
# shellcheck source=tests/vm/lib/tap.sh
. "$TOP/tests/vm/lib/tap.sh"

kunwind=$BUILT/source/tools/kunwind/kunwind
sampled=$BUILT/source/libkunwind/sampled
program=$BUILT/source/libkunwind/on-request
export BABELTRACE_PLUGIN_PATH=$BUILT/source/babeltrace/.libs
cd "$SCRATCH" || exit

# on_request TRACE COMMAND...
on_request() {
	local trace=$1
	shift
	timeout 200 "$kunwind" profile --on-request --no-view -F 97 -o "$trace" -- "$@" 2>said
	local status=$?
	cat said
	return "$status"
}

as_nobody="setpriv --reuid=nobody --regid=nogroup --clear-groups --no-new-privs"

folded() {
	"$kunwind" report --folded --count=time "$@" 2>said || { cat said; return 1; }
}

between() {
	echo "$2 of $1 to $3"
	((($2 >= $1) && ($2 <= $3)))
}

# parts: it runs as nobody, and is not sampled before the start and after the stop.
parts() {
	# shellcheck disable=SC2086
	on_request parts $as_nobody "$program" parts nowhere && [[ ! -e nowhere ]]
}

only_in_between() {
	folded parts >all
	cat all
	grep -q '^on-request;.*;in_between;both;much' all && fails grep 'before\|afterwards' all
}

time_is_accounted() {
	local ns
	# A machine that does other work takes timers from the guest: there are fewer samples then.
	ns=$(folded parts | awk '/^on-request;.*in_between/ { sum += $NF } END { print sum }')
	between 900 $((ns / 1000000)) 2600
}

ok "a program is recorded" parts
ok "between start and stop" only_in_between
ok "for as long as that takes" time_is_accounted

ok "a program that does not stop" on_request leave sh -c "$as_nobody '$sampled' leave nowhere"
ok "is recorded to its end" sh -c '"$1" report --folded leave 2>/dev/null | grep "leave;both;much"' sh "$kunwind"

none() {
	on_request none true
	(($? == 1)) && grep -q 'nothing was recorded' said && [[ ! -e none ]]
}
ok "a program that does not ask" none

twice() {
	on_request twice "$program" twice nowhere
}
ok "two processes at once, and twice" twice
closes() {
	on_request closes "$program" closes-all nowhere
}
ok "a program that has closed the descriptor" fails closes
# lingers: a program sends a connection whose last close() waits for a peer that never reads. A child has the peer.
lingers() {
	cat >lingers.py <<-'END'
		import array, os, socket, struct, time
		control = socket.socket(fileno=int(os.environ["KUNWIND_PROFILE_FD"].split(":")[0]))
		listener = socket.create_server(("127.0.0.1", 0))
		sent = socket.create_connection(listener.getsockname())
		peer = listener.accept()[0]
		sent.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 100000))
		sent.setblocking(False)
		try:
		    while True:
		        sent.send(bytes(1 << 16))
		except BlockingIOError:
		    pass
		if not os.fork():
		    os.closerange(0, 3)
		    os.close(sent.detach())
		    time.sleep(100000)
		control.sendmsg([b"+"], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", [sent.fileno()]))])
		os.close(sent.detach())
		time.sleep(5)
	END
	on_request lingers python3 lingers.py
	local status=$?
	pkill -f lingers.py
	return "$status"
}
ok "a program that sends a connection which lingers" lingers

# sticks: a program sends files of its own file server, which never says that they are closed. It has the server end, to end itself.
sticks() {
	cat >sticks.py <<-'END'
		import array, os, signal, socket, sys, time
		control = socket.socket(fileno=int(os.environ["KUNWIND_PROFILE_FD"].split(":")[0]))
		stuck = os.open("fuse/stuck", os.O_RDONLY)
		sent = 0
		try:
		    for sent in range(1000):
		        control.sendmsg([b"?"], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", [stuck]))])
		except OSError:
		    pass
		time.sleep(2)
		receivers = 0
		for pid in filter(str.isdigit, os.listdir("/proc")):
		    try:
		        receivers += open(f"/proc/{pid}/comm").read() == "kunwind-request\n"
		    except OSError:
		        pass
		open("receivers", "w").write(f"{receivers} of {sent}\n")
		os.kill(int(sys.argv[1]), signal.SIGKILL)
	END
	mkdir fuse
	python3 -S "$TOP/tests/subjects/fuse-files.py" fuse /etc/hostname >mounted 2>&1 </dev/null &
	local server=$! round count sent
	for ((round = 0; round < 100; round++)); do
		! grep mounted mounted || break
		sleep 0.1
	done
	on_request sticks python3 sticks.py "$server"
	wait "$server"
	umount fuse
	cat receivers
	read -r count _ sent <receivers
	((count > 1 && count <= 64 && sent > count))
}
ok "a program that sends files which cannot be closed" sticks

over() {
	timeout 200 "$kunwind" profile --on-request --duration 1 --no-view -o over -- "$program" over nowhere 2>said
	local status=$?
	cat said
	((status == 1)) && grep -q 'nothing was recorded' said && fails grep kunwind_profile said
}
ok "a recording that is over" over
ok "--on-request needs a command" fails "$kunwind" profile --on-request
ok "and no --delay" fails "$kunwind" profile --on-request --delay 1 -- true
ok "no session is left" fails sh -c 'lttng list | grep kunwind-'
done_testing
