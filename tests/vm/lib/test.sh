# SPDX-License-Identifier: GPL-2.0-only OR MIT
# shellcheck shell=bash
# Other parts of run.sh read what this one sets.
# shellcheck disable=SC2034
# The job `test`: host tests by automake, guest tests by tests/vm/lib/run-tests, and one sum of both.

KUW_PASSED=0
KUW_FAILED=0
KUW_SKIPPED=0
KUW_TESTING=

failed() {
	KUW_FAILED=$((KUW_FAILED + 1))
	printf 'FAIL: %s\n' "$*" >&2
}

skipped() {
	KUW_SKIPPED=$((KUW_SKIPPED + 1))
	printf 'SKIP: %s\n' "$*" >&2
}

# source_farm DIR: a copy of all sources, for builds that write beside them; untouched files keep their time.
source_farm() {
	local dir=$1 file
	mkdir -p "$dir"
	(cd "$KUW_TOP" && { git -c safe.directory='*' ls-files --cached --others --exclude-standard 2>/dev/null ||
		find . -path ./build -prune -o -type f -printf '%P\n'; }) >"$dir.list"
	while read -r file; do
		if [[ -f $KUW_TOP/$file ]] && ! cmp -s "$KUW_TOP/$file" "$dir/$file"; then
			mkdir -p "$(dirname "$dir/$file")"
			cp -p -- "$KUW_TOP/$file" "$dir/$file"
			touch -- "$dir/$file"
		fi
	done <"$dir.list"
}

# A configure that is there is made anew by make itself when its sources changed.
host_build() {
	local dir=$KUW_BUILD/test-host
	source_farm "$dir"
	cd "$dir" || return
	[[ -e configure ]] || autoreconf -i
	[[ -e Makefile ]] || ./configure --enable-sanitizers
	make -j"$(nproc)"
}

host_check() {
	cd "$KUW_BUILD/test-host" || return
	find . -name '*.trs' -delete
	# The verdict is in the results; a failed test makes `make` fail, too.
	make -k -j"$(nproc)" check || true
}

# host_sum: counts the results that automake left.
host_sum() {
	local kind name found=0
	while read -r kind name; do
		found=1
		case $kind in
		PASS) KUW_PASSED=$((KUW_PASSED + 1)) ;;
		SKIP) skipped "$name" ;;
		*) failed "$name" ;;
		esac
	done < <("$KUW_TOP/tests/vm/lib/automake-results" "$KUW_BUILD/test-host")
	((found)) || failed "host tests: no results"
	say "what the host tests said is in $KUW_BUILD/log/setup-host-check.log, and in *.log beside each in $KUW_BUILD/test-host"
}

test_host() {
	run_step host-build "building the host tests, with ASan and UBSan" host_build
	if ((KUW_STATUS)); then
		failed "the host tests cannot be built"
		return 0
	fi
	run_step host-check "running the host tests" host_check
	((KUW_STATUS == 0)) || failed "the host tests cannot be run"
	host_sum
}

# What runs in the guest is built natively, with the guest's compiler: its own is slow.
vm_build() {
	local dir=$1
	subjects_make
	source_farm "$dir/source"
	KUW_BINDS=$dir:$dir in_root bash -euc '
		cd "$0/source"
		if [[ -e configure.ac ]]; then
			[[ -e configure ]] || autoreconf -i
			[[ -e Makefile ]] || ./configure
			for folder in libkunwind tests/ioctl; do
				[[ -e $folder/Makefile.am ]] || continue
				make -j"$(nproc)" -C "$folder"
				make -j"$(nproc)" -C "$folder" check TESTS=
			done
		fi
	' "$dir"
}

