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
	guest_run batch "$PWD" "$KUW_TOP/tests/vm/lib/record" "$folder" "${options[@]}" -- "$@"
}

# trace_show FOLDER: babeltrace2's text.
trace_show() {
	KUW_BINDS=$1:/mnt in_root babeltrace2 /mnt
}

# trace_folder: a new name for a trace.
trace_folder() {
	mktemp -u "$KUW_BUILD/trace/$(date +%Y%m%d-%H%M%S)-XXX"
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
