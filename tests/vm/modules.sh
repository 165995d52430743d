#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR MIT
# The modules come and go: in order, again and again, but not while a process holds the device open.
set -uo pipefail
# shellcheck source=tests/vm/lib/tap.sh
. "$TOP/tests/vm/lib/tap.sh"
# shellcheck source=tests/vm/lib/figures
. "$TOP/tests/vm/lib/figures"

loaded() {
	grep -q "^$1 " /proc/modules
}

again_and_again() {
	local round
	for ((round = 0; round < 5; round++)); do
		modprobe -r kunwind-lttng && modprobe kunwind-lttng || return
	done
	for ((round = 0; round < 5; round++)); do
		modprobe -r kunwind-lttng kunwind && ! loaded kunwind && [[ ! -e /dev/kunwind ]] && modprobe kunwind-lttng || return
	done
}

held_open() {
	# modprobe -r would take kunwind with it.
	rmmod kunwind-lttng && exec 9</dev/kunwind || return
	! rmmod kunwind
	local status=$?
	exec 9<&-
	((status == 0)) && rmmod kunwind && modprobe kunwind-lttng
}

# Hooks that the sysctl switched off would leave maps of what was there.
hooks_stay() {
	exec 9</dev/kunwind || return
	! sysctl -q kernel.ftrace_enabled=0
	local status=$?
	exec 9<&-
	return "$status"
}

# no_hooks: without ftrace the device says so.
no_hooks() {
	local status said
	sysctl -q kernel.ftrace_enabled=0 || return
	said=$(python3 -c 'import os; os.open("/dev/kunwind", os.O_RDONLY)' 2>&1)
	grep -q 'Errno 95' <<<"$said"
	status=$?
	((status == 0)) || echo "$(sysctl kernel.ftrace_enabled): $said"
	sysctl -q kernel.ftrace_enabled=1 && return "$status"
}

# Six functions, except those that this kernel lacks.
hooks=$((6 - $(wc -w </sys/kernel/kunwind/missing)))

all_up() {
	local hooked
	hooked=$(hooks_left | wc -l)
	echo "$hooked functions are hooked"
	((hooked == hooks))
}

open_device() {
	exec 9</dev/kunwind
}

close_device() {
	exec 9<&-
}

# stay: what is hooked is hooked all the time while the device is opened and closed, so that nothing is patched.
stay() {
	local round
	for ((round = 0; round < 20; round++)); do
		open_device
		close_device
		(($(hooks_left | wc -l) == hooks)) || return
	done
	sleep 2
	all_up
}

# all_down: soon.
all_down() {
	local round
	for ((round = 0; round < 50; round++)); do
		[[ $(hooks_left) ]] || return 0
		sleep 0.1
	done
	return 1
}

# refused: another module replaces one of LTTng's functions, while a session wants kunwind's events. It must not keep any.
refused() {
	local replace=/sys/module/kunwind_test/parameters/replace status
	modprobe -r kunwind-lttng && modprobe kunwind-test && lttng create modules --output="$SCRATCH/trace" &&
		lttng enable-event --kernel --session=modules 'kunwind_*' && lttng start modules || return
	echo lttng_statedump_start >"$replace" || return
	! modprobe kunwind-lttng
	status=$?
	echo >"$replace"
	return "$status"
}

# recorded: what the session has of a module that is loaded under it.
recorded() {
	modprobe kunwind-lttng && open_device && close_device && lttng destroy modules && modprobe -r kunwind-test &&
		babeltrace2 "$SCRATCH/trace" >"$SCRATCH/events" && grep -q ' kunwind_map: ' "$SCRATCH/events"
}

ok "kunwind is loaded" loaded kunwind
ok "kunwind-lttng is loaded" loaded kunwind_lttng
ok "/dev/kunwind has mode 666" [ "$(stat -c '%a %F' /dev/kunwind 2>&1)" = "666 character special file" ]
ok "both can be removed and loaded again" again_and_again
ok "kunwind-lttng is refused while a session is active" refused
ok "then it is loaded, and the session records its events" recorded
ok "kunwind cannot be removed while the device is open" held_open
ok "the device is opened" open_device
ok "$hooks hooks are there while it is open" all_up
ok "it is closed" close_device
ok "nothing else is left" nothing_left
ok "the hooks stay" stay
ok "kunwind is told to keep them for no time" reload hooks_stay_s=0
ok "the device is opened again" open_device
ok "they are there again" all_up
ok "it is closed again" close_device
ok "and they go" all_down
ok "kunwind is told nothing" reload
modprobe kunwind-lttng
ok "hooks cannot be switched off by a sysctl while the device is open" hooks_stay
ok "kunwind is told to keep them for no time again" reload hooks_stay_s=0
# 7.3 lets nobody switch off hooks.
if [[ $(sysctl -q kernel.ftrace_enabled=0 2>&1) == *'not supported'* ]]; then
	skip "and where they are, the device says EOPNOTSUPP" "ftrace cannot be switched off in this kernel"
else
	ok "and where they are, the device says EOPNOTSUPP" no_hooks
fi
ok "kunwind is told nothing again" reload

# begin_vforks: 60 processes wait in vfork(), for children that have a memory of their own, and pause. Each has taken a space that the module had
# made before, and the last ones found few left.
begin_vforks() {
	local round
	modprobe kunwind-test && echo 1 >"$attach" || return
	setsid python3 -S - <<-'END' &
		import ctypes
		import os

		CLONE, CLONE_VFORK, SIGCHLD = 56, 0x4000, 17
		libc = ctypes.CDLL(None)
		wait, go = os.pipe()
		for number in range(60):
		    if not os.fork():
		        os.close(go)
		        os.read(wait, 1)
		        libc.syscall(CLONE, CLONE_VFORK | SIGCHLD, 0, 0, 0, 0)
		        libc.pause()
		os.close(go)
		libc.pause()
	END
	forking=$!
	for ((round = 0; round < 100; round++)); do
		(($(pgrep --count --session "$forking") < 121)) || return 0
		sleep 0.1
	done
	return 1
}

none_is_pending() {
	local round
	for ((round = 0; round < 50; round++)); do
		(($(figure pending))) || return 0
		sleep 0.1
	done
	return 1
}

end_vforks() {
	pkill -KILL --session "$forking"
	wait "$forking"
	modprobe kunwind
}

attach=/sys/module/kunwind_test/parameters/attach
ok "processes wait in vfork()" begin_vforks
ok "none of them will be needed any more" none_is_pending
ok "the tracer detaches" tee "$attach" <<<0
ok "the modules can be removed meanwhile" modprobe -r kunwind-test kunwind
end_vforks
modprobe kunwind-lttng
done_testing
