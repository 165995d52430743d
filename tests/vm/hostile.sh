#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR MIT
# Bad input by a user without privilege: the stack ends with a reason, the system goes on, nothing is left behind.
set -uo pipefail
# shellcheck source=tests/vm/lib/tap.sh
. "$TOP/tests/vm/lib/tap.sh"
# shellcheck source=tests/vm/lib/figures
. "$TOP/tests/vm/lib/figures"

folder=$(mktemp -d)
chmod 777 "$folder"
# The way to the repository may be closed for others: /root is, and what was cloned with umask 077.
programs=$(mktemp -d)
chmod 755 "$programs"
install -m 755 -t "$programs" "$BUILT/hostile" "$BUILT/hostile-lib.so"
ok "nothing is there without a consumer" nothing_left
for name in $("$programs/hostile" --list); do
	ok "$name" setpriv --reuid 65534 --regid 65534 --clear-groups "$programs/hostile" "$programs/hostile-lib.so" "$folder" "$name"
done
ok "nothing is left" nothing_left
ok "no allocation failed, no builder was refused" [ "$(<$figures/allocation_failures)$(<$figures/table_refusals)" = 00 ]
rm -rf "$folder" "$programs"
done_testing
