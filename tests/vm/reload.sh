#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR MIT
# Both modules are removed and loaded all the time, under programs that use the device and under LTTng's sessions.
set -uo pipefail
# shellcheck source=tests/vm/lib/tap.sh
. "$TOP/tests/vm/lib/tap.sh"
# shellcheck source=tests/vm/lib/figures
. "$TOP/tests/vm/lib/figures"

# On an idle machine that is seconds.
enough=8 limit=300

# Programs that come and go: each opens the device only if it is there.
use_device() {
	while [[ ! -e $SCRATCH/end ]]; do
		"$BUILT/source/tests/ioctl/random-calls" 1 2 "$BUILT/hostile-lib.so" "$1" >/dev/null 2>&1
	done
}

trace() {
	local round=0
	while [[ ! -e $SCRATCH/end ]]; do
		round=$((round + 1))
		lttng create reload --output="$SCRATCH/trace" &&
			lttng enable-event --kernel --session=reload --syscall openat &&
			lttng add-context --kernel --session=reload --type=callstack-user --type=pid &&
			lttng start reload &&
			ls / &&
			echo "$round" >"$SCRATCH/traced"
		lttng destroy reload
		rm -rf "$SCRATCH/trace"
	done >/dev/null 2>&1
}

run() {
	while [[ ! -e $SCRATCH/end ]]; do
		/bin/true
	done
}

# What is in use stays, and says so; everything else must work.
removed=0 refused=0 strange=0
cycle() {
	local module
	for module in kunwind_lttng kunwind; do
		if rmmod "$module" 2>"$SCRATCH/rmmod"; then
			removed=$((removed + 1))
		elif grep -qE 'is in use|temporarily unavailable|is not currently loaded' "$SCRATCH/rmmod"; then
			refused=$((refused + 1))
		else
			strange=$((strange + 1))
			cat "$SCRATCH/rmmod"
		fi
	done
	modprobe kunwind && modprobe kunwind-lttng || strange=$((strange + 1))
}

mkdir "$SCRATCH/files"
use_device "$SCRATCH/files" &
trace &
run &
begun=$SECONDS
while ((removed < enough && SECONDS - begun < limit)); do
	cycle
done
touch "$SCRATCH/end"
wait
echo "# $removed removed, $refused in use, $strange neither; $(cat "$SCRATCH/traced" 2>/dev/null) sessions"
ok "modules were removed under load" [ "$removed" -ge "$enough" ]
ok "each attempt either worked or said that the module is in use" [ "$strange" = 0 ]
ok "nothing is left" nothing_left
ok "both can be removed now" eval 'rmmod kunwind_lttng && rmmod kunwind'
ok "and loaded" modprobe kunwind-lttng
done_testing
