#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR MIT
# LTTng end to end on a distribution's program: every system call of a stripped ls has a whole stack.
set -uo pipefail
# shellcheck source=tests/vm/lib/tap.sh
. "$TOP/tests/vm/lib/tap.sh"

random_addresses

compare() {
	babeltrace2 "$SCRATCH/trace" | "$TOP/tests/oracles/check-complete" /bin/ls ls
}

ok "ls is stripped" fails sh -c 'readelf -SW /bin/ls | grep -q "\.symtab"'
ok "ls -l /usr/bin is traced" "$TOP/vm/record" "$SCRATCH/trace" -- ls -l /usr/bin
ok "every system call has a whole stack" compare
done_testing
