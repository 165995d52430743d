# SPDX-License-Identifier: GPL-2.0-only OR MIT
# shellcheck shell=bash
# Other parts of run.sh read what this one sets.
# shellcheck disable=SC2034
# The job `test others`: what each of Debian's other kernels must do at least, in a few minutes for all of them.

# others_lane FOLDER RESULTS KERNEL...: TEST_OTHERS on each kernel that no other lane has taken. Its results follow its name.
others_lane() {
	local folder=$1 results=$2
	shift 2
	for kernel in "$@"; do
		mkdir -- "$folder/$kernel" 2>/dev/null || continue
		kernel_select "$kernel"
		KERNEL_RELEASE=$(kernel_release "$kernel")
		module_select
		MODULE_LOAD=$MODULE_DIR
		echo "kernel $KERNEL_RELEASE"
		# Its traps are its own.
		(vm_lane "$folder/$kernel" "$folder/$kernel.results" "$TEST_OTHERS")
		sed -E "s,^(begin|pass|fail|skip) ,\1 $kernel: ," "$folder/$kernel.results" >>"$results"
	done
}

# test_others: Debian's other kernels, in one root, without LTTng: to build its modules for each of them takes as long as all of this.
test_others() {
	local folder kernels=("${KERNELS[@]:1}") lanes
	kernel=${KERNELS[0]}
	setup
	vm_programs
	((STEP_STATUS == 0)) || return 0
	VM_TOGETHER=together
	for kernel in "${kernels[@]}"; do
		setup
		vm_warnings
		vm_clean
	done
	folder=$(mktemp -d "$BUILD_DIR/log/results-others-XXXXXX")
	JOB_TIMEOUT=$((TEST_LIMIT * 2 + 120))
	lanes=$(vm_lanes ${#kernels[@]})
	say "running $TEST_OTHERS with ${kernels[*]}, in $lanes guests at a time"
	vm_guests "$folder" "$lanes" others_lane "${kernels[@]}"
	vm_count "$folder" "${kernels[@]/%/": $TEST_OTHERS"}"
	kernel=${KERNELS[0]} VM_TOGETHER=
}
TEST_OTHERS=others/kernel.sh
