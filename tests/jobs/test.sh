# SPDX-License-Identifier: GPL-2.0-only OR MIT
# shellcheck shell=bash
# Other parts of run.sh read what this one sets.
# shellcheck disable=SC2034
# The job `test`: host tests by automake, guest tests by tests/jobs/run-tests, and one sum of both.

TEST_PASSED=0
TEST_FAILED=0
TEST_SKIPPED=0
TEST_RUNNING=

failed() {
	TEST_FAILED=$((TEST_FAILED + 1))
	printf 'FAIL: %s\n' "$*" >&2
}

skipped() {
	TEST_SKIPPED=$((TEST_SKIPPED + 1))
	printf 'SKIP: %s\n' "$*" >&2
}

# host_configure DIR [OPTION...]: if it has not been done. make itself does it again when its sources changed.
host_configure() {
	local dir=$1
	shift
	source_farm "$dir"
	cd "$dir" || return
	[[ ! -e configured ]] || return 0
	autoreconf -i
	./configure "$@"
	: >configured
}

# Tests' programs are made for `make check` only, where nobody would see that one cannot be built.
host_build() {
	host_configure "$BUILD_DIR/test-host" --enable-sanitizers
	make -j"$(nproc)"
	make -j"$(nproc)" check TESTS=
}

host_build_folder() {
	host_configure "$BUILD_DIR/test-host" --enable-sanitizers
	make -j"$(nproc)" -C "$1" check TESTS=
}

host_check() {
	cd "$BUILD_DIR/test-host" || return
	check_make -k -j"$(nproc)" check
}

# check_make ARGUMENT...: make, and what it needs of host_sum(). The verdict is in the results. A failed test makes `make` fail, too; if it
# fails without one, some tests have not run.
check_make() {
	find . -name '*.trs' -delete
	rm -f check-failed
	make "$@" || : >check-failed
}

# host_said DIR NAME...: the last words of failed tests, as their logs go with the machine.
host_said() {
	local dir=$1 name
	shift
	for name in "$@"; do
		say "the end of what $name said:"
		tail -n 40 "$dir/${name%.test}.log" >&2 || :
	done
}

# host_sum [DIR]: counts the results that automake left.
host_sum() {
	local kind name found=0 dir=${1-$BUILD_DIR/test-host} before=$TEST_FAILED
	local -A bad=()
	while read -r kind name; do
		found=1
		case $kind in
		PASS) TEST_PASSED=$((TEST_PASSED + 1)) ;;
		SKIP) skipped "$name" ;;
		*)
			failed "$name"
			bad[${name%% *}]=1
			;;
		esac
	done < <("$TOP_DIR/tests/jobs/automake-results" "$dir")
	host_said "$dir" "${!bad[@]}"
	((found)) || failed "host tests: no results"
	[[ ! -e $dir/check-failed ]] || ((TEST_FAILED > before)) || failed "host tests: make failed, and no test did: some have not run"
	say "what the host tests said is in $BUILD_DIR/log/setup-host-check.log, and in *.log next to each in $dir"
}

test_host() {
	run_step host-build "building the host tests, with ASan and UBSan" build_alone host_build
	if ((STEP_STATUS)); then
		failed "the host tests cannot be built"
		return 0
	fi
	run_step host-check "running the host tests" build_alone host_check
	((STEP_STATUS == 0)) || failed "the host tests cannot be run"
	host_sum
}

# A limit of memory is one without sanitizers only: their shadow takes 16 TB.
hostile_check() {
	local folder
	host_configure "$BUILD_DIR/test-plain"
	for folder in libkunwind babeltrace tools/kunwind; do
		make -j"$(nproc)" -C "$folder"
	done
	export CORPUS=$SOURCES_DIR/babeltrace2/tests/data/ctf-traces
	check_make -C tests/reader check TESTS='corpus.test hostile.test'
}

test_hostile_traces() {
	SOURCES_DIR=$CACHE_DIR/sources SOURCES_MISSING=$BUILD_DIR/sources-missing
	sources_root trixie
	sources_need babeltrace2 babeltrace2 '*/tests/data/ctf-traces/*'
	run_step host-check "reading hostile traces" hostile_check
	((STEP_STATUS == 0)) || failed "hostile traces cannot be read"
	host_sum "$BUILD_DIR/test-plain"
}

