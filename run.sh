#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR MIT
# The front door of kunwind: sets everything up, traces programs, runs commands and tests, in a guest with a stock kernel.
set -euo pipefail

KUW_TOP=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")" && pwd -P)
KUW_BUILD=$KUW_TOP/build
KUW_CACHE=${KUNWIND_CACHE:-$KUW_BUILD/cache}
KUW_CHILD=
KUW_JOB=
KUW_TIMEOUT=900
KUW_CPUS=2
KUW_MEMORY=2G
KUW_LOAD=yes
KUW_EVENTS=()
KUW_NATIVE=
kernel=6.12
# shellcheck source=tests/vm/lib/say.sh
. "$KUW_TOP/tests/vm/lib/say.sh"
# shellcheck source=tests/vm/lib/host.sh
. "$KUW_TOP/tests/vm/lib/host.sh"
# shellcheck source=tests/vm/lib/root.sh
. "$KUW_TOP/tests/vm/lib/root.sh"
# shellcheck source=tests/vm/lib/module.sh
. "$KUW_TOP/tests/vm/lib/module.sh"
# shellcheck source=tests/vm/lib/guest.sh
. "$KUW_TOP/tests/vm/lib/guest.sh"
# shellcheck source=tests/vm/lib/native.sh
. "$KUW_TOP/tests/vm/lib/native.sh"
# shellcheck source=tests/vm/lib/trace.sh
. "$KUW_TOP/tests/vm/lib/trace.sh"
# shellcheck source=tests/vm/lib/test.sh
. "$KUW_TOP/tests/vm/lib/test.sh"

usage() {
	cat <<'END'
usage: ./run.sh                         trace the demo program and a stripped /bin/ls, print the view
       ./run.sh trace [opts] -- CMD ... trace CMD; stdout is babeltrace2's text and nothing else; exit status is CMD's
       ./run.sh exec  [opts] -- CMD ... run CMD in the guest
       ./run.sh test  [host|vm|all]     the tests; the last line is `N passed, N failed`
       ./run.sh shell                   an interactive guest; leave it with `exit`
       ./run.sh setup                   only set up what the others need

A guest is a virtual machine (qemu, no KVM needed) with Debian's stock kernel and LTTng, kunwind's modules loaded and
lttng-sessiond running. CMD runs as root, in the same directory of this repository as here; the repository is visible there,
and writable under build/ only. Its stdin is empty; stdout, stderr and exit status are its own. Every guest is new: what CMD
changes outside build/ is gone afterwards.

options:
  --event NAME    trace this tracepoint or system call instead of all system calls; may be repeated
  --kernel 6.12   the guest's kernel
  --native        use this machine's kernel instead of a guest; asks first
  --no-module     do not load kunwind's modules
  --timeout S     stop CMD after S seconds (900; 0: never)
  --help          this

exit status beside CMD's: 124 after the timeout, 125 if kunwind's own set-up failed, 130 after Ctrl-C.

All that is downloaded or built lands in build/; what can be used again in build/cache, or $KUNWIND_CACHE.
END
}

# Ends what runs and leaves nothing half-made: what is unfinished has another name until it is done.
clean_up() {
	local status=$?
	trap '' INT TERM
	stop_child
	test_ended
	native_unload
	job_clean
	exit "$status"
}
trap clean_up EXIT
trap 'say "interrupted"; exit 130' INT
trap 'exit 143' TERM

# setup: makes what is missing, and nothing else.
setup() {
	if [[ $KUW_NATIVE ]]; then
		native_setup
		return
	fi
	host_needs "$KUW_NEED_GUEST"
	mkdir -p "$KUW_CACHE"
	kernel_select "$kernel"
	# One set-up at a time: others wait for what it makes.
	exec {lock}>"$KUW_CACHE/lock"
	flock --nonblock "$lock" || {
		say "waiting for another set-up in $KUW_CACHE"
		flock "$lock"
	}
	root_ready
	if [[ $KUW_LOAD ]]; then
		module_ready
		KUW_LOAD=$KUW_MODULE
		[[ -e $KUW_MODULE/stamp ]] || KUW_LOAD=
	fi
	exec {lock}>&-
}

# run_batch DIRECTORY COMMAND...: there, in a guest or here.
run_batch() {
	if [[ $KUW_NATIVE ]]; then
		native_run "$@"
	else
		guest_run batch "$@"
	fi
}

main() {
	local job=$1 words=()
	shift
	while (($#)); do
		case $1 in
		--kernel) kernel=${2?"--kernel needs a version"} && shift ;;
		--timeout) KUW_TIMEOUT=${2?"--timeout needs seconds"} && shift ;;
		--event) KUW_EVENTS+=("${2?"--event needs a name"}") && shift ;;
		--no-module) KUW_LOAD= ;;
		--native) KUW_NATIVE=yes ;;
		--help | -h) usage && exit 0 ;;
		--) shift && words=("$@") && break ;;
		-?*) die 125 "unknown option $1" "./run.sh --help tells the options" ;;
		*) words=("$@") && break ;;
		esac
		shift
	done
	case $job in
	main)
		((${#words[@]} == 0)) || die 125 "what is ${words[0]}?" "./run.sh --help tells the jobs"
		setup
		main_job
		;;
	test)
		[[ -z $KUW_NATIVE ]] || die 125 "tests run in a guest only: they load, break and remove modules"
		test_job "${words[@]}"
		;;
	exec)
		((${#words[@]})) || die 125 "exec needs a command" "for example: ./run.sh exec -- uname -a"
		setup
		run_batch "$(guest_directory)" "${words[@]}"
		;;
	trace)
		((${#words[@]})) || die 125 "trace needs a command" "for example: ./run.sh trace -- ls -l"
		setup
		trace_job "${words[@]}"
		;;
	setup) setup ;;
	shell)
		[[ -z $KUW_NATIVE ]] || die 125 "you have a shell of this machine already" "use ./run.sh exec --native -- CMD"
		setup
		[[ -t 0 ]] || die 125 "shell needs a terminal" "without one, use ./run.sh exec -- CMD"
		KUW_TIMEOUT=0 guest_run shell "$(guest_directory)"
		;;
	esac
}

case ${1-} in
--help | -h) usage && exit 0 ;;
trace | exec | test | shell | setup) ;;
'' | -*) set -- main "$@" ;;
*) die 125 "unknown job $1" "./run.sh --help tells the jobs" ;;
esac
become_root "$@"
main "$@"
