# SPDX-License-Identifier: GPL-2.0-only OR MIT
# shellcheck shell=bash
# Builds the programs of tests/subjects with the guest's compiler: the demo and most tests run them.

subjects_make() {
	if [[ $NATIVE ]]; then
		make -C "$TOP_DIR/tests/subjects" OUT="$(built_folder)"
		return
	fi
	VM_BINDS=$(printf '%s\n' "$TOP_DIR/tests/subjects:/usr/src/subjects" "$TOP_DIR/include/uapi:/usr/src/uapi" \
		"$(built_folder):/mnt") in_root make -C /usr/src/subjects OUT=/mnt UAPI=/usr/src/uapi
}

subjects_stamp() {
	digest "$([[ $NATIVE ]] || cat "$VM_STOCK_ROOT.stamp")" "$TOP_DIR"/tests/subjects/*.* "$TOP_DIR"/include/uapi/linux/*
}

# subjects_ready: the programs of tests/subjects are there, and not older than their sources.
subjects_ready() {
	local stamp built
	built=$(built_folder)
	mkdir -p "$built"
	stamp=$(subjects_stamp)
	[[ -e $built/subjects.stamp && $(<"$built/subjects.stamp") == "$stamp" ]] || {
		step "subjects-$KERNEL_NAME" "building the programs of tests/subjects" build_alone subjects_make
		printf '%s\n' "$stamp" >"$built/subjects.stamp"
	}
}
