#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR MIT
# Walks in NMIs and hard interrupts, while mappings change: right where it can be known, impossible nowhere.
set -uo pipefail
# shellcheck source=tests/vm/lib/tap.sh
. "$TOP/tests/vm/lib/tap.sh"
# shellcheck source=tests/vm/lib/figures
. "$TOP/tests/vm/lib/figures"

parameters=/sys/module/kunwind_test/parameters
seconds=${DURATION-10}
# Of each kind, per second. What an emulated CPU cannot bear it does less often.
rate=${RATE-10000}
# What there must be of each, per second: long/nmi.sh and long/nmi-millions.sh ask for more.
least=${LEAST-20}

counters() {
	local name
	for name in hardirqs nmis nmis_in_kernel right unreadable cut_short cut_short_stop wrong; do
		echo -n "$name $(<$parameters/$name) "
	done
	echo
}

# at_least NAME NUMBER
at_least() {
	(($(<"$parameters/$1") >= $2))
}

ok "kunwind-test is loaded" modprobe kunwind-test
ok "it consumes" eval "echo 1 >$parameters/attach"
ok "a program spins, and maps, moves, forks" timeout $((seconds + 290)) "$BUILT/source/tests/ioctl/spin" \
	"$seconds" "$rate" "$BUILT/hostile-lib.so" "$SCRATCH"
echo "# in $seconds s: $(counters)"
ok "there were $least NMIs a second" at_least nmis $((least * seconds))
ok "some interrupted the kernel" at_least nmis_in_kernel "$seconds"
ok "some did not" [ "$(<$parameters/nmis)" -gt "$(($(<$parameters/nmis_in_kernel) + seconds))" ]
ok "there were $least walks in hard interrupts a second" at_least hardirqs $((least * seconds))
ok "stacks that must be known were" at_least right $((10 * seconds))
ok "none was wrong" [ "$(<$parameters/wrong)" = 0 ]
# An NMI in the middle of a switch of address spaces, or of text_poke().
ok "no more than one in a hundred could not be read there" [ "$(($(<$parameters/unreadable) * 100))" -le "$(<$parameters/right)" ]
ok "no other one was cut short" [ "$(<$parameters/cut_short)" = 0 ]
ok "it consumes no more" eval "echo 0 >$parameters/attach"
ok "nothing is left" nothing_left
ok "kunwind-test can be removed" modprobe -r kunwind-test
modprobe kunwind-lttng
done_testing
