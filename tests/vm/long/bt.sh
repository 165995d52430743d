#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR MIT
# Stacks with names are those of gdb's `bt` at the same system calls: 1,000 and more, of programs in C++, Rust, Python and C.
set -uo pipefail
# shellcheck source=tests/vm/lib/tap.sh
. "$TOP/tests/vm/lib/tap.sh"

export BABELTRACE_PLUGIN_PATH=$BUILT/source/babeltrace/.libs
cd "$SCRATCH" || exit
total=0

# bt NAME STOPS COMMAND...: runs in gdb and under LTTng at the same time, until it ends or so many system calls were made.
bt() {
	local name=$1 said
	export GDB_STACKS=$SCRATCH/$1.stacks GDB_STOPS=$2
	shift 2
	"$TOP/vm/record" "$SCRATCH/$name" --not gdb -- gdb -nx -batch -x "$TOP/tests/oracles/gdb-stacks.py" --args "$@" >"$name.gdb" 2>&1 &&
		babeltrace2 "$SCRATCH/$name" --component=names:filter.kunwind.symbolize --component=text:sink.text.pretty |
		"$TOP/tests/oracles/check-bt" "$GDB_STACKS" >"$name.said"
	local status=$?
	cat "$name.said"
	said=$(grep -Eo '^[0-9]+ stacks' "$name.said")
	said=${said%% *}
	total=$((total + ${said:-0}))
	((status == 0)) || tail -n 5 "$name.gdb"
	return "$status"
}

# compared NAME STOPS COMMAND...: as a result, with what was compared.
compared() {
	bt "$@" >said 2>&1
	local status=$?
	sed 's/^/# /' said | tail -n 30
	ok "$1: stacks and names are gdb's" [ "$status" = 0 ]
}

compared C++ 250 "$BUILT/calls" 8
if [[ -x $BUILT/calls-rust ]]; then
	compared Rust 250 "$BUILT/calls-rust" 8
else
	skip "Rust: stacks and names are gdb's" "no rustc where the guest was made"
fi
compared Python 250 python3 -c 'import json, ssl'
compared Perl 200 perl -MPOSIX -e 'print sort map { $_ * 2 } 1 .. 9'
compared ls 200 ls -lR /usr/share/doc/bash
compared git 200 git -C / --version
echo "# $total stacks were equal"
ok "at least 1,000 stacks were compared" [ "$total" -ge 1000 ]
done_testing
