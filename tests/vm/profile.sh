#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR MIT
# kunwind profile: how long a program runs, next to what the kernel accounts, and its stacks, next to what its source says.
set -uo pipefail
# shellcheck source=tests/vm/lib/tap.sh
. "$TOP/tests/vm/lib/tap.sh"

kunwind=$BUILT/source/tools/kunwind/kunwind
rate=/sys/module/kunwind_lttng/parameters/sample_hz
export BABELTRACE_PLUGIN_PATH=$BUILT/source/babeltrace/.libs
cd "$SCRATCH" || exit

# It spins below calls of its own until two seconds of CPU time are over, by ticks. The last line of took then says for how long it ran, by
# the scheduler's clock, in user mode and in the kernel.
spin() {
	(ulimit -t 2 && exec "$BUILT/busy")
	times >took
}
export -f spin
export BUILT

profiled() {
	"$kunwind" profile -o busy -- bash -c 'spin; true' >shown 2>said
	cat shown said
	grep -q 'events; .* % of stacks whole' shown && grep -q 'flame.html' said && [[ -s busy/flame.html ]]
}

# What the scheduler accounts. A machine that does other work takes timers from the guest: there are fewer samples then, and ticks.
time_is_accounted() {
	local ns
	ns=$("$kunwind" report --folded --count=time busy 2>/dev/null | awk '/^busy;/ { sum += $NF } END { print sum }')
	tail -n 1 took | tr 'ms' '  ' | awk -v ns="$ns" '{
		ran = (60 * ($1 + $3) + $2 + $4) * 1e9
		print ns " of " ran " ns"
		exit !(ran > 1.5e9 && ns > 0.5 * ran && ns < 1.3 * ran) }'
}

# A debug kernel makes much of a short program's begin and end. There is no stack for longer between two programs: in begin_new_exec(), and in
# what load_elf_binary() calls after it. Before it, the last program's stack is still there.
ends='^$' between='^$'
if [[ -e /sys/kernel/debug/kmemleak ]]; then
	ends='(execve|do_exit)_[[]k[]]' between='[[]truncated: CONTEXT[]];.*;load_elf_binary_[[]k[]]'
	between+=';(begin_new_exec|setup_new_exec|setup_arg_pages|elf_load|vm_brk_flags|rep_stos_alternative|create_elf_tables)_[[]k[]];'
fi

# Five calls of one function, below main and libc's, are what the source says; an interrupt can come on top. The rest is its start and end.
stacks_are_right() {
	"$kunwind" report --folded busy 2>/dev/null | grep '^busy;' >folded
	sort -t' ' -k2 -rn folded | awk -v ends="$ends" '$0 ~ ends { next } { all += $NF }
		/^busy;_start;__libc_start_main;__libc_start_call_main;main;descend;descend;descend;descend;descend;spin;([^;]*_\[k\];)*on-CPU / { right += $NF; next }
		n++ < 30
		END { print right " of " all; exit !(all && right > 0.9 * all) }'
}

# A page of a stack can be gone for a moment, as while it is copied after a fork.
whole() {
	"$kunwind" report --folded busy 2>/dev/null | awk -v between="$between" '$0 ~ between { next } { all += $NF } /\[truncated/ { cut += $NF; print } END { exit !(all && cut < 0.02 * all) }'
}

# The kernel clears memory for a read of /dev/zero: its frames are above the program's, from the entry of the system call on. An unwinder by
# frame pointers, as in a debug kernel, leaves out the caller of a function without a frame.
of_the_kernel() {
	"$kunwind" profile -F 997 --folded -o zero -- dd if=/dev/zero of=/dev/null bs=4M count=400 >folded 2>said || { cat said; return 1; }
	grep '^dd;' folded | sort -t' ' -k2 -rn | head -n 3
	awk '!/^dd;.*_\[k\];.*on-CPU/ { next } { all += $NF } /;entry_SYSCALL_64_after_hwframe_\[k\];.*(read_zero|read_iter_zero|vfs_read_\[k\];rep_stos_alternative)_\[k\];/ { right += $NF }
		/(hrtimer_interrupt|perf_swevent_hrtimer|lttng)/ { interrupts += $NF }
		END { print right " of " all ", " interrupts + 0 " of interrupts"; exit !(all > 20 && right > 0.8 * all && interrupts < 0.05 * all) }' folded
}

# A command that sleeps and one that runs, in one picture.
both() {
	"$kunwind" profile --off-cpu --folded --count=time -o both -- bash -c 'spin; sleep 1.5' >shown 2>said
	cat said
	grep '^sleep;.*;off-CPU' shown && grep '^busy;.*;on-CPU' shown
}

