#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR MIT
# The command kunwind, where the module and LTTng are: its own stack, a trace of a program, what it says of the system.
set -uo pipefail
# shellcheck source=tests/vm/lib/tap.sh
. "$TOP/tests/vm/lib/tap.sh"

kunwind=$BUILT/source/tools/kunwind/kunwind
export BABELTRACE_PLUGIN_PATH=$BUILT/source/lttng-integration/babeltrace/.libs
cd "$SCRATCH" || exit

# prints PATTERN COMMAND...: it succeeds, and a line of what it says matches.
prints() {
	local pattern=$1
	shift
	"$@" >said 2>&1 || { cat said; return 1; }
	grep -E "$pattern" said || { cat said; return 1; }
}

status_is() {
	local wanted=$1 status=0
	shift
	"$@" || status=$?
	echo "status $status"
	((status == wanted))
}

ok "stack: from the command itself to _start" prints '_start' "$kunwind" stack
ok "stack --json is JSON" prints '"function"' sh -c '"$1" stack --json | python3 -m json.tool' sh "$kunwind"
ok "status: the module is there" prints "[Cc]onsumers" "$kunwind" status
ok "status --json is JSON" prints consumers sh -c '"$1" status --json | python3 -m json.tool' sh "$kunwind"
ok "table: of libc" prints '[0-9]+ rows|rows' "$kunwind" table "$(ldd /bin/ls | sed -n 's/.*libc.so.6 => \([^ ]*\).*/\1/p')"

ok "trace: the exit status is the program's" status_is 3 "$kunwind" trace --no-view --output failed -- sh -c 'exit 3'
ok "trace: a program that is not there" status_is 127 "$kunwind" trace --no-view --output nothing -- there-is-no-such-program
ok "trace: the program's system calls, with stacks by name" prints '__libc_start_main|_start' \
	"$kunwind" trace --color=never --output listing -- /bin/ls -l /
ok "trace: only the program's" fails grep -E '^[^ ].*(lttng-sessiond|lttng-consumerd)' said
ok "report --folded: a line for each stack" prints '^[^ ].*;.* [0-9]+$' "$kunwind" report --folded listing
ok "report --flame: a page" sh -c '"$1" report --flame page.html listing && grep -q "</html>" page.html' sh "$kunwind"
ok "report --perfetto: JSON" sh -c '"$1" report --perfetto trace.json listing && python3 -m json.tool trace.json >/dev/null' sh "$kunwind"

modprobe -r kunwind-lttng kunwind
ok "without the module, stack says how to load it" prints modprobe sh -c '! "$1" stack' sh "$kunwind"
ok "and so does status" prints modprobe sh -c '"$1" status; true' sh "$kunwind"
ok "and trace" prints modprobe sh -c '! "$1" trace --no-view --output without -- true' sh "$kunwind"
done_testing
