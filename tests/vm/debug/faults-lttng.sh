#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR MIT
# As faults.sh, for what kunwind-lttng itself allocates: a session with the context is made, and each allocation fails once. The session daemon
# asks for it, in a thread of its own.
set -uo pipefail
# shellcheck source=tests/vm/lib/tap.sh
. "$TOP/tests/vm/lib/tap.sh"
# shellcheck source=tests/vm/lib/figures
. "$TOP/tests/vm/lib/figures"

lttng destroy --all >/dev/null 2>&1
[[ -e /proc/self/fail-nth ]] || skip_all "this kernel has no fault injection: ./run.sh test debug"

# code_of MODULE: where its code begins and ends.
code_of() {
	local start
	start=$(<"/sys/module/$1/sections/.text")
	printf '%s 0x%x\n' "$start" "$((start + $(<"/sys/module/$1/coresize")))"
}

# limit KIND FILE VALUE
limit() {
	if [[ -e /sys/kernel/debug/$1/$2 ]]; then
		echo "$3" >"/sys/kernel/debug/$1/$2"
	fi
}

# What kunwind allocates for it is in faults.sh.
filter() {
	local each from to but_from but_to
	read -r from to < <(code_of kunwind_lttng)
	read -r but_from but_to < <(code_of kunwind)
	for each in failslab fail_page_alloc fail_usercopy; do
		limit "$each" verbose 0
		limit "$each" require-start "$from"
		limit "$each" require-end "$to"
		limit "$each" reject-start "$but_from"
		limit "$each" reject-end "$but_to"
		limit "$each" stacktrace-depth 32
		limit "$each" ignore-gfp-wait 0
		limit "$each" ignore-gfp-highmem 0
		limit "$each" min-order 0
	done
}

# arm NTH: in each thread of the session daemon. What is left over is that of threads that allocated less.
arm() {
	local each
	for each in /proc/"$daemon"/task/*/fail-nth; do
		echo "$1" >"$each"
	done
}

# Whether one has failed since.
has_failed() {
	local each
	for each in /proc/"$daemon"/task/*/fail-nth; do
		[[ $(<"$each") != 0 ]] || return 0
	done
	return 1
}

session() {
	lttng create faults --output="$SCRATCH/trace" && lttng enable-event --kernel --syscall getppid && lttng add-context --kernel --type=callstack-user &&
		lttng start
}

# survived NTH: without a fault it works; with one it may have to be given up. $hit says which.
survived() {
	local status=0
	arm "$1"
	session >"$SCRATCH/said" 2>&1 || status=$?
	hit=
	if has_failed; then
		hit=yes
	fi
	arm 0
	lttng destroy --all >/dev/null 2>&1
	rm -rf -- "$SCRATCH/trace"
	[[ $status == 0 || $hit ]] || cat "$SCRATCH/said"
	[[ ($status == 0 || $hit) && -d /proc/$daemon ]]
}

daemon=$(pgrep -o -x lttng-sessiond)
ok "the session daemon is there" test "$daemon"
filter
faults=0
works=yes
while ((faults < 200)); do
	survived "$((faults + 1))" || works=
	[[ $works && $hit ]] || break
	faults=$((faults + 1))
done
ok "a session with user callstacks: each of $faults fails once, and it works without" test "$works" = yes -a "$hit" = "" -a "$faults" -ge 9
ok "then one works" session
ok "and is destroyed" lttng destroy --all
ok "nothing is left" nothing_left
done_testing