# trace_processor_make STAMP: Perfetto's importer, of which Debian has the source only. The arguments are those of Debian's package
# perfetto, less the parts that need other libraries. It is not optimized: it reads small files here.
trace_processor_make() {
	local out=$BUILD_DIR/perfetto args=(
		is_debug=false is_clang=false is_system_compiler=true is_hermetic_clang=false
		use_custom_libcxx=false skip_buildtools_check=true
		perfetto_use_system_protobuf=true perfetto_use_system_sqlite=true perfetto_use_system_zlib=true
		perfetto_enable_git_rev_version_header=false
		enable_perfetto_benchmarks=false enable_perfetto_integration_tests=false enable_perfetto_unittests=false
		enable_perfetto_etm_importer=false enable_perfetto_llvm_demangle=false enable_perfetto_re2=false
		enable_perfetto_trace_processor_httpd=false enable_perfetto_trace_processor_linenoise=false
		enable_perfetto_trace_processor_mac_instruments=false enable_perfetto_trace_processor_percentile=false
		enable_perfetto_winscope=false enable_perfetto_x64_cpu_opt=false enable_perfetto_zstd=false
		'extra_cflags="-O0 -g0 -w"' 'extra_cxxflags="-O0 -g0 -w"')
	# SQLite before 3.41.2, as Debian 12 has it, can give a wrong offset for a mistake in a query. There is none here.
	sed -i '/#error "SQLite version is too old."/d' "$SOURCES_DIR/perfetto/src/trace_processor/sqlite/sql_source.cc"
	gn gen --root="$SOURCES_DIR/perfetto" "$out" --args="${args[*]}"
	ninja -C "$out" trace_processor_shell
	finish "$out/trace_processor_shell" "$SOURCES_DIR/trace_processor_shell" "$1"
	rm -rf -- "$out"
}

formats_check() {
	host_configure "$BUILD_DIR/test-host" --enable-sanitizers
	make -j"$(nproc)"
	if [[ -d $SOURCES_DIR/perfetto ]]; then
		export PERFETTO_PROTO=$SOURCES_DIR/perfetto/protos/perfetto/trace/perfetto_trace.proto
	fi
	if [[ -x $SOURCES_DIR/trace_processor_shell ]]; then
		export TRACE_PROCESSOR=$SOURCES_DIR/trace_processor_shell
	fi
	check_make -C tests/reader check TESTS='sinks.test formats.test'
}

test_formats() {
	local stamp
	SOURCES_DIR=$CACHE_DIR/sources SOURCES_MISSING=$BUILD_DIR/sources-missing
	sources_root sid
	sources_need perfetto perfetto '*'
	if [[ -d $SOURCES_DIR/perfetto ]]; then
		stamp=$(digest "$SOURCES_DIR/perfetto.stamp" "$(declare -f trace_processor_make)")
		if ! is_made "$SOURCES_DIR/trace_processor_shell" "$stamp"; then
			run_step trace-processor "building Perfetto's importer, once (about an hour)" trace_processor_make "$stamp"
			((STEP_STATUS == 0)) || failed "Perfetto's importer cannot be built"
		fi
	fi
	run_step host-check "reading timelines and profiles" build_alone formats_check
	((STEP_STATUS == 0)) || failed "timelines and profiles cannot be read"
	host_sum
}

# What runs in the guest is built natively, with the guest's compiler: its own is slow.
vm_build() {
	local dir=$1
	subjects_make
	guest_configure "$dir"
	VM_BINDS=$dir:$dir in_root bash -euc '
		cd "$0/source"
		for folder in libkunwind babeltrace tools/kunwind tests/ioctl tests/soak; do
			make -j"$(nproc)" -C "$folder"
			make -j"$(nproc)" -C "$folder" check TESTS=
		done
		make -C tracing-integration/examples
	' "$dir"
}

# vm_shared FOLDER: the folder in which guests say what they have taken, and what came of it. FOLDER, of the results, is this machine's.
vm_shared() {
	echo "$GUEST_DIR/results/${1#"$BUILD_DIR/log/"}"
}

