#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR MIT
# The least that each of Debian's kernels must do, in a minute and without LTTng: perf attaches, a trace of which each frame is known, a
# short storm, and the modules' removal while perf records.
set -uo pipefail
# shellcheck source=tests/vm/lib/storms
. "$TOP/tests/vm/lib/storms"
# shellcheck source=tests/vm/lib/perf
. "$TOP/tests/vm/lib/perf"

seconds=6 minutes=0
chmod 755 "$SCRATCH"
modprobe --quiet --all fuse overlay
ok "kunwind is loaded, kunwind-tracing is not" fresh
ok "a program sleeps deep in its calls" asleep
ok "kunwind-tracing is loaded" modprobe kunwind-tracing
first_are_whole
ok "soon after nothing is left of it" soon idle

ok "the demo is traced" calls "$SCRATCH/demo" "$BUILT/demo" "$SCRATCH/map"
ok "its functions are on its stacks, in order" compare_demo "$BUILT/demo" "$SCRATCH/demo" "$SCRATCH/map" "$header"

random_addresses
ok "kunwind-test is loaded" modprobe kunwind-test
# To note the build IDs of all files takes half a minute.
ok "perf records all processes" begin_perf -B -e raw_syscalls:sys_enter -g -o "$SCRATCH/all"
stops >"$SCRATCH/before"
mapfile -t fair < <("$storm" --list | grep -vx lies)
weather "$seconds" --tracer "${fair[@]}"
stops_since "$SCRATCH/before" >"$SCRATCH/stops"
echo "# all stacks: $(paste -sd, "$SCRATCH/stops" | sed 's/,/, /g')"
# The storms themselves take a thousand.
ok "perf's stacks were whole" awk '$1 == "COMPLETE" && $2 >= 10000 { whole = 1 } END { exit !whole }' "$SCRATCH/stops"
ok "no stack ended for another reason than is known" fails grep -Ev "$storms_allowed" "$SCRATCH/stops"

"$BUILT/busy" &
busy=$!
ok "the modules can be removed while perf records" modprobe -r kunwind-test kunwind-tracing kunwind
kill "$busy"
ok "nothing is replaced, nothing hooked" eval '[[ ! $(replaced) && ! $(hooks_left) ]]'
ok "perf ends its recording" stop
ok "the modules are as before" restore
done_testing
