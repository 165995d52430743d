# SPDX-License-Identifier: GPL-2.0-only OR MIT
# shellcheck shell=bash
# Traces commands and shows the trace: recording happens in the guest, babeltrace2 runs at native speed in its root's chroot.

# trace_run FOLDER COMMAND...: records into it; returns the command's status.
trace_run() {
	local folder=$1 event options=()
	shift
	for event in "${KUW_EVENTS[@]}"; do
		options+=(--event "$event")
	done
	mkdir -p "${folder%/*}"
	run_batch "$(guest_directory)" "$KUW_TOP/tests/vm/lib/record" "$folder" "${options[@]}" -- "$@"
}

# trace_show FOLDER: babeltrace2's text, without the events that are for readers which name addresses.
trace_show() {
	if [[ $KUW_NATIVE ]]; then
		babeltrace2 "$1"
	else
		KUW_BINDS=$1:/mnt in_root babeltrace2 /mnt
	fi | sed -E '/^\[[^]]*\] \([^)]*\) ([^ ]+ )?kunwind_(map|unmap|fork|exit): /d'
}

# trace_folder: a new name for a trace.
trace_folder() {
	mktemp -u "$KUW_BUILD/trace/$(date +%Y%m%d-%H%M%S)-XXXXXX"
}

# trace_job COMMAND...: the job `trace`.
trace_job() {
	local folder status=0
	folder=$(trace_folder)
	trace_run "$folder" "$@" || status=$?
	if [[ -d $folder ]]; then
		trace_show "$folder"
		say "the trace is in $folder"
	else
		say "there is no trace"
	fi
	return "$status"
}

# main_job: the demo program, whose stacks are known, and a program of the distribution without symbols.
main_job() {
	local record=$KUW_TOP/tests/vm/lib/record folder
	folder=$(trace_folder)
	mkdir -p "$folder"
	subjects_ready
	run_batch "$KUW_TOP" bash -euc '"$0" "$1/demo" -- "$2/demo"; "$0" "$1/ls" -- /bin/ls -l /' \
		"$record" "$folder" "$(built_folder)"
	say "the demo, tests/subjects/demo.c:"
	trace_show "$folder/demo"
	say "/bin/ls -l /:"
	trace_show "$folder/ls"
	say "the traces are in $folder: demo and ls"
}

# Where programs for the guest are built: its user space is the same with the debug kernel.
built_folder() {
	echo "$KUW_BUILD/test-${KUW_KERNEL%-debug}"
}

subjects_make() {
	if [[ $KUW_NATIVE ]]; then
		make -C "$KUW_TOP/tests/subjects" OUT="$(built_folder)"
		return
	fi
	KUW_BINDS=$(printf '%s\n' "$KUW_TOP/tests/subjects:/usr/src/subjects" "$KUW_TOP/include/uapi:/usr/src/uapi" \
		"$(built_folder):/mnt") in_root make -C /usr/src/subjects OUT=/mnt UAPI=/usr/src/uapi
}

# subjects_ready: the programs of tests/subjects are there, and not older than their sources.
subjects_ready() {
	mkdir -p "$(built_folder)"
	step "subjects-$KUW_KERNEL" "building the programs of tests/subjects" subjects_make
}
