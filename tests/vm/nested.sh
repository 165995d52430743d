#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR MIT
# A walk in the middle of a walk, of the same CPU and context level, gets no stack.
set -uo pipefail
# shellcheck source=tests/vm/lib/tap.sh
. "$TOP/tests/vm/lib/tap.sh"
# shellcheck source=tests/vm/lib/figures
. "$TOP/tests/vm/lib/figures"

parameters=/sys/module/kunwind_test/parameters
rounds=2000

counter() {
	echo "$(<"$parameters/$1")"
}

ok "kunwind-test is loaded" modprobe kunwind-test
ok "it consumes" eval "echo 1 >$parameters/attach"
ok "it walks in exceptions" eval "echo 1 >$parameters/faults"
ok "a program's walks touch a page that is not there" "$BUILT/source/tests/ioctl/nested" "$rounds"
ok "it walks there no more" eval "echo 0 >$parameters/faults"
echo "# walks within these: $(counter nested), refused: $(counter nested_refused)"
ok "each had another one in it" [ "$(counter nested)" -ge "$rounds" ]
ok "which was refused" [ "$(counter nested_refused)" = "$(counter nested)" ]
ok "it consumes no more" eval "echo 0 >$parameters/attach"
ok "nothing is left" nothing_left
ok "kunwind-test can be removed" modprobe -r kunwind-test
modprobe kunwind-lttng
done_testing
