#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR MIT
# kunwind-tracing is loaded and removed, and refused, while ftrace takes a user stack at each system call and another consumer
# has the whole system covered. Loading tries each redirect, and must not walk yet.
set -uo pipefail
# shellcheck source=tests/vm/lib/tap.sh
. "$TOP/tests/vm/lib/tap.sh"
# shellcheck source=tests/vm/lib/perf
. "$TOP/tests/vm/lib/perf"

tracing=/sys/kernel/tracing
parameters=/sys/module/kunwind_test/parameters

# busy: system calls, on all CPUs.
busy() {
	local cpu
	for ((cpu = 0; cpu < $(nproc); cpu++)); do
		dd if=/dev/zero of=/dev/null bs=1 count=1000000000 2>/dev/null &
		busy+=($!)
	done
}
busy=()

# loads COUNT: each succeeds.
loads() {
	local round
	for ((round = 0; round < $1; round++)); do
		modprobe kunwind-tracing && rmmod kunwind_tracing || return
	done
}

# refusals COUNT: each fails at the last redirect, and leaves none of the others.
refusals() {
	local round
	for ((round = 0; round < $1; round++)); do
		! modprobe kunwind-tracing 2>/dev/null && [[ ! -d /sys/module/kunwind_tracing && $(replaced) == put_callchain_buffers ]] || return
	done
}

# uses_event yes|no: the event kunwind:user_stack replaces a function while it is enabled, and only then.
uses_event() {
	local used=no
	[[ " $(replaced) " != *' arch_stack_walk_user '* ]] || used=yes
	echo "the event: $(<"$tracing/events/kunwind/user_stack/enable"); replaced: $(replaced)"
	[[ $used == "$1" ]]
}

# early: the kernel enables the event as the module comes, before the module's init.
early() {
	local round
	modprobe kunwind-tracing && uses_event yes || return
	for ((round = 0; round < 2; round++)); do
		echo 0 >"$tracing/events/kunwind/user_stack/enable" && uses_event no || return
		echo 1 >"$tracing/events/kunwind/user_stack/enable" && uses_event yes || return
	done
	rmmod kunwind_tracing && [[ ! $(replaced) ]]
}

recorded() {
	grep -q '=> ' "$tracing/trace"
}

ok "kunwind is loaded, kunwind-tracing is not" fresh
ok "so is kunwind-test" modprobe kunwind-test
ok "a consumer covers the system" sh -c "echo 1 >$parameters/attach"
busy
ok "ftrace takes user stacks" eval 'echo 1 >$tracing/options/userstacktrace && echo 1 >$tracing/events/raw_syscalls/sys_enter/enable'
ok "it has some" soon recorded
ok "kunwind-tracing is loaded and removed 4 times" loads 4
ok "another module replaces one of the functions" sh -c "echo put_callchain_buffers >$parameters/replace"
ok "kunwind-tracing is refused 4 times" refusals 4
ok "the function is the kernel's again" eval 'echo >$parameters/replace && [[ ! $(replaced) ]]'
ok "kunwind-tracing can be loaded" loads 1
echo 0 >"$tracing/events/raw_syscalls/sys_enter/enable"
echo 0 >"$tracing/options/userstacktrace"
kill "${busy[@]}"
wait
echo 0 >"$parameters/attach"
ok "kunwind-test goes" modprobe -r kunwind-test
if echo ':mod:kunwind_tracing' 2>/dev/null >>"$tracing/set_event"; then
	ok "kunwind-tracing is loaded while its events are wanted" early
	echo >"$tracing/set_event"
else
	skip "kunwind-tracing is loaded while its events are wanted" "this kernel knows no events of modules to come"
fi
ok "the modules are as before" restore
done_testing
