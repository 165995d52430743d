#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR MIT
# The modules come and go: in order, again and again, but not under somebody who holds the device open.
set -uo pipefail
# shellcheck source=tests/vm/lib/tap.sh
. "$TOP/tests/vm/lib/tap.sh"
# shellcheck source=tests/vm/lib/figures
. "$TOP/tests/vm/lib/figures"

loaded() {
	grep -q "^$1 " /proc/modules
}

reload() {
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

no_hooks() {
	local round status said
	rmmod kunwind-lttng || return
	# They stay for a while after the last close.
	for ((round = 0; round < 100; round++)); do
		! sysctl -q kernel.ftrace_enabled=0 2>/dev/null || break
		sleep 0.1
	done
	said=$(python3 -c 'import os; os.open("/dev/kunwind", os.O_RDONLY)' 2>&1)
	grep -q 'Errno 95' <<<"$said"
	status=$?
	((status == 0)) || echo "$(sysctl kernel.ftrace_enabled): $said"
	sysctl -q kernel.ftrace_enabled=1 && modprobe kunwind-lttng && return "$status"
}

# What tracefs does not show: the probe of forks.
has_probe() {
	"$TOP/tests/vm/lib/has-probes" sched_process_fork
}

all_come_down() {
	local hooked probed
	exec 9</dev/kunwind || return
	hooked=$(hooks_left | wc -l)
	has_probe
	probed=$?
	exec 9<&-
	echo "$hooked functions were hooked, the probe's status was $probed"
	((hooked == 4 && probed != 1)) && nothing_left && ! has_probe
}

ok "kunwind is loaded" loaded kunwind
ok "kunwind-lttng is loaded" loaded kunwind_lttng
ok "/dev/kunwind has mode 666" [ "$(stat -c '%a %F' /dev/kunwind 2>&1)" = "666 character special file" ]
ok "both can be removed and loaded again" reload
ok "kunwind cannot be removed while the device is open" held_open
ok "four hooks and a probe are there while it is open, and no more soon after" all_come_down
ok "hooks cannot be switched off by a sysctl while the device is open" hooks_stay
ok "and where they are, the device says EOPNOTSUPP" no_hooks
done_testing
