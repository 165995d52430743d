#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR MIT
# A kernel that is locked down: who could have stacks still has them, and nothing of kunwind can be changed. Nothing undoes it: run-tests has
# another guest run what comes behind.
set -uo pipefail
# shellcheck source=tests/vm/lib/tap.sh
. "$TOP/tests/vm/lib/tap.sh"

[[ ! -e /sys/kernel/debug/kmemleak ]] || skip_all "debug/verdict.sh is to judge this guest, and could not"
mount -t securityfs securityfs /sys/kernel/security
[[ -e /sys/kernel/security/lockdown ]] || skip_all "this kernel cannot be locked down"
nobody=(setpriv --reuid 65534 --regid 65534 --clear-groups)
chmod 755 "$SCRATCH"
install -m 644 "$TOP/tests/subjects/ask.py" "$SCRATCH"

lock_down() {
	echo "$1" >/sys/kernel/security/lockdown && grep -F "[$1]" /sys/kernel/security/lockdown
}

# whole FOLDER: the stacks of a trace, which are some, are.
whole() {
	babeltrace2 "$1" >"$1.text" && grep -q 'callstack_user_unwind = ' "$1.text" &&
		! grep 'callstack_user_unwind = .*0xFFFFFFFFFFFFFFFF' "$1.text"
}

parameter() {
	echo 1 >"/sys/module/kunwind/parameters/$1"
}

for level in integrity confidentiality; do
	ok "the kernel is locked down: $level" lock_down "$level"
	ok "$level: a user sees his own stack" says "stop 1, frames" "${nobody[@]}" python3 -S "$SCRATCH/ask.py" own
	ok "$level: root traces with LTTng" "$TOP/vm/record" "$SCRATCH/$level" --event getdents64 -- ls /
	ok "$level: the stacks are whole" whole "$SCRATCH/$level"
	for name in table_budget_mb build_budget_mb attach_work_ms; do
		ok "$level: $name cannot be written" fails parameter "$name"
	done
	ok "$level: a module that is not signed cannot be loaded" fails modprobe kunwind-test
done
ok "kunwind can be removed" modprobe -r kunwind-lttng kunwind
ok "and is not loaded again" fails modprobe kunwind
done_testing