# vm_left FOLDER TEST...: those that no guest has taken.
vm_left() {
	local shared test
	shared=$(vm_shared "$1")
	shift
	for test in "$@"; do
		[[ -e $shared/${test//\//-} ]] || echo "$test"
	done
}

# vm_round FOLDER RESULTS TEST...: a guest that runs those of them that no other one has taken; fails if it has run none.
vm_round() {
	local folder results=$2 round kind test count seen=0 status=0 begun=''
	folder=$(vm_shared "$1")
	shift 2
	mkdir -p "$folder"
	# The guest makes it.
	round=$(mktemp -u "$folder/round-XXXXXX")
	guest_run batch "$TOP_DIR" "$TOP_DIR/tests/jobs/run-tests" "$TOP_DIR" "$(built_folder)" "$folder" "$round" \
		"$TEST_LIMIT" "$TEST_LAST" "$@" || status=$?
	from_guest "$round" >"$results.round"
	cat "$results.round" >>"$results"
	while read -r kind test count; do
		case $kind in
		begin) begun=$test seen=0 ;;
		end)
			begun=
			((seen == count)) || echo "fail $test: $seen of $count results came out of the guest" >>"$results"
			;;
		*) seen=$((seen + 1)) ;;
		esac
	done <"$results.round"
	if [[ $begun ]]; then
		echo "fail $begun: the guest died; its kernel log is $VM_LOG" >>"$results"
	elif ((status)); then
		echo "fail the guest of these tests ended with $status; its kernel log is $VM_LOG" >>"$results"
	fi
	if [[ $TEST_LAST && -s $results.round ]] && ! grep -qx "begin $TEST_LAST" "$results.round"; then
		echo "fail $TEST_LAST: the guest did not come to it" >>"$results"
	fi
	if grep -Em 1 "$TEST_LOG_TROUBLE" "$VM_LOG" >&2; then
		echo "fail the kernel log is not clean: $VM_LOG" >>"$results"
	fi
	[[ -s $results.round ]]
}
TEST_LOG_TROUBLE='BUG:|WARNING:|Oops|general protection fault[,:]|Kernel panic|unregister_netdevice|rcu: INFO|INFO: task|KASAN|UBSAN|ODEBUG|scheduling while atomic|refcount_t:'

# vm_warnings: the compiler has no warning for the modules. It is an error here alone: a user's compiler may have others.
vm_warnings() {
	if [[ ! -e $MODULE_DIR/said ]]; then
		failed "what the compiler said of kunwind's modules is not there"
	elif grep -E '\.[ch]:[0-9]+:[0-9]+: warning:' "$MODULE_DIR/said" >&2; then
		failed "the compiler warns of kunwind's modules"
	else
		TEST_PASSED=$((TEST_PASSED + 1))
	fi
}

# vm_clean: `make clean` of the modules finds all that it needs. It removes nothing here.
vm_clean() {
	local folder source=/usr/src/kunwind
	for folder in '' /lttng-integration; do
		[[ -e $MODULE_DIR/src$folder/Kbuild ]] || continue
		if ! VM_BINDS=$MODULE_DIR/src:$source in_root make -n -C "/lib/modules/$KERNEL_RELEASE/build" M="$source$folder" clean >/dev/null; then
			failed "make clean of kunwind$folder, kernel $KERNEL_NAME"
		else
			TEST_PASSED=$((TEST_PASSED + 1))
		fi
	done
}

# vm_comments: kernel-doc has no warning for their comments.
vm_comments() {
	local kernel_doc=("$VM_ROOT"/usr/lib/linux-kbuild-*/scripts/kernel-doc) sources
	mapfile -t sources < <(find "$TOP_DIR"/{core,kmod,include,lttng-integration,tracing-integration} -name '*.[ch]')
	if [[ ! -e ${kernel_doc[0]} ]]; then
		skipped "kernel-doc: it is not in this kernel's packages"
	elif ! perl "${kernel_doc[0]}" -none -Werror "${sources[@]}" >&2; then
		failed "kernel-doc warns of kunwind's comments"
	else
		TEST_PASSED=$((TEST_PASSED + 1))
	fi
}

