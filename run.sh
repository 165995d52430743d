#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR MIT
# The front door of kunwind: sets everything up, traces programs, runs commands and tests, in a guest with a stock kernel.
set -euo pipefail

# Globals of all parts start with what they belong to: VM_ the guest, KERNEL_ the kernel of the job, JOB_ the job, RUN_ this script,
# STEP_ a long step, NEED_ what this machine must have, TRACE_, TEST_, BENCH_ and NATIVE_ those jobs and that option.
TOP_DIR=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")" && pwd -P)
BUILD_DIR=$TOP_DIR/build
CACHE_DIR=$(realpath -m -- "${KUNWIND_CACHE:-$BUILD_DIR/cache}")
CACHE_USE=
CACHE_LOCK=
# What guests write. Nothing that they have written here is started by this machine.
GUEST_DIR=$BUILD_DIR/guest
RUN_CHILD=
JOB_DIR=
JOB_TIMEOUT=900
VM_CPUS=2
VM_MEMORY=2G
VM_ICOUNT=
VM_THREADS=single
VM_STEP=
VM_DISK=
VM_FIRMWARE=
VM_PROGRAMS=
VM_TOGETHER=
VM_TOOLS=
# shellcheck disable=SC2034
VM_MORE_MODULES=(tests/module)
MODULE_LOAD=yes
TRACE_RECORD=()
TRACE_VIEW=()
TRACE_FILE=
NATIVE=
BENCH_QUICK=
kernel=6.12
# What is made here can be read by all users, of the guest, too: tests run as some of them.
umask 022
# Neither a user of Debian nor root after `su` finds mke2fs without.
PATH=$PATH:/usr/sbin:/sbin
# shellcheck source=vm/say.sh
. "$TOP_DIR/vm/say.sh"
# shellcheck source=vm/host.sh
. "$TOP_DIR/vm/host.sh"
# shellcheck source=vm/root.sh
. "$TOP_DIR/vm/root.sh"
# shellcheck source=vm/kernel.sh
. "$TOP_DIR/vm/kernel.sh"
# shellcheck source=vm/module.sh
. "$TOP_DIR/vm/module.sh"
# shellcheck source=vm/firmware.sh
. "$TOP_DIR/vm/firmware.sh"
# shellcheck source=vm/guest.sh
. "$TOP_DIR/vm/guest.sh"
# shellcheck source=vm/native.sh
. "$TOP_DIR/vm/native.sh"
# shellcheck source=vm/sources.sh
. "$TOP_DIR/vm/sources.sh"
# shellcheck source=vm/package.sh
. "$TOP_DIR/vm/package.sh"
# shellcheck source=vm/trace.sh
. "$TOP_DIR/vm/trace.sh"
# shellcheck source=tests/jobs/needs.sh
. "$TOP_DIR/tests/jobs/needs.sh"
# shellcheck source=tests/jobs/subjects.sh
. "$TOP_DIR/tests/jobs/subjects.sh"
# shellcheck source=tests/jobs/demo.sh
. "$TOP_DIR/tests/jobs/demo.sh"
# shellcheck source=tests/jobs/test.sh
. "$TOP_DIR/tests/jobs/test.sh"
# shellcheck source=tests/jobs/others.sh
. "$TOP_DIR/tests/jobs/others.sh"
# shellcheck source=tests/jobs/package.sh
. "$TOP_DIR/tests/jobs/package.sh"
# shellcheck source=tests/jobs/fetch-sources.sh
. "$TOP_DIR/tests/jobs/fetch-sources.sh"
# shellcheck source=tests/jobs/peers.sh
. "$TOP_DIR/tests/jobs/peers.sh"
# shellcheck source=tests/jobs/fred.sh
. "$TOP_DIR/tests/jobs/fred.sh"
# shellcheck source=tests/jobs/bench.sh
. "$TOP_DIR/tests/jobs/bench.sh"

