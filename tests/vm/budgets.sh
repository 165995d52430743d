#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR MIT
# What kunwind is told when it is loaded: the budget of compilations, the defaults, nonsense.
set -uo pipefail
# shellcheck source=tests/vm/lib/tap.sh
. "$TOP/tests/vm/lib/tap.sh"
# shellcheck source=tests/vm/lib/figures
. "$TOP/tests/vm/lib/figures"

parameters=(table_budget_mb build_budget_mb attach_work_ms hooks_stay_s)
nobody=(setpriv --reuid 65534 --regid 65534 --clear-groups)
chmod 755 "$SCRATCH"
install -m 644 "$TOP/tests/subjects/ask.py" "$SCRATCH"
install -m 755 -t "$SCRATCH" "$BUILT/hostile" "$BUILT/hostile-lib.so"
mkdir -m 777 "$SCRATCH/folder"
whole=("$SCRATCH/hostile" "$SCRATCH/hostile-lib.so" "$SCRATCH/folder" intact)

# variable NAME: of the kernel, as it is.
variable() {
	gdb -nx -batch -c /proc/kcore -ex "x/gd 0x$(awk -v name="$1" '$3 == name { print $1 }' /proc/kallsyms)" 2>/dev/null |
		sed -n 's/^0x.*:[[:space:]]*//p'
}

# default PART LEAST: MiB of a budget, by the formula of Documentation/security.md.
default() {
	local mb
	mb=$(awk '/^MemTotal:/ { print int($2 / 1024) }' /proc/meminfo)
	echo $((mb / $1 > $2 ? mb / $1 : $2))
}

if [[ -e /proc/kcore ]]; then
	table=$(variable kw_table_budget)
	build=$(variable kw_build_budget)
	echo "# $(head -n 1 /proc/meminfo): tables may have $table bytes, compilations $build"
	ok "without a parameter tables may have a 64th of RAM, 64 MiB at least" [ "$table" = $(($(default 64 64) << 20)) ]
	ok "compilations a 16th, 256 MiB at least" [ "$build" = $(($(default 16 256) << 20)) ]
else
	skip "the default budgets" "this kernel has no /proc/kcore"
fi

# refused NAME=VALUE: it is not loaded.
refused() {
	fails modprobe kunwind "$1" && [[ ! -e /sys/module/kunwind ]]
}

# all_are VALUE: kunwind is loaded with it for all its parameters.
all_are() {
	local each
	reload "${parameters[@]/%/=$1}" || return
	for each in "${parameters[@]}"; do
		[[ $(<"/sys/module/kunwind/parameters/$each") == "$1" ]] || return
	done
}

# attach: a consumer does, and detaches.
attach() {
	modprobe kunwind-test &&
		echo 1 >/sys/module/kunwind_test/parameters/attach && echo 0 >/sys/module/kunwind_test/parameters/attach &&
		rmmod kunwind-test
}

modprobe -r kunwind-lttng kunwind
for value in -1 4294967296 all ''; do
	for name in "${parameters[@]}"; do
		ok "$name=$value is refused" refused "$name=$value"
	done
done
for value in 0 1 4294967295; do
	ok "all parameters are $value" all_are "$value"
	ok "$value: a stack is whole" "${whole[@]}"
	ok "$value: a consumer attaches" attach
	ok "$value: nothing is left" nothing_left
done

# python3 takes more than 2 MiB to compile. Others have all of the budget, of which a user has half.
ok "compilations may have 3 MiB" reload build_budget_mb=3
ok "root's python3 has a table" says "stop 1, frames" python3 -S "$SCRATCH/ask.py" own
ok "none was refused" [ "$(figure table_refusals)" = 0 ]
ok "nothing is left" nothing_left
ok "a user's has none, and he is told" says "stop 19, frames" "${nobody[@]}" python3 -S "$SCRATCH/ask.py" own
ok "it was refused" [ "$(figure table_refusals)" -gt 0 ]
ok "his smaller programs have one" "${nobody[@]}" "${whole[@]}"
ok "compilations may have 1 MiB" reload build_budget_mb=1
ok "root's python3 has none" says "stop 19, frames" python3 -S "$SCRATCH/ask.py" own
ok "nothing is left" nothing_left
ok "kunwind takes its own parameters again" reload
modprobe kunwind-lttng
done_testing