# vm_lane FOLDER RESULTS TEST...: one guest after the other, until no test is left; none of them outlives it.
vm_lane() {
	local folder=$1 results=$2 left
	shift 2
	trap 'exit 143' TERM
	trap 'stop_child; job_clean' EXIT
	while
		mapfile -t left < <(vm_left "$folder" "$@")
		((${#left[@]}))
	do
		vm_round "$folder" "$results" "${left[@]}" || break
	done
}

# vm_blocks FOLDER: what the guest says, a test at a time: there is another one that says something.
vm_blocks() {
	local line text='' turn
	exec {turn}<"$1"
	while IFS= read -r line; do
		text+=$line$'\n'
		[[ $line == '--- '* ]] || continue
		flock "$turn"
		if [[ $line == *' took '* ]]; then
			printf '%s' "$text"
			text=
		else
			echo "$line begins"
		fi
		flock --unlock "$turn"
	done
	printf '%s' "$text"
}

# vm_lanes TESTS: how many guests at a time. Each keeps one CPU busy, unless its own run at the same time.
vm_lanes() {
	local lanes=$TEST_GUESTS most
	most=$(awk -v each="${VM_MEMORY%G}" '/^MemAvailable:/ { print int(($2 / 1048576 - 1) / each) }' /proc/meminfo)
	((lanes <= $1)) || lanes=$1
	((lanes <= most)) || lanes=$most
	if ((lanes < 2 || $(nproc) < 2)) || [[ $VM_THREADS == multi ]]; then
		lanes=1
	fi
	echo "$lanes"
}

# vm_guests FOLDER LANES LANE ARGUMENT...: runs LANE FOLDER RESULTS ARGUMENT... so many times at once; the results are FOLDER/results.1, FOLDER/results.2, ...
vm_guests() {
	local folder=$1 lanes=$2 run=$3 lane shown=(cat) watch
	shift 3
	((lanes == 1)) || shown=(vm_blocks "$folder")
	# Groups of their own, to be ended with all that is in them.
	set -m
	for ((lane = 1; lane <= lanes; lane++)); do
		: >"$folder/results.$lane"
		{ "$run" "$folder" "$folder/results.$lane" "$@" 2>&1 | "${shown[@]}" >&2; } &
		TEST_LANES+=($!)
	done
	# However this script ends.
	{ tail --pid=$$ --sleep-interval=1 -f /dev/null; stop_lanes; } 2>/dev/null &
	watch=$!
	set +m
	wait "${TEST_LANES[@]}" || true
	TEST_LANES=()
	kill -- "-$watch"
	wait "$watch" 2>/dev/null || true
	rm -rf -- "$(vm_shared "$folder")"
}

# stop_lanes: ends their guests, and what is made meanwhile.
stop_lanes() {
	local lane
	((${#TEST_LANES[@]} + ${#TEST_SETUPS[@]})) || return 0
	for lane in "${TEST_LANES[@]}" "${TEST_SETUPS[@]}"; do
		kill -TERM -- "-$lane" 2>/dev/null || true
	done
	wait "${TEST_LANES[@]}" "${TEST_SETUPS[@]}" 2>/dev/null || true
	TEST_LANES=() TEST_SETUPS=()
}

# setups_begin KERNEL...: makes what guests with these kernels need, while other tests run. Most of that is downloads, and programs that use
# one CPU. A job that needs a part waits until it is made. If making it fails here, that job makes it again, and says why it fails.
setups_begin() {
	local log=$BUILD_DIR/log/setups-$1.log
	mkdir -p "$BUILD_DIR/log"
	say "meanwhile, making what the guests need: $log"
	set -m
	setups "$@" </dev/null >"$log" 2>&1 &
	TEST_SETUPS+=($!)
	set +m
}

setups() {
	# A lock is its open file's: this process needs a share of the cache of its own.
	CACHE_USE=
	trap 'exit 143' TERM
	trap stop_child EXIT
	if ((${#TEST_LATER[@]})); then
		VM_TOGETHER=together
		# The guests, which run by now, go first.
		renice -n 19 -p "$BASHPID" >/dev/null
	fi
	for kernel; do
		setup
	done
}

# vm_programs: builds what tests/vm runs in the guest. Sets STEP_STATUS; not for a condition, as run_step.
vm_programs() {
	mkdir -p "$(built_folder)"
	run_step "vm-build-$KERNEL_NAME" "building the guest tests' programs" build_alone vm_build "$(built_folder)"
	((STEP_STATUS == 0)) || failed "the guest tests' programs cannot be built"
}

# vm_count FOLDER TEST...: the results there. A test that has not begun has failed.
vm_count() {
	local folder=$1 kind test
	shift
	while read -r kind test; do
		case $kind in
		pass) TEST_PASSED=$((TEST_PASSED + 1)) ;;
		fail) failed "$test" ;;
		skip) skipped "$test" ;;
		esac
	done < <(cat "$folder"/results.[0-9])
	for test in "$@"; do
		grep -qx "begin $test" "$folder"/results.[0-9] || failed "$test: no guest ran it"
	done
}

# test_vm [TEST...]: all of tests/vm, or some.
test_vm() {
	local tests=("$@") folder lanes
	((${#tests[@]})) || mapfile -t tests < <(cd "$TOP_DIR/tests/vm" && printf '%s\n' *.sh)
	setup
	# A debug kernel makes frames larger than is warned of.
	[[ $KERNEL_NAME == *-debug ]] || { vm_warnings; vm_comments; vm_clean; }
	# Not before: this one would have waited for them.
	((!${#TEST_LATER[@]})) || setups_begin "${TEST_LATER[@]}"
	vm_programs
	((STEP_STATUS == 0)) || return 0
	# Another run in this tree has its own.
	folder=$(mktemp -d "$BUILD_DIR/log/results-vm-XXXXXX")
	TEST_FOLDER=$folder
	# Each test has its limit; the guest's covers all of them.
	JOB_TIMEOUT=$((TEST_LIMIT * (${#tests[@]} + 1) + 120))
	lanes=$(vm_lanes ${#tests[@]})
	if ((lanes == 1)); then
		say "running in a guest: ${tests[*]}"
	else
		say "running ${#tests[@]} tests in $lanes guests at a time"
	fi
	vm_guests "$folder" "$lanes" vm_lane "${tests[@]}"
	vm_count "$folder" "${tests[@]}"
}
TEST_LANES=()
TEST_SETUPS=()
# Kernels that are set up while tests run in guests with another one.
TEST_LATER=()
TEST_FOLDER=
TEST_LAST=
# Of one test, in seconds. On a busy machine the longest takes half of it.
TEST_LIMIT=900
# Guests at a time.
TEST_GUESTS=2

# test_debug [TEST...]: all of tests/vm, or some, and those of tests/vm/debug, with the debug kernel.
test_debug() {
	local tests=("$@") begun=$SECONDS
	((${#tests[@]})) || mapfile -t tests < <(cd "$TOP_DIR/tests/vm" && printf '%s\n' debug/faults*.sh *.sh)
	kernel=6.12-debug
	# Emulated, and with all these checks, a program takes ten times as long.
	# The long sweeps of faults wait most of the time, as this kernel frees a module's objects seconds late: one guest more than there are CPUs
	# here has them. With four guests on two CPUs tests took up to five times as long, and fourteen results failed.
	TEST_LIMIT=7200 TEST_LAST=debug/verdict.sh TEST_GUESTS=3 test_vm "${tests[@]}"
	say "    done in $((SECONDS - begun)) s"
}

# host_tools WHAT FOLDER: builds the programs of that folder of host tests, for WHAT. Sets STEP_STATUS; not for a condition, as run_step.
host_tools() {
	run_step host-tools "building the programs of $2" build_alone host_build_folder "$2"
	((STEP_STATUS == 0)) || failed "$1: its programs cannot be built"
}

# counted NAME COMMAND...: what COMMAND prints is shown, and whether it succeeds is one result.
counted() {
	local name=$1 status=0
	shift
	# A group of its own, to be ended with all that is in it.
	set -m
	"$@" </dev/null &
	RUN_CHILD=$!
	set +m
	wait "$RUN_CHILD" || status=$?
	RUN_CHILD=
	if ((status == 0)); then
		TEST_PASSED=$((TEST_PASSED + 1))
	else
		failed "$name (exit status $status)"
	fi
}

# test_rows [N [guest]]: the rows of every N-th FDE of all files of this machine and of the guest's root, or of that alone, next to libdwarf.
test_rows() {
	local sample=${1-1} rows=$BUILD_DIR/test-host/tests/host/rows top tops dir dirs begun
	setup
	tops=("$VM_ROOT")
	[[ ${2-} == guest ]] || tops+=('')
	host_tools rows tests/host
	((STEP_STATUS == 0)) || return 0
	if [[ ! -x $rows ]]; then
		failed "rows: built without libdwarf or libdw"
		return 0
	fi
	begun=$SECONDS
	for top in "${tops[@]}"; do
		dirs=()
		for dir in "$top"/usr/{bin,sbin,lib,lib32,libexec}; do
			[[ ! -d $dir ]] || dirs+=("$dir")
		done
		say "comparing tables with libdwarf, the rows of 1 in $sample FDEs, in ${dirs[*]}"
		counted "rows of ${top:-this machine}" "$rows" --sample "$sample" "${dirs[@]}"
	done
	say "    done in $((SECONDS - begun)) s"
}

# test_steps [MAX]: real programs, the first MAX instructions of each piece, next to a shadow stack. OCaml 5 is in the guest's root.
test_steps() {
	local steps=$BUILD_DIR/test-host/tests/steps
	VM_PROGRAMS=yes MODULE_LOAD=''
	setup
	host_tools steps tests/steps
	((STEP_STATUS == 0)) || return 0
	if [[ ! -x $steps/steps ]]; then
		failed "steps: built without libdw"
		return 0
	fi
	say "stepping through real programs; each says what came of it"
	counted steps "$TOP_DIR/tests/steps/run-all" ${1:+--max "$1"} --root "$VM_ROOT" "$steps/steps"
}

# by_build_id TRACE FOLDER: of the guest's files, those that the trace has, where only their build ID says which they are.
by_build_id() {
	local path id
	babeltrace2 "$1" 2>/dev/null | sed -n 's/.* kunwind_map: .* path = "\(\/[^"]*\)".*/\1/p' | sort -u |
		while read -r path; do
			[[ -f $VM_ROOT$path ]] || continue
			id=$(readelf -nW "$VM_ROOT$path" | sed -n 's/.*Build ID: //p')
			[[ -z $id ]] || install -D -m 644 -- "$VM_ROOT$path" "$2/usr/lib/debug/.build-id/${id:0:2}/${id:2}"
		done
}

# rust_make: the program in Rust, which the guest has no compiler for; a test says if it is not there.
rust_make() {
	command -v rustc >/dev/null || return 0
	rustc -O -g -o "$(built_folder)/calls-rust" "$TOP_DIR/tests/subjects/calls.rs"
}

# all_named TEXT PROGRAM: each frame of that program has a name and a line, _start has a name.
all_named() {
	awk -v program="$2" '
		index($0, program "!0x") || index($0, program "+0x") { print; bad++ }
		$2 == program && /^    _start/ { begin++ }
		$2 == program && !/^    _start/ { if ($3 ~ /:[0-9]+$/) n++; else { print; bad++ } }
		END { print n + 0 " frames with lines, " begin + 0 " of _start, " bad + 0 " without"; exit !(n >= 20 && begin && !bad) }' "$1" >&2
}

# own_programs FOLDER: what run.sh shows of a program of the user's own, as the compiler left it, and stripped: $BUILD_DIR/own/stripped.
# Then a debuginfod server, which only here is one, has what was stripped.
own_programs() {
	local own=$BUILD_DIR/own id port='' server status=0
	reader "$1" --full >"$own/text"
	all_named "$own/text" calls || status=1
	grep -q 'stripped!0x' "$own/text" || { say "the stripped program has names already"; status=1; }
	id=$(readelf -nW "$own/stripped" | sed -n 's/.*Build ID: //p')
	rm -rf -- "$BUILD_DIR/debuginfod/$id"
	install -D "$(built_folder)/calls" "$own/served/buildid/$id/debuginfo"
	python3 -u -m http.server --bind 127.0.0.1 --directory "$own/served" 0 >"$own/log" 2>&1 &
	server=$!
	trap 'kill "$server" 2>/dev/null || true' EXIT
	for _ in {1..50}; do
		port=$(sed -n 's/.* port \([0-9]*\) .*/\1/p' "$own/log")
		[[ ! $port ]] || break
		sleep 0.1
	done
	DEBUGINFOD_URLS=http://127.0.0.1:$port reader "$1" --full >"$own/text"
	all_named "$own/text" stripped || status=1
	kill "$server"
	wait "$server" || true
	grep "GET /buildid/$id/debuginfo.* 200" "$own/log" >&2 || status=1
	return "$status"
}

# test_names: the names of the stacks of eight programs, recorded in a guest, next to gdb's, which reads the guest's files here: found by
# their paths, found by their build IDs, and not found; with the trace of another guest. Then a user's own programs; then stacks and names of six programs next to gdb's own, in a guest.
test_names() {
	local host=$BUILD_DIR/test-host reader=$TOP_DIR/tests/reader folder ids tools
	setup
	tools_ready
	host_tools names babeltrace
	((STEP_STATUS == 0)) || return 0
	if [[ ! -e $host/babeltrace/.libs/babeltrace-plugin-kunwind.so ]]; then
		failed "names: built without the plugin of babeltrace2"
		return 0
	fi
	folder=$(trace_folder)
	# shellcheck disable=SC2016
	trace_run "$folder" bash -c 'for i in 1 2 3; do
		ls -lR /usr/share/doc/bash; python3 -c "import json, ssl, ctypes"; perl -e "print sort map { \$_ * 2 } 1 .. 99"
		git -C / --version; openssl version -a; find /usr/include/linux -name "*.h"; tar -cf - -C /usr/share/doc bash | xz
	done >/dev/null'
	tools=(env PLUGINS="$host/babeltrace/.libs" SANITIZE=yes CC=gcc PYTHONDONTWRITEBYTECODE=1)
	counted "the names of a trace" "${tools[@]}" "$reader/check-names" --stacks 1000 --programs 5 "$folder" "$VM_ROOT"
	ids=$BUILD_DIR/own/files
	rm -rf -- "$ids"
	by_build_id "$folder" "$ids"
	counted "names by build ID" "${tools[@]}" "$reader/check-names" --stacks 1000 --programs 5 --files "$ids" "$folder" "$VM_ROOT"
	counted "no names from other files of this machine" "${tools[@]}" "$reader/check-names" --none "$folder"
	rm -rf -- "$ids"
	trace_run "$folder-2" bash -c 'ls -lR /usr/share/doc/bash >/dev/null'
	counted "two machines read together" "${tools[@]}" "$reader/check-machines" "$folder" "$folder-2" "$VM_ROOT"
	run_step "subjects-$KERNEL_NAME" "building the programs of tests/subjects" build_alone subjects_make
	mkdir -p "$BUILD_DIR/own"
	strip -o "$BUILD_DIR/own/stripped" "$(built_folder)/calls"
	# shellcheck disable=SC2016
	trace_run "$folder-own" sh -c '"$1" && "$2"' sh "$(built_folder)/calls" "$BUILD_DIR/own/stripped"
	counted "the names of a user's own programs" own_programs "$folder-own"
	run_step "rust-$KERNEL_NAME" "building a program in Rust" rust_make
	((STEP_STATUS == 0)) || failed "names: the program in Rust cannot be built"
	TEST_LIMIT=3600 test_vm long/bt.sh
}

# test_soak [MINUTES]: all storms at once, for so long; and a profile, for a third of it.
test_soak() {
	# In a debug kernel the last round of a storm takes minutes.
	TEST_LIMIT=$((${1-30} * 60 + 3600))
	test_vm long/soak.sh long/profile-all.sh
}

# test_live: in a guest that has more programs than those of the other tests.
test_live() {
	VM_PROGRAMS=yes
	TEST_LIMIT=7200 test_vm long/live.sh long/threads.sh
}

# bpftrace_disk_make STAMP: a bpftrace that can import C, which the guest's own release does not have, and all that it needs.
bpftrace_disk_make() {
	local dir=$VM_DISK.dir new=$VM_DISK.new
	rm -rf -- "$dir"
	# The list of packages of a release to come can be older than it allows.
	bootstrap --variant=essential --include=bpftrace --aptopt='Acquire::Check-Valid-Until "false"' forky "$dir"
	mke2fs -q -t ext4 -E root_owner=0:0,lazy_itable_init=1 -O ^has_journal -d "$dir" "$new" 1G
	rm -rf -- "$dir"
	finish "$new" "$VM_DISK" "$1"
}

# bpftrace_disk: it is there.
bpftrace_disk() {
	local stamp
	stamp=$(digest "$(declare -f bpftrace_disk_make)")
	VM_DISK=$CACHE_DIR/bpftrace.ext4
	cache_lock
	is_made "$VM_DISK" "$stamp" || step bpftrace "fetching a newer bpftrace (about 2 min)" bpftrace_disk_make "$stamp"
	cache_unlock
}

# test_perf: perf next to strace; perf, bpftrace and LTTng at the same time; the recipes of Documentation/tracing.md; a newer bpftrace, and
# the largest of ten programs, are on disks of their own.
test_perf() {
	setup
	bpftrace_disk
	TEST_LIMIT=3600 test_vm long/live-perf.sh long/perf-modules.sh long/perf-lttng.sh long/recipes.sh long/recipes-bcc.sh long/kfunc-bpftrace.sh
	bench_disk
	VM_PROGRAMS=yes
	TEST_LIMIT=7200 test_vm long/perf-programs.sh long/perf-runtimes.sh
}

# test_nmi: nmi.sh where the guest's clock counts instructions: emulated in real time, a CPU takes a few hundred interrupts a second.
# And entry.sh where the CPU that is aimed at runs at the same time as the one that aims.
test_nmi() {
	VM_ICOUNT=yes
	test_vm long/nmi.sh
	VM_ICOUNT='' VM_STEP=yes VM_THREADS=multi
	TEST_LIMIT=3600
	test_vm long/entry.sh
}

# test_smp: storms and NMIs where the guest's CPUs run at the same time, and not in turns.
test_smp() {
	VM_THREADS=multi
	test_vm storms.sh nmi.sh
}

# test_endurance: ten million NMIs with walks, in the debug kernel; ten thousand loads of kunwind-tracing while others record. Where the
# guest's clock counts instructions, waiting takes no time.
test_endurance() {
	VM_ICOUNT=yes TEST_LIMIT=18000
	kernel=6.12-debug
	TEST_LAST=debug/verdict.sh test_vm long/nmi-millions.sh
	kernel=6.12
	test_vm long/loads.sh
}

# test_kernels: a trace, an attach, perf, a short storm and unloading, with each of Debian's kernels; and a table of what came of it.
test_kernels() {
	local tests=(trace-ls.sh attach.sh perf.sh storms.sh modules.sh) results
	mkdir -p -- "$BUILD_DIR/log"
	results=$(mktemp "$BUILD_DIR/log/results-kernels-XXXXXX")
	for kernel in "${KERNELS[@]}"; do
		say "kernel $kernel"
		TEST_FOLDER=
		test_vm "${tests[@]}"
		[[ -z $TEST_FOLDER ]] || sed "s/^/$kernel /" "$TEST_FOLDER"/results.[0-9] >>"$results"
	done
	kernels_table "$results" "${tests[@]}"
}

# kernels_table RESULTS TEST...: a row for each kernel, a column for each test; and why something was skipped.
kernels_table() {
	local results=$1
	shift
	awk -v kernels="${KERNELS[*]}" -v tests="$*" '
		function cell(kernel, test) {
			if (!((kernel, test) in begun))
				return "did not run"
			if (count[kernel, test, "fail"])
				return count[kernel, test, "fail"] " failed"
			if (!count[kernel, test, "pass"])
				return "skipped"
			if (!count[kernel, test, "skip"])
				return count[kernel, test, "pass"] " passed"
			return count[kernel, test, "pass"] " passed, " count[kernel, test, "skip"] " skipped"
		}
		{
			test = $3
			sub(/:$/, "", test)
		}
		$2 == "begin" { begun[$1, test] = 1 }
		$2 ~ /^(pass|fail|skip)$/ { count[$1, test, $2]++ }
		$2 == "skip" || $2 == "fail" { said[++lines] = $0 }
		END {
			columns = split(tests, column)
			rows = split(kernels, row)
			printf "%-12s", "kernel"
			for (i = 1; i <= columns; i++)
				printf "%-22s", column[i]
			print ""
			for (j = 1; j <= rows; j++) {
				printf "%-12s", row[j]
				for (i = 1; i <= columns; i++)
					printf "%-22s", cell(row[j], column[i])
				print ""
			}
			for (i = 1; i <= lines; i++)
				print said[i]
		}
	' "$results"
}

# test_check [host|vm|kernels|others|package|debug|live|perf|names|nmi|fred|endurance|peers|rows|smp|soak|steps|all] [TEST...|N]: there are such tests.
test_check() {
	local what=${1-all} test
	shift || true
	case $what in
	vm | debug)
		for test in "$@"; do
			[[ -f $TOP_DIR/tests/vm/$test ]] || die 125 "there is no test $test in tests/vm" "there are: $(cd "$TOP_DIR/tests/vm" && echo *.sh)"
		done
		;;
	rows | soak | steps)
		if (($# > 1)) || [[ ! ${1-1} =~ ^[1-9][0-9]*$ ]]; then
			die 125 "what is $*?" "a number goes with $what: ./run.sh test $what 100"
		fi
		;;
	host | hostile-traces | formats | kernels | others | package | live | perf | names | nmi | fred | endurance | peers | smp | all)
		(($# == 0)) || die 125 "what is $1?" "names go with vm and debug: ./run.sh test vm NAME.sh"
		;;
	*) die 125 "unknown kind of tests: $what" "there are host, hostile-traces, formats, vm, kernels, others, package, debug, rows, steps, live, perf, names, nmi, fred, endurance, smp, peers, soak and all" ;;
	esac
}

# test_job [host|hostile-traces|formats|vm|kernels|others|package|debug|live|perf|names|nmi|fred|endurance|peers|rows|smp|soak|steps|all] [TEST...|N]
test_job() {
	local what=${1-all}
	shift || true
	# Whatever ends the script from here on, the last line tells.
	TEST_RUNNING=yes
	case $what in
	host) test_host ;;
	hostile-traces) test_hostile_traces ;;
	formats) test_formats ;;
	vm) test_vm "$@" ;;
	kernels) test_kernels ;;
	others) test_others ;;
	package) test_package ;;
	debug) test_debug "$@" ;;
	live) test_live ;;
	perf) test_perf ;;
	names) test_names ;;
	peers) test_peers ;;
	rows) test_rows "$@" ;;
	nmi) test_nmi ;;
	fred) test_fred ;;
	endurance) test_endurance ;;
	smp) test_smp ;;
	soak) test_soak "$@" ;;
	steps) test_steps "$@" ;;
	all)
		setups_begin "$kernel"
		test_host
		test_rows "$TEST_SAMPLE" guest
		[[ $kernel != "${KERNELS[0]}" ]] || TEST_LATER=("${KERNELS[@]:1}")
		test_vm
		((!${#TEST_LATER[@]})) || test_others
		;;
	esac
	# Without a network there are no peers, and no Bochs.
	if ((TEST_PASSED + TEST_FAILED == 0)) && ! [[ $what == @(peers|fred) && $TEST_SKIPPED != 0 ]]; then
		failed "nothing passed and nothing failed"
	fi
	test_sum
	((TEST_FAILED == 0))
}
# Of the rows, what `test all` compares: half a minute's worth.
TEST_SAMPLE=20

# test_sum: the last line.
test_sum() {
	TEST_RUNNING=
	printf '%d passed, %d failed' "$TEST_PASSED" "$TEST_FAILED"
	if ((TEST_SKIPPED)); then
		printf ', %d skipped' "$TEST_SKIPPED"
	fi
	printf '\n'
}

# test_ended: the script ends before the tests did.
test_ended() {
	if [[ $TEST_RUNNING ]]; then
		failed "the tests did not come to their end"
		test_sum
	fi
}
