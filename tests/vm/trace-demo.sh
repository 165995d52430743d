#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR MIT
# LTTng end to end on a program whose stacks are known: its functions are there, in the order of the calls.
set -uo pipefail
# shellcheck source=tests/vm/lib/tap.sh
. "$TOP/tests/vm/lib/tap.sh"

demo=$BUILT/demo

compare() {
	babeltrace2 "$SCRATCH/trace" | "$TOP/tests/oracles/check-demo" "$demo" "$demo.debug" "$TOP/tests/subjects/demo.expected" "$SCRATCH/map"
}

ok "the demo is stripped" fails sh -c "readelf -SW '$demo' | grep -q '\.symtab'"
ok "the demo is traced" "$TOP/vm/record" "$SCRATCH/trace" -- "$demo" "$SCRATCH/map"
ok "its functions are on its stacks, in order" compare
done_testing
