#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR MIT
# perf's stacks of real programs are those of `strace -k` in the same run: 20,000 system calls and more.
set -uo pipefail
# shellcheck source=tests/vm/lib/live
. "$TOP/tests/vm/lib/live"
# shellcheck source=tests/vm/lib/perf
. "$TOP/tests/vm/lib/perf"

# see COMMAND...: under strace and perf. strace ends with its command's status.
see() {
	perf record -e raw_syscalls:sys_enter -g -m 16M -o "$here/data" -- setarch -R \
		env LD_PRELOAD="$BUILT/no-names.so" strace -E LD_PRELOAD -f -ff -k -y -o "$here/strace" -- "$@" \
		>"$here/stdout" 2>"$here/said" </dev/null &&
		perf script -i "$here/data" -F comm,pid,tid,event,trace,ip 2>>"$here/said" >"$here/text" &&
		"$TOP/tests/vm/lib/check-strace" "$name" "$here/strace" "" "$header" <"$here/text" >"$here/verdict" 2>>"$here/said"
}

# live NAME COMMAND...: for live-programs.
live() {
	local name=$1 here=$SCRATCH/$1 verdict said
	shift
	mkdir "$here"
	echo "no verdict" >"$here/verdict"
	see "$@"
	verdict=$?
	if ((verdict)) || grep -iE 'lost|discarded' "$here/said"; then
		verdict=1
		sed 's/^/# /' "$here/said" | tail -n 20
	fi
	sed 's/^/# /' "$here/verdict" | head -n 120
	said=$(grep -Eo '[0-9]+ events' "$here/verdict")
	said=${said%% *}
	live_events=$((live_events + ${said:-0}))
	ok "$name: each system call's stack is strace's" [ "$verdict" = 0 ]
	rm -rf -- "$here"
}

ok "kunwind-tracing is loaded" modprobe kunwind-tracing
# shellcheck source=tests/vm/lib/live-programs
. "$TOP/tests/vm/lib/live-programs"
live_sum 20000
ok "the modules are as before" restore
done_testing
