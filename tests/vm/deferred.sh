#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR MIT
# Stacks that perf takes later, when a task returns to user mode, are whole while kunwind-tracing is loaded.
set -uo pipefail
# shellcheck source=tests/vm/lib/tap.sh
. "$TOP/tests/vm/lib/tap.sh"
# shellcheck source=tests/vm/lib/perf
. "$TOP/tests/vm/lib/perf"

deep=(python3 -S "$TOP/tests/subjects/deep.py" "$SCRATCH/map" 0.2)

# deferred FILE: perf merges what was taken later into the samples.
deferred() {
	perf record -e cpu-clock -F 997 --call-graph fp,defer -o "$1" "${deep[@]}" </dev/null
}

perf record -e cpu-clock --call-graph fp,defer -o "$SCRATCH/try" true >/dev/null 2>&1 ||
	skip_all "this kernel or this perf takes no stacks later"
ok "kunwind is loaded, kunwind-tracing is not" fresh
ok "stock: python3 is recorded" deferred "$SCRATCH/stock"
judged "stock: nearly no stack is whole" "$SCRATCH/stock" --comm python3 --stacks 100 --most 30
ok "kunwind-tracing is loaded" modprobe kunwind-tracing
ok "python3 is recorded" deferred "$SCRATCH/whole"
judged "its stacks are whole" "$SCRATCH/whole" --comm python3 --stacks 100 --least 99
ok "soon after nothing is left of it" soon idle
ok "the modules are as before" restore
done_testing
