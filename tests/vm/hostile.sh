#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR MIT
# Bad input by a user without privilege: the stack ends with a reason, the system goes on, nothing is left behind.
set -uo pipefail
# shellcheck source=tests/vm/lib/tap.sh
. "$TOP/tests/vm/lib/tap.sh"
# shellcheck source=tests/vm/lib/figures
. "$TOP/tests/vm/lib/figures"
# shellcheck source=tests/vm/lib/mappers
. "$TOP/tests/vm/lib/mappers"

folder=$(mktemp -d)
chmod 777 "$folder"
# The way to the repository may be closed for others: /root is, and what was cloned with umask 077.
programs=$(mktemp -d)
chmod 755 "$programs"
install -m 755 -t "$programs" "$BUILT/hostile" "$BUILT/damage" "$BUILT/hostile-lib.so"
as_nobody() {
	setpriv --reuid 65534 --regid 65534 --clear-groups "$@"
}

ok "nothing is there without a consumer" nothing_left
wants_before=$(wants)
for name in $("$programs/hostile" --list); do
	ok "$name" as_nobody "$programs/hostile" "$programs/hostile-lib.so" "$folder" "$name"
done
# New programs are covered only if a consumer wants the whole system.
damaged() {
	as_nobody "$programs/damage" "$programs/hostile-lib.so" /bin/true "$folder" 200 \
		8<"$figures/table_builds" 9<"$figures/table_failures" | tee "$SCRATCH/damage"
}
ok "kunwind-test is loaded" modprobe kunwind-test
ok "it consumes" eval 'echo 1 >/sys/module/kunwind_test/parameters/attach'
ok "files with random damage, mapped and executed" damaged
read -r executed _ ran _ looked_at _ < <(grep executed "$SCRATCH/damage")
sed 's/^/# /' "$SCRATCH/damage"
ok "100 were executed, and some ran" [ "$executed" = 100 -a "$ran" -ge 20 ]
ok "kunwind looked at most of those that ran" [ $((4 * looked_at)) -ge $((3 * ran)) ]
# fork_many: before any of the children has run.
fork_many() {
	chrt -f 1 taskset -c 0 python3 -S -c '
import os
for _ in range(400):
    if not os.fork():
        os._exit(0)
for _ in range(400):
    os.wait()'
}
missed=$(figure spaces_missed)
ok "a program forks, and its children have to wait" fork_many
ok "each child is covered" [ "$(figure spaces_missed)" = "$missed" ]
# start_many: programs that stay in execve(), as the kernel clears the end of their data, which a file server does not give. Only the one that
# starts them comes back to user mode meanwhile.
start_many() {
	as_nobody python3 -S -c '
import os
import sys
folder = sys.argv[1]
children = [os.posix_spawn(f"{folder}/half{number}", ["half", "-c", ":"], {}) for number in range(80)]
assert not any(os.waitpid(child, os.WNOHANG)[0] for child in children)
os.path.exists(f"{folder}/release")
for child in children:
    os.waitpid(child, 0)' "$SCRATCH/fuse"
}
modprobe --quiet fuse
if [[ -e /dev/fuse ]]; then
	ok "a FUSE file system is mounted" mount_files /bin/dash
	ok "a program starts others, which come no further" start_many
	ok "each of these is covered" [ "$(figure spaces_missed)" = "$missed" ]
	ok "it is unmounted" umount "$SCRATCH/fuse"
else
	skip "programs that come no further are covered" "this kernel has no FUSE"
fi
ok "kunwind-test can be removed" rmmod kunwind-test
ok "nothing is left" nothing_left
ok "no allocation failed, no builder was refused" [ "$(wants)" = "$wants_before" ]
rm -rf "$folder" "$programs"
done_testing