usage() {
	cat <<'END'
./run.sh traces programs, runs commands and runs tests in a virtual machine, the guest. For example:

  ./run.sh                              traces two programs, and prints their call stacks
  ./run.sh trace -- ls -l /usr/bin      traces your own program
  ./run.sh test                         runs the tests of every day

usage: ./run.sh [JOB] [OPTION...] [-- CMD...]

jobs:
  ./run.sh                     trace a demo program, a stripped /bin/ls, and Python under perf; print the results
  ./run.sh trace -- CMD ...    trace CMD. On a terminal, print one screen: what it called, and the stacks that cost most; elsewhere,
                               each call with its stack. Standard output is that and nothing else. The exit status is CMD's
  ./run.sh exec -- CMD ...     run CMD in a guest
  ./run.sh shell               work in a guest; `exit` ends it
  ./run.sh setup               make what the other jobs need, and nothing else
  ./run.sh package             build packages for Debian 13 into build/packages; with --kernel 6.1, for Debian 12
  ./run.sh test [host|vm|all]  run the tests: on this machine, in guests, or both. The last line is `N passed, N failed`
  ./run.sh test vm NAME.sh ... run some tests of tests/vm
  ./run.sh bench [host|vm|all] measure what walks, tables and traces cost, next to other tools

long tests:
  ./run.sh test others         run perf, a short storm and an unload on each of Debian's other kernels, without LTTng; part of test
  ./run.sh test kernels        run a trace, an attach, perf, a storm and an unload on each of Debian's kernels; print a table
  ./run.sh test package        install, use and purge the packages in fresh Debian 12 and 13, also with another kernel and with Secure Boot
  ./run.sh test debug          the guest tests and fault injection, with a debug kernel (KASAN, lockdep, kmemleak)
  ./run.sh test rows [N]       compare the tables of all files, here and in the guest, with libdwarf (or 1 in N FDEs)
  ./run.sh test steps [MAX]    compare the walk with a shadow stack, at each of MAX instructions of real programs
  ./run.sh test live           compare LTTng's stacks of real programs with strace's and eu-stack's (30 minutes)
  ./run.sh test perf           run perf, bpftrace and LTTng together, and the recipes of Documentation/tracing.md (30 minutes)
  ./run.sh test hostile-traces read traces and files that are made to hang, crash or fill the reader (5 minutes, on this machine)
  ./run.sh test formats        read timelines and profiles with other programs, Perfetto's importer too (an hour, then 5 minutes)
  ./run.sh test names          compare the names in more than 1,000 stacks with gdb's
  ./run.sh test nmi            walk in 10,000 NMIs a second, and in NMIs at each instruction of the kernel's entry code
  ./run.sh test fred           walk in NMIs and system calls of CPUs with FRED, which Bochs emulates; downloads its source
  ./run.sh test endurance      walk in ten million NMIs of a debug kernel, and load kunwind-tracing 10,000 times (7 hours)
  ./run.sh test smp            run storms and NMIs in a guest whose CPUs run at the same time
  ./run.sh test soak [MINUTES] start and end processes, libraries and mappings for 30 minutes
  ./run.sh test peers          run the tests of libunwind, GCC and elfutils with kunwind's stacks; downloads their sources

options of kunwind trace and kunwind report, for the job trace (`man kunwind` explains them):
  --event NAME    trace this tracepoint or system call, not all system calls. `*` matches any characters; may be repeated
  --kernel-stack  record the kernel's stacks, too
  --full          print each call with its stack, in a pager. Likewise: --summary, --top, --folded, --raw (babeltrace2's lines)
  --flame FILE    write flame graphs, as one page of HTML. Likewise: --perfetto FILE, a timeline; --pprof FILE, --speedscope FILE
  --filter REGEX  show events only whose name, process, or a function or module of whose stack matches
  --max-stack N   show N frames of a stack at most
  --count WHAT    for --folded, --flame and --speedscope: events or time

options:
  --kernel NAME   choose the guest's kernel: 6.12 (Debian 13's, the default), 6.12-rt, 6.12-cloud, 6.1 (Debian 12's) or 7.3
                  (trixie-backports'). 6.12-debug is 6.12 from source, with all checks on
  --native        use this machine's kernel, not a guest. It asks first; not for test, bench and shell
  --no-module     do not load kunwind's modules
  --quick         for bench: take a tenth of the time. The figures are too rough to compare
  --timeout S     stop CMD after S seconds (default 900; 0: never)
  --help          print this

The guest needs no KVM. It has Debian's stock kernel and LTTng, with kunwind's modules loaded and lttng-sessiond running. CMD runs
as root, in the same directory of this repository as here. It can read the repository, and write into build/guest. Its standard input
is empty. Each guest is new: changes outside build/guest are lost.

exit status: CMD's; 124 after the timeout; 125 if kunwind's own set-up failed; 130 after Ctrl-C.

run.sh needs root. Without it, run.sh starts itself again through sudo. `test host`, `test hostile-traces`, `test formats` and `bench host`
need root only to install missing packages.

All files are made below build/. Downloads are kept in build/cache, or in $KUNWIND_CACHE. `sudo rm -rf build` removes everything, except
packages that were missing here and, after --native, lttng-modules below /lib/modules.
END
}

# Ends what runs and leaves nothing half-made: what is unfinished has another name until it is done.
clean_up() {
	local status=$?
	# Nothing may keep it from the rest: neither a failure, nor a terminal or a reader that is gone.
	set +e
	trap '' INT TERM HUP PIPE
	stop_lanes
	stop_child
	test_ended
	native_unload
	job_clean
	give_back
	exit "$status"
}
trap clean_up EXIT
trap 'say "interrupted"; exit 130' INT
trap 'exit 143' TERM

# setup: makes what is missing, and nothing else.
setup() {
	if [[ $NATIVE ]]; then
		native_setup
		return
	fi
	kernel_select "$kernel"
	cache_lock
	root_ready
	if [[ $MODULE_LOAD ]]; then
		module_ready
		MODULE_LOAD=$MODULE_DIR
		[[ -e $MODULE_DIR/stamp ]] || MODULE_LOAD=
	fi
	cache_unlock
}

# run_batch DIRECTORY COMMAND...: there, in a guest or here.
run_batch() {
	if [[ $NATIVE ]]; then
		native_run "$@"
	else
		guest_run batch "$@"
	fi
}

# prepare JOB [WORD]: what the job needs of this machine is here, and this script is root if the job needs that.
prepare() {
	local needs=$NEED_GUEST
	case "$1 ${2-}" in
	'test host' | 'test hostile-traces') needs=$NEED_HOST ;;
	'test formats') needs=$NEED_HOST$NEED_FORMATS ;;
	'test steps') needs+=$NEED_HOST$NEED_STEPS ;;
	'bench host') needs=$NEED_HOST$NEED_BENCH$NEED_TABLES ;;
	'test package') needs+=$NEED_FIRMWARE ;;
	'test fred') needs+=$NEED_FRED ;;
	'bench vm') needs+=$NEED_BENCH ;;
	'bench all') needs+=$NEED_HOST$NEED_BENCH$NEED_TABLES ;;
	'test ' | 'test all' | 'test rows' | 'test names' | 'test peers') needs+=$NEED_HOST ;;
	esac
	[[ ! $TOP_DIR$CACHE_DIR =~ [[:space:]:] ]] || die 125 "make cannot work in a folder whose name has spaces or colons: $TOP_DIR, $CACHE_DIR" \
		"move the repository, or choose another KUNWIND_CACHE, and run the same command again"
	# To say what is missing needs no root.
	[[ $NATIVE ]] || is_debian || host_needs "$needs"
	[[ "$1 ${2-}" == @(test host|test hostile-traces|test formats|bench host) ]] || become_root "${RUN_ARGUMENTS[@]}"
	# The native kernel's needs depend on an answer.
	[[ $NATIVE ]] && return
	host_needs "$needs"
	# The guest has none of the folders that a link would lead to.
	[[ ! -L $BUILD_DIR ]] || die 125 "$BUILD_DIR is a symbolic link" \
		"remove it, and say where the large files are to go: KUNWIND_CACHE=FOLDER ./run.sh"
	own_folder "$BUILD_DIR"
	own_folder "$BUILD_DIR/log"
	own_file "$BUILD_DIR/lock"
	own_folder "$CACHE_DIR"
	cache_check
	[[ -w $BUILD_DIR ]] || die 125 "$BUILD_DIR belongs to another user" "remove it, as that user or with sudo"
}

