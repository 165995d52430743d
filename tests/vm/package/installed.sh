#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR MIT
# In a system where apt has installed the packages: perf, LTTng and bpftrace have whole stacks, and the command works.
set -uo pipefail
# shellcheck source=tests/vm/lib/tap.sh
. "$TOP/tests/vm/lib/tap.sh"
# shellcheck source=tests/vm/lib/perf
. "$TOP/tests/vm/lib/perf"

suite=$(. /etc/os-release && echo "$VERSION_CODENAME")
deep=(python3 -S "$TOP/tests/subjects/deep.py" "$SCRATCH/map" 0.5)

# timed WHAT COMMAND...: prints how long it took.
timed() {
	local what=$1 begun=$EPOCHREALTIME status=0
	shift
	"$@" || status=$?
	echo "# time: $what took $((${EPOCHREALTIME/[.,]/} / 1000 - ${begun/[.,]/} / 1000)) ms in the guest" >&2
	return "$status"
}

recorded() {
	cpu_clock "$SCRATCH/perf" "${deep[@]}" >"$SCRATCH/perf.said" 2>&1
}

whole_trace() {
	babeltrace2 "$SCRATCH/trace" | "$TOP/tests/oracles/check-complete" /bin/ls ls
}

# bpftrace looks up the files of a stack when it prints: the program lives until then.
sampled() {
	local pid python
	python3 -S "$TOP/tests/subjects/deep.py" "$SCRATCH/map" 600 </dev/null &
	python=$!
	bpftrace -B line -e 'profile:hz:99 /comm == "python3"/ { @[comm, pid, tid, ustack(perf)] = count() }
		interval:ms:200 { printf("begun\n") }' >"$SCRATCH/samples" 2>&1 </dev/null &
	pid=$!
	soon grep -q begun "$SCRATCH/samples"
	sleep 2
	kill -INT "$pid"
	wait "$pid"
	kill "$python"
	wait "$python"
	"$TOP/tests/oracles/check-bpftrace" --least 90 --stacks 20 <"$SCRATCH/samples"
}

# upgraded: apt replaces the packages of the modules while perf records, and a program starts after that. To build modules takes a quarter
# of an hour here, so DKMS is told not to.
upgraded() {
	touch /etc/dkms/no-autoinstall
	begin_perf -e cpu-clock -F 97 -g -o "$SCRATCH/upgraded" && dpkg --install "$TOP/build/package-$suite"/kunwind-dkms_*.deb &&
		"${deep[@]}" </dev/null
	local status=$?
	stop && return "$status"
}

says() {
	grep -F -- "$1" <<<"$("${@:2}" 2>&1)"
}

modprobe -r kunwind-lttng kunwind-tracing kunwind 2>/dev/null
# The second and the third of three commands; the first is apt's.
timed "modprobe kunwind-tracing" modprobe kunwind-tracing
timed "perf record -g, of a program of half a second" recorded
judged "perf's stacks are whole" "$SCRATCH/perf" --comm python3 --least 99 --stacks 50
ok "kunwind status finds kunwind-tracing" says "loaded" kunwind status
ok "kunwind stack is complete" kunwind stack
ok "kunwind --version and modinfo name one version" test "$(kunwind --version)" = "kunwind $(modinfo -F version kunwind)"
ok "babeltrace2 finds the plugin" says kunwind babeltrace2 list-plugins
ok "the manuals are there" test -e /usr/share/man/man7/kunwind.7.gz -a -e /usr/share/man/man1/kunwind.1.gz
if command -v bpftrace >/dev/null; then
	ok "bpftrace's stacks are whole" sampled
else
	skip "bpftrace's stacks are whole" "there is no bpftrace"
fi
ok "modprobe kunwind-lttng" modprobe kunwind-lttng
ok "LTTng records" "$TOP/vm/record" "$SCRATCH/trace" -- ls -l /usr/bin
ok "LTTng's stacks are whole" whole_trace
ok "kunwind trace shows ls" says getdents64 kunwind trace -o "$SCRATCH/shown" -- ls /
kunwind status >&2
ok "kunwind status: LTTng is ready" says "its session daemon runs, and you may trace" kunwind status
ok "the modules can be removed" modprobe -r kunwind-lttng kunwind-tracing kunwind
modprobe kunwind-tracing
ok "the packages are replaced while perf records" upgraded
judged "perf's stacks are whole, also later" "$SCRATCH/upgraded" --comm python3 --least 99 --stacks 10
ok "the modules that were loaded can be removed" rmmod kunwind-tracing kunwind
done_testing
