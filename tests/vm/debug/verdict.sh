#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR MIT
# The last test of a debug kernel's guest: the modules go, nothing has leaked, and the kernel has no complaint since it booted.
set -uo pipefail
# shellcheck source=tests/vm/lib/tap.sh
. "$TOP/tests/vm/lib/tap.sh"
# shellcheck source=tests/vm/lib/figures
. "$TOP/tests/vm/lib/figures"
# shellcheck source=tests/oracles/kernel-log
. "$TOP/tests/oracles/kernel-log"

kmemleak=/sys/kernel/debug/kmemleak

# Of kmemleak's reports on stdin, those that are not known. lttng-modules 2.13 forgets each merge point of a filter's bytecode: hlist_del()
# without kfree() in validate_instruction_all_contexts(), src/lttng-bytecode-validator.c. `record` filters all system calls. Once lttng-tracer
# was loaded anew (native.sh), the symbols of a backtrace before that are wrong, but lttng-tracer's: there, 512 bytes that begin with a deleted node,
# and that lttng-tracer itself asked for in the session daemon's thread, are one. What kunwind asks for has kunwind's frame there.
# sysfs_slab_add() in mm/slub.c of 6.12 forgets the name of a kobject that it cannot add, which debug/faults-module.sh lets happen.
unknown_leaks() {
	awk '/^unreferenced object/ { if (!known) printf "%s", report; report = ""; known = deleted = ours = 0; like = /\(size 512\)/ }
		/ lttng_bytecode_validate\+/ { known = 1 }
		/^  comm "faults"/ { ours = 1 }
		/ sysfs_slab_add\+/ && ours { known = 1 }
		/^  comm / && !/"Client manageme"/ { like = 0 }
		/ 00 01 00 00 00 00 ad de 22 01 00 00 00 00 ad de / { deleted = like }
		asked && deleted && / \[lttng_tracer\]$/ { known = 1 }
		{ asked = / __kmalloc/ }
		{ report = report $0 "\n" }
		END { if (!known) printf "%s", report }'
}

# What is freed by RCU or by a work is found a little later; an object must be 5 s old to be reported at all.
no_leaks() {
	local round
	for round in 1 2 3; do
		sleep 6
		echo scan >"$kmemleak" || return
	done
	cat "$kmemleak" >"$SCRATCH/reports" || return
	unknown_leaks <"$SCRATCH/reports" >"$SCRATCH/leaks" || return
	cat "$SCRATCH/leaks"
	[[ ! -s $SCRATCH/leaks ]]
}

# The checks themselves turn off when they run out of memory.
checks_are_on() {
	local lockdep
	lockdep=$(awk '$1 == "debug_locks:" { print $2 }' /proc/lockdep_stats)
	echo "debug_locks: $lockdep"
	[[ $lockdep == 1 && -s $SCRATCH/log ]] && ! grep -E 'kmemleak: .*(disabled|out of memory)|ODEBUG: .*(disabled|Out of memory)|BUG: MAX_LOCKDEP' "$SCRATCH/log"
}

# The kernel keeps the last so many bytes of its log (log_buf_len): its first line is that of the boot if nothing is lost.
whole_log() {
	local first
	dmesg >"$SCRATCH/log" && read -r first <"$SCRATCH/log" || return
	echo "$first"
	[[ $first == *'Linux version '* ]]
}

clean_log() {
	[[ -s $SCRATCH/log ]] && ! complaints <"$SCRATCH/log"
}

lttng destroy --all >/dev/null 2>&1
ok "nothing is left" nothing_left
ok "the modules can be removed" rmmod kunwind_lttng kunwind
ok "the kernel log is whole" whole_log
ok "kmemleak, lockdep and debugobjects are still on" checks_are_on
ok "no memory has leaked" no_leaks
ok "the kernel log, to its end now, is whole" whole_log
ok "the kernel log is clean" clean_log
done_testing
