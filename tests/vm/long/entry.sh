#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR MIT
# NMIs that are aimed at the kernel's entry code: a stack is right, or CONTEXT, and never that of the entry before.
set -uo pipefail
# shellcheck source=tests/vm/lib/tap.sh
. "$TOP/tests/vm/lib/tap.sh"
# shellcheck source=tests/vm/lib/figures
. "$TOP/tests/vm/lib/figures"

parameters=/sys/module/kunwind_test/parameters
seconds=600
# How many must come behind SYSCALL, and ten times as many in all of the entry code: a machine with a load of 16 has twice as many.
least=100

(($(nproc) > 1)) || skip_all "there is no CPU to aim from"

symbol() {
	awk -v name="$1" '$3 == name { print $1; exit }' /proc/kallsyms
}

# add HEX NUMBER
add() {
	printf '%x' $((0x$1 + $2))
}

# Where the stack pointer is the user's; where the registers are pushed; all entries and exits; the copy of an interrupt's registers.
names=('behind SYSCALL' 'pushes' 'the entry code' 'sync_regs()')
windows() {
	local gap safe
	gap=$(symbol entry_SYSCALL_64)
	safe=$(symbol entry_SYSCALL_64_safe_stack)
	echo "$gap $safe" >"$parameters/window" &&
		echo "$safe $(add "$(symbol entry_SYSCALL_64_after_hwframe)" 64)" >"$parameters/window" &&
		echo "$(symbol __entry_text_start) $(symbol __entry_text_end)" >"$parameters/window" &&
		echo "$(symbol sync_regs) $(add "$(symbol sync_regs)" 128)" >"$parameters/window"
}

# hits NUMBER: NMIs that came in this window.
hits() {
	sed -n "$1p" "$parameters/windows" | cut -d ' ' -f 1
}

counter() {
	echo "$(<"$parameters/$1")"
}

# step on|off: in a guest with a way to QEMU's monitor, its CPUs take interrupts behind each instruction. Its versions have different names for it.
step() {
	local port
	port=$(grep -lx monitor /sys/class/virtio-ports/*/name) || return 0
	port=/dev/$(basename "${port%/name}")
	printf '%s\n' "singlestep $1" "one-insn-per-tb $1" >"$port"
	echo "# interrupts come behind each instruction: $1"
}

ok "kunwind-test is loaded" modprobe kunwind-test
ok "it consumes" eval "echo 1 >$parameters/attach"
ok "the entry code is found" windows
step on
ok "a program enters the kernel, and NMIs are aimed at it" timeout $((seconds * 10 + 300)) "$BUILT/source/tests/ioctl/entry" "$seconds"
step off
echo "# $(counter aimed) NMIs in $seconds s: $(counter aimed_right) stacks right, $(counter aimed_unknown) CONTEXT, $(counter aimed_short) cut short, $(counter aimed_wrong) wrong"
number=0
while read -r came places right unknown wrong; do
	echo "# ${names[number]}: $came NMIs at $places addresses: $right right, $unknown CONTEXT, $wrong wrong"
	number=$((number + 1))
done <"$parameters/windows"
ok "$least came behind SYSCALL" [ "$(hits 1)" -ge "$least" ]
ok "and $((least * 10)) in the entry code" [ "$(hits 3)" -ge $((least * 10)) ]
(($(counter aimed_wrong) == 0)) || echo "# the last wrong one: $(counter last_wrong)"
ok "no stack was wrong" [ "$(counter aimed_wrong)" = 0 ]
ok "none was cut short" [ "$(counter aimed_short)" = 0 ]
ok "nor any other one wrong" [ "$(counter wrong)" = 0 ]
ok "stacks that must be known were" [ "$(counter aimed_right)" -gt "$((least * 10))" ]
ok "it consumes no more" eval "echo 0 >$parameters/attach"
ok "nothing is left" nothing_left
ok "kunwind-test can be removed" modprobe -r kunwind-test
modprobe kunwind-lttng
done_testing