# Twenty samples a second, then two hundred: ten times as many.
rates() {
	local hz few many
	for hz in 20 200; do
		"$kunwind" profile -F "$hz" --no-view -o "at-$hz" -- bash -c 'spin; true' 2>said || { cat said; return 1; }
	done
	few=$(babeltrace2 at-20 | grep -c 'cpu_sample: .*procname = "busy"')
	many=$(babeltrace2 at-200 | grep -c 'cpu_sample: .*procname = "busy"')
	echo "$few, $many"
	((few > 10 && many > 5 * few && many < 15 * few))
}

refused() {
	local status
	lttng create first --output="$SCRATCH/first" >/dev/null && lttng enable-event --kernel cpu_sample && lttng add-context --kernel --type=callstack-user &&
		lttng start || return
	"$kunwind" profile -F 997 -o none -- true 2>said
	status=$?
	cat said
	echo 0 >/sys/devices/system/cpu/cpu1/online
	"$BUILT/busy" &
	taskset -p 1 $! >/dev/null
	sleep 1
	echo 1 >/sys/devices/system/cpu/cpu1/online
	taskset -p 2 $! >/dev/null
	sleep 1
	kill $!
	modprobe -r kunwind-lttng && return 1
	lttng destroy first
	((status == 1)) && grep -q 'another profile is being recorded' said
}

both_cpus() {
	babeltrace2 first | grep -o 'cpu_sample: { cpu_id = [01] }' | sort | uniq -c | tee counts
	(($(wc -l <counts) == 2))
}

ok "a program is sampled" profiled
ok "for as long as it runs" time_is_accounted
ok "its stacks are those of its source" stacks_are_right
ok "and whole" whole
ok "the kernel's stack is whole, too" of_the_kernel
ok "what waits and what runs" both
ok "the rate is what is asked for" rates
ok "another rate meanwhile" refused
ok "a CPU that goes and comes" both_cpus
ok "the rate is as it was set" test "$(<$rate)" = 200
ok "a rate that is none" fails sh -c "echo 0 >$rate"
ok "--delay and --duration" timeout 120 "$kunwind" profile --delay 1 --duration 2 --no-view -o later
ok "a process that runs already" sh -c '"$BUILT/busy" & "$1" profile -p $! --duration 2 --folded -o running | grep "^busy;.*on-CPU"; status=$?; kill $!; exit $status' sh "$kunwind"
# python_named OPTION FILE: Python writes down where each of its functions has code, and each is a frame of its own.
python_named() {
	printf 'def inner(n):\n    return sum(i * i for i in range(n))\n\ndef outer(n):\n    return [inner(n) for _ in range(n)]\n\nouter(1200)\n' >named.py
	"$kunwind" profile --folded -o "named-$1" -- python3 -X "$1" named.py >folded 2>said
	cat said
	ls "named-$1/jit"
	compgen -G "named-$1/jit/$2" || return
	grep -o 'py::outer:[^;]*;py::[^;]*\[jit\]\|py::outer:[^;]*' folded | sort | uniq -c | head -n 5
	grep -q 'py::outer:.*;py::inner:' folded
}
# named NAME VERSION OPTION FILE: since Python 3.VERSION.
named() {
	if python3 -c "import sys; sys.exit(sys.version_info < (3, $2))"; then
		ok "$1" python_named "$3" "$4"
	else
		skip "$1" "Python writes none before 3.$2"
	fi
}
named "names of compiled code" 12 perf "perf-*.map"
named "names of compiled code, in a jitdump" 13 perf_jit "jit-*.dump"

# linked_out: what another folder has is nobody's names of compiled code, whatever a link in /tmp says.
linked_out() {
	# shellcheck disable=SC2016
	"$kunwind" profile --no-view -o linked -- sh -c 'echo "1000 10 secret" >other; ln -s "$PWD/other" "/tmp/perf-$$.map"; echo "2000 10 open" >"/tmp/perf-1$$.map"' || return
	cat linked/jit/perf-* | tee names
	grep -q open names && ! grep -q secret names
}
ok "a link in /tmp to another folder" linked_out

# too_large: a recording says what it leaves out.
too_large() {
	# shellcheck disable=SC2016
	"$kunwind" profile --no-view -o large -- sh -c 'truncate -s 65M "/tmp/perf-$$.map"' 2>said || return
	cat said
	grep -q 'names of compiled code are missing, of process [0-9]* at least: a process may have 64 MB' said
}
ok "a file of names that is too large" too_large

# held_up: a process whose /tmp never answers holds up nobody else's recording.
held_up() {
	"$TOP/tests/subjects/silent-tmp.py" >mounted &
	local silent=$! status=0
	until grep -q mounted mounted; do kill -0 "$silent" || return; sleep 0.1; done
	timeout 120 "$kunwind" profile --no-view -o silent -- true 2>said || status=$?
	kill "$silent"
	cat said
	((!status)) && grep -q 'does not answer' said
}
[[ -e /dev/fuse ]] || modprobe fuse
ok "a server that never answers" held_up
ok "no session is left" fails sh -c 'lttng list | grep kunwind-'
ok "the modules can be removed" modprobe -r kunwind-lttng kunwind
done_testing
