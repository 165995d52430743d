#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR MIT
# Random system calls around the device from many threads of a user without privilege.
set -uo pipefail
# shellcheck source=tests/vm/lib/tap.sh
. "$TOP/tests/vm/lib/tap.sh"
# shellcheck source=tests/vm/lib/figures
. "$TOP/tests/vm/lib/figures"

random_addresses
seconds=15
folder=$(mktemp -d)
chmod 777 "$folder"
# The way to the repository may be closed for others.
programs=$(mktemp -d)
chmod 755 "$programs"
install -m 755 -t "$programs" "$BUILT/source/tests/ioctl/random-calls" "$BUILT/hostile-lib.so"

random_calls() {
	setpriv --reuid 65534 --regid 65534 --clear-groups "$programs/random-calls" "$seconds" "$1" "$programs/hostile-lib.so" "$folder" "${@:2}" \
		>"$SCRATCH/calls" 2>&1
	local status=$?
	grep '^#' "$SCRATCH/calls" >>"$SCRATCH/said"
	cat "$SCRATCH/calls"
	return "$status"
}

ok "two threads" random_calls 2
ok "eight threads" random_calls 8
cat "$SCRATCH/said"
ok "nothing is left" nothing_left
rm -rf "$folder" "$programs"
done_testing
