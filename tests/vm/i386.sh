#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR MIT
# A 32-bit program on this kernel: the demo, built for i386, has the same stacks.
set -uo pipefail
# shellcheck source=tests/vm/lib/tap.sh
. "$TOP/tests/vm/lib/tap.sh"

demo=$BUILT/demo32
[[ -x $demo ]] || skip_all "the compiler has no libraries for i386"

compare() {
	babeltrace2 "$SCRATCH/trace" | "$TOP/tests/oracles/check-demo" "$demo" "$demo.debug" "$TOP/tests/subjects/demo.expected" "$SCRATCH/map"
}

ok "it is a program for i386" sh -c "readelf -hW '$demo' | grep -q 'Machine: *Intel 80386'"
ok "the demo is traced" "$TOP/vm/record" "$SCRATCH/trace" -- "$demo" "$SCRATCH/map"
ok "its functions are on its stacks, in order" compare
done_testing