main() {
	local job='' words=()
	RUN_ARGUMENTS=("$@")
	while (($#)); do
		case $1 in
		--kernel | --timeout | --event | --flame | --perfetto | --pprof | --speedscope | --filter | --max-stack | --count)
			(($# > 1)) || die 125 "$1 needs a value" "./run.sh --help tells which"
			case $1 in
			--kernel) kernel=$2 ;;
			--timeout)
				[[ $2 =~ ^(0|[1-9][0-9]{0,8})$ ]] || die 125 "--timeout takes seconds, or 0: $2" "for example: --timeout 600"
				JOB_TIMEOUT=$2
				;;
			--event) TRACE_RECORD+=("$1" "$2") ;;
			--flame | --perfetto | --pprof | --speedscope)
				TRACE_FILE=$2
				TRACE_VIEW+=("$1" -)
				;;
			*) TRACE_VIEW+=("$1" "$2") ;;
			esac
			shift
			;;
		--kernel-stack) TRACE_RECORD+=("$1") ;;
		--summary | --top | --full | --raw | --folded) TRACE_VIEW+=("$1") ;;
		--no-module) MODULE_LOAD= ;;
		--quick) BENCH_QUICK=--quick ;;
		--native) NATIVE=yes ;;
		--help | -h) usage && exit 0 ;;
		--) shift && words=("$@") && break ;;
		-?*) die 125 "unknown option $1" "./run.sh --help tells the options" ;;
		*)
			if [[ $job ]]; then
				words=("$@") && break
			fi
			case $1 in
			trace | exec | test | bench | shell | setup | package) job=$1 ;;
			*) die 125 "unknown job $1" "./run.sh --help tells the jobs" ;;
			esac
			;;
		esac
		shift
	done
	[[ $job ]] || ((${#words[@]} == 0)) || die 125 "what is ${words[0]}?" "./run.sh --help tells the jobs"
	case $job in
	exec) ((${#words[@]})) || die 125 "exec needs a command" "for example: ./run.sh exec -- uname -a" ;;
	trace) ((${#words[@]})) || die 125 "trace needs a command" "for example: ./run.sh trace -- ls -l" ;;
	shell)
		[[ -z $NATIVE ]] || die 125 "you have a shell of this machine already" "use ./run.sh exec --native -- CMD"
		[[ -t 0 ]] || die 125 "shell needs a terminal" "without one, use ./run.sh exec -- CMD"
		;;
	test)
		[[ -z $NATIVE ]] || die 125 "tests run in a guest only: they load, break and remove modules"
		[[ $MODULE_LOAD ]] || die 125 "tests need kunwind's modules" "run the same command without --no-module"
		test_check "${words[@]}"
		;;
	bench)
		[[ -z $NATIVE ]] || die 125 "bench measures in a guest, and core/ here, but not this machine's kernel"
		bench_check "${words[@]}"
		words=("$BENCH_WHAT")
		;;
	esac
	[[ $job != package || -z $NATIVE ]] || die 125 "package builds in a root of its own" "use ./run.sh package, without --native"
	[[ -z $BENCH_QUICK || $job == bench ]] || die 125 "--quick goes with bench" "./run.sh --help tells the options"
	[[ $job == trace || -z ${TRACE_RECORD[*]}${TRACE_VIEW[*]} ]] || die 125 "${TRACE_RECORD[0]-${TRACE_VIEW[0]-}} goes with trace"
	STEP_PLAN=(root lttng-modules initrd image module)
	case $job in
	'') STEP_PLAN+=(subjects tools demo) ;;
	trace | exec | shell) STEP_PLAN+=(tools) ;;
	esac
	prepare "$job" "${words[@]:0:1}"
	case $job in
	'')
		setup
		main_job
		;;
	test) test_job "${words[@]}" ;;
	bench) bench_job ;;
	exec)
		setup
		[[ $NATIVE ]] || tools_ready
		run_batch "$(guest_directory)" "${words[@]}"
		;;
	trace)
		setup
		trace_job "${words[@]}"
		;;
	setup) setup ;;
	package) package_job ;;
	shell)
		setup
		tools_ready
		JOB_TIMEOUT=0 guest_run shell "$(guest_directory)"
		;;
	esac
}

main "$@"