# vm_round RESULTS TEST...: one guest that runs them; says on stdout which are left because the guest died.
vm_round() {
	local results=$1 test status=0
	shift
	: >"$results"
	guest_run batch "$KUW_TOP" "$KUW_TOP/tests/vm/lib/run-tests" "$KUW_TOP" "$(built_folder)" "$results" "$KUW_TEST_LIMIT" "$@" || status=$?
	while read -r kind test; do
		case $kind in
		pass) KUW_PASSED=$((KUW_PASSED + 1)) ;;
		fail) failed "$test" ;;
		skip) skipped "$test" ;;
		esac
	done <"$results"
	KUW_LEFT=()
	for test in "$@"; do
		if ! grep -qx "begin $test" "$results"; then
			KUW_LEFT+=("$test")
		elif ! grep -qx "end $test" "$results"; then
			failed "$test: the guest died; its kernel log is $KUW_KERNEL_LOG"
		fi
	done
	if ((status)); then
		say "the guest of these tests ended with $status"
	fi
	if grep -Em 1 "$KUW_LOG_TROUBLE" "$KUW_KERNEL_LOG" >&2; then
		failed "the kernel log is not clean: $KUW_KERNEL_LOG"
	fi
}
KUW_LOG_TROUBLE='BUG:|WARNING:|Oops|general protection|Kernel panic|unregister_netdevice|rcu: INFO|INFO: task|scheduling while atomic|refcount_t:'

# test_vm [TEST...]: all of tests/vm, or some.
test_vm() {
	local tests=("$@") results=$KUW_BUILD/log/results-vm before
	((${#tests[@]})) || mapfile -t tests < <(cd "$KUW_TOP/tests/vm" && printf '%s\n' *.sh)
	setup
	mkdir -p "$(built_folder)"
	run_step "vm-build-$KUW_KERNEL" "building the guest tests' programs" vm_build "$(built_folder)"
	if ((KUW_STATUS)); then
		failed "the guest tests' programs cannot be built"
		return 0
	fi
	# Each test has its limit; the guest's covers all of them.
	KUW_TIMEOUT=$((KUW_TEST_LIMIT * ${#tests[@]} + 120))
	while ((${#tests[@]})); do
		before=${#tests[@]}
		say "running ${#tests[@]} tests in a guest"
		vm_round "$results" "${tests[@]}"
		tests=("${KUW_LEFT[@]}")
		if ((${#tests[@]} == before)); then
			for test in "${tests[@]}"; do
				failed "$test: the guest did not run it"
			done
			break
		fi
	done
}
KUW_TEST_LIMIT=600

# test_check [host|vm|live|all] [TEST...]: there are such tests.
test_check() {
	local what=${1-all} test
	shift || true
	case $what in
	host | vm | live | all) ;;
	*) die 125 "unknown kind of tests: $what" "there are host, vm, live and all" ;;
	esac
	[[ $what == vm ]] || (($# == 0)) || die 125 "what is $1?" "names go with vm: ./run.sh test vm NAME.sh"
	for test in "$@"; do
		[[ -f $KUW_TOP/tests/vm/$test ]] || die 125 "there is no test $test in tests/vm" "there are: $(cd "$KUW_TOP/tests/vm" && echo *.sh)"
	done
}

# test_job [host|vm|live|all] [TEST...]
test_job() {
	local what=${1-all}
	shift || true
	# Whatever ends the script from here on, the last line tells.
	KUW_TESTING=yes
	case $what in
	host) test_host ;;
	vm) test_vm "$@" ;;
	live) KUW_TEST_LIMIT=3600 test_vm long/live.sh ;;
	all)
		test_host
		test_vm
		;;
	esac
	if ((KUW_PASSED + KUW_FAILED == 0)); then
		failed "nothing passed and nothing failed"
	fi
	test_sum
	((KUW_FAILED == 0))
}

# test_sum: the last line.
test_sum() {
	KUW_TESTING=
	printf '%d passed, %d failed' "$KUW_PASSED" "$KUW_FAILED"
	if ((KUW_SKIPPED)); then
		printf ', %d skipped' "$KUW_SKIPPED"
	fi
	printf '\n'
}

# test_ended: the script ends before the tests did.
test_ended() {
	if [[ $KUW_TESTING ]]; then
		failed "the tests did not come to their end"
		test_sum
	fi
}
