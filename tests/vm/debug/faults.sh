#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR MIT
# Each allocation and each copy from or to user memory fails once, in everything that the module does.
set -uo pipefail
# shellcheck source=tests/vm/lib/tap.sh
. "$TOP/tests/vm/lib/tap.sh"
# shellcheck source=tests/vm/lib/figures
. "$TOP/tests/vm/lib/figures"

# Whoever consumes beside the program would hide faults.
lttng destroy --all >/dev/null 2>&1
rmmod kunwind_lttng
nothing_left
modprobe kunwind-test
exec "$BUILT/source/tests/ioctl/faults" "$BUILT/hostile-lib.so" "$SCRATCH" "/lib/modules/$(uname -r)/updates/kunwind/kunwind.ko"
