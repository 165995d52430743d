#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR MIT
# Each recipe of Documentation/tracing.md works as it is pasted, and shows a stack that reaches _start, or says that it is whole. Those of bcc have a test of their own.
set -uo pipefail
# shellcheck source=tests/vm/lib/tap.sh
. "$TOP/tests/vm/lib/tap.sh"
# shellcheck source=tests/vm/lib/perf
. "$TOP/tests/vm/lib/perf"

page=$TOP/Documentation/tracing.md
# What their headings match.
recipes=${RECIPES-^(perf|bpftrace|trace-cmd|A)[ :]}

# extract: each block to a file of its own, after a line with its heading. How many there are on the page is in count.
extract() {
	awk -v folder="$SCRATCH" -v recipes="$recipes" '
		/^### / { heading = substr($0, 5) }
		/^```$/ { inside = 0 }
		inside { print >file }
		/^```sh$/ { number++ }
		/^```sh$/ && heading ~ recipes { inside = 1; file = sprintf("%s/%02d.sh", folder, number); print "# " heading >file }
		END { print number >folder "/count" }' "$page"
}

# perf_is_stock: what the recipe before wanted is gone.
perf_is_stock() {
	[[ $(replaced) != *perf_callchain_user* ]]
}

# try FILE: what it says begins where programs do. trace-cmd gives up if /proc/kallsyms, which has ftrace's trampolines, changes while it
# copies it; so nothing goes meanwhile.
try() {
	soon perf_is_stock && mkdir "$1.d" && cd "$1.d" || return
	# perf writes what it records to its stdout if that is a pipe.
	timeout "${RECIPE_LIMIT-170}" bash -euo pipefail "$1" >"$1.said" 2>&1 </dev/null
	local result=$?
	cd "$TOP" || return
	((result == 0)) && grep -qwE '_start|stop=COMPLETE' "$1.said" && return
	echo "status $result"
	tail -n 30 "$1.said"
	return 1
}

ok "kunwind-tracing is loaded" modprobe kunwind-tracing
extract
for recipe in "$SCRATCH"/*.sh; do
	ok "$(sed -n '1s/^# //p' "$recipe")" try "$recipe"
done
ok "there are ten recipes or more on the page" [ "$(<"$SCRATCH/count")" -ge 10 ]
ok "soon after nothing is left" eval 'modprobe -r kunwind-lttng && soon nothing_left'
ok "the modules are as before" restore
done_testing
