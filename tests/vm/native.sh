#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR MIT
# run.sh --native, where it may load modules: it asks first, traces with the kernel it runs on, and removes what it loaded.
#
# The modules, the command and the demo are those of this guest: to build them here would take minutes.
set -uo pipefail
# shellcheck source=tests/vm/lib/tap.sh
. "$TOP/tests/vm/lib/tap.sh"

copy=$SCRATCH/kunwind

# prepare: a repository whose build folder can be written, with modules and command in it as if --native had built them.
prepare() {
	mkdir -p "$copy/tests" || return
	cp -r -t "$copy" "$TOP"/{run.sh,configure.ac,Makefile.am,Kbuild,core,kmod,include,lttng-integration,vm,babeltrace,libkunwind,port,tools} &&
		cp -r -t "$copy/tests" "$TOP"/tests/{subjects,jobs} || return
	# shellcheck disable=SC2034
	(
		TOP_DIR=$copy BUILD_DIR=$copy/build CACHE_DIR=$copy/build/cache VM_MORE_MODULES=()
		for each in vm/{say,module,native,sources,trace} tests/jobs/subjects; do
			# shellcheck source=/dev/null
			. "$copy/$each.sh"
		done
		native_select
		mkdir -p "$LTTNG_DIR" "$MODULE_DIR/src/lttng-integration"
		: >"$CACHE_DIR/lock"
		native_lttng_stamp >"$LTTNG_DIR.stamp"
		native_module_stamp >"$MODULE_DIR/stamp"
		cp "$(modinfo -n kunwind)" "$MODULE_DIR/src/" &&
			cp "$(modinfo -n kunwind-lttng)" "$MODULE_DIR/src/lttng-integration/" || exit
		NATIVE=yes
		mkdir -p "$(built_folder)/source"/{tools/kunwind,babeltrace}
		cp "$BUILT/demo" "$(built_folder)/" && subjects_stamp >"$(built_folder)/subjects.stamp" &&
			cp "$BUILT/source/tools/kunwind/kunwind" "$(built_folder)/source/tools/kunwind/" &&
			cp -r "$BUILT/source/babeltrace/.libs" "$(built_folder)/source/babeltrace/" && tools_stamp >"$(built_folder)/tools.stamp"
	)
}

loaded() {
	grep -q '^kunwind' /proc/modules
}

# answered ANSWER COMMAND: on a terminal, where a person types that.
answered() {
	echo "$1" | script --quiet --return --command "cd '$copy' && $2" /dev/null
}

# interrupted COMMAND WORD: as answered, by a person who types Ctrl-C once there is a process with that word in its arguments.
interrupted() {
	{
		echo y
		for _ in {1..300}; do
			! pgrep -f "^sleep $2" >/dev/null || break
			sleep 0.2
		done
		printf '\003'
		sleep 1
	} | script --quiet --return --command "cd '$copy' && $1" /dev/null
}

# gives STATUS COMMAND...: it ends with that status.
gives() {
	local status=0 wanted=$1
	shift
	"$@" || status=$?
	((status == wanted)) || {
		echo "status $status, not $wanted"
		return 1
	}
}

compare() {
	"$TOP/tests/oracles/check-complete" /bin/ls ls <"$SCRATCH/view"
}

ok "a copy of the repository" prepare
ok "kunwind that is loaded already is left alone" gives 125 answered y './run.sh --native exec -- true'
ok "it is still loaded" loaded
modprobe -r kunwind-lttng kunwind
ok "without a terminal nothing is loaded" gives 125 "$copy/run.sh" --native exec -- true
ok "after a no nothing is loaded" gives 125 answered n './run.sh --native exec -- true'
ok "the device is there for the command, and its status is returned" gives 7 answered y './run.sh exec --native -- sh -c "test -c /dev/kunwind && exit 7"'
ok "the modules are gone" fails loaded
ok "a command that takes too long is stopped" gives 124 answered y './run.sh exec --native --timeout 3 -- sh -c "sleep 4321 & wait"'
ok "and its children, too" fails pgrep -f 'sleep 4321'
ok "Ctrl-C ends it as well" gives 130 interrupted './run.sh exec --native -- sh -c "sleep 4322 & wait"' 4322
ok "and its children" fails pgrep -f 'sleep 4322'
ok "ls is traced" answered y "./run.sh --native trace --raw -- ls -l / >'$SCRATCH/view'"
ok "every system call has a whole stack" compare
# Without a session daemon it starts one, and ends it.
pkill -x lttng-sessiond
while pgrep -x lttng-sessiond >/dev/null; do sleep 0.2; done
ok "the main job" answered y "./run.sh --native >'$SCRATCH/main'"
ok "shows both programs" sh -c "grep -q ' demo\[[0-9]*\] ' '$SCRATCH/main' && grep -q ' ls\[[0-9]*\] getdents64(' '$SCRATCH/main'"
ok "the session daemon is gone" fails pgrep -x lttng-sessiond
ok "the modules are gone again" fails loaded
ok "tests are for guests" gives 125 "$copy/run.sh" test --native
lttng-sessiond --daemonize --quiet
done_testing
