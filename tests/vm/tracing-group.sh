#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR MIT
# A member of the group tracing needs no root to record user callstacks; a stranger gets nothing.
set -uo pipefail
# shellcheck source=tests/vm/lib/tap.sh
. "$TOP/tests/vm/lib/tap.sh"

as() {
	setpriv --reuid "$1" --regid "$1" --init-groups --reset-env -- bash -euc "$2"
}

session='
	cd
	lttng create mine --output="$HOME/trace"
	lttng enable-event --kernel --session=mine --syscall getdents64
	lttng add-context --kernel --session=mine --type=callstack-user --type=procname --type=pid --type=tid
	lttng start mine
	ls / >/dev/null
	lttng destroy mine
	babeltrace2 "$HOME/trace" >"$HOME/text"
'

stacks() {
	PYTHONPATH=$TOP/tests/oracles python3 - /home/tracer/text <<'END'
import sys
import stacks
events = [each for each in stacks.read(open(sys.argv[1])) if each.procname == "ls"]
print(*events, sep="\n")
sys.exit(not events or not all(each.whole() and len(each.frames) > 3 for each in events))
END
}

ok "tracer is a member, and not root" as tracer '[[ $(id -u) != 0 && " $(id -Gn) " == *" tracing "* ]]'
ok "a member records a session" as tracer "$session"
ok "its stacks are whole" stacks
ok "a stranger cannot" fails as nobody-else 'lttng list --kernel'
done_testing
