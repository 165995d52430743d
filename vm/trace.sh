# SPDX-License-Identifier: GPL-2.0-only OR MIT
# shellcheck shell=bash
# Traces commands and shows the trace: recording happens in the guest, babeltrace2 runs at native speed in its root's chroot.

# trace_run FOLDER COMMAND...: records into it; returns the command's status.
trace_run() {
	local folder=$1 event options=()
	shift
	for event in "${TRACE_EVENTS[@]}"; do
		options+=(--event "$event")
	done
	mkdir -p "${folder%/*}"
	run_batch "$(guest_directory)" "$TOP_DIR/vm/record" "$folder" "${options[@]}" -- "$@"
}

# The plugin of babeltrace2, built with the guest's compiler for the guest's babeltrace2.
reader_build() {
	guest_configure "$1"
	VM_BINDS=$1:$1 in_root make -j"$(nproc)" -C "$1/source/babeltrace"
}

# reader_ready: what gives addresses names is there; on this machine itself, if it is installed.
reader_ready() {
	[[ -z $TRACE_RAW ]] || return 0
	if [[ $NATIVE ]]; then
		babeltrace2 list-plugins 2>/dev/null | grep -q '^kunwind:' && return
		say "names need kunwind's plugin of babeltrace2: make -C babeltrace install; this is --raw"
		TRACE_RAW=yes
		return
	fi
	mkdir -p "$(built_folder)"
	step "reader-$KERNEL_NAME" "building babeltrace2's plugin" reader_build "$(built_folder)"
}

# reader FOLDER ARGUMENT...: babeltrace2, where the traced programs' files are, with kunwind's plugin.
reader() {
	local folder=$1 built
	shift
	if [[ $NATIVE ]]; then
		babeltrace2 "$folder" "$@"
		return
	fi
	built=$(built_folder)
	VM_BINDS=$(printf '%s\n' "$folder:/mnt" "$built:$built") \
		in_root babeltrace2 --plugin-path="$built/source/babeltrace/.libs" /mnt "$@"
}

# Events that are for readers alone.
without_maps() {
	sed -E '/^\[[^]]*\] \([^)]*\) ([^ ]+ )?kunwind_(map|unmap|fork|exit): /d'
}

# trace_show FOLDER: for people on a terminal, calls and stacks by name; for programs, babeltrace2's lines with names; --raw: without.
trace_show() {
	local names=(--component=names:filter.kunwind.symbolize)
	if [[ $TRACE_RAW ]]; then
		reader "$1" | without_maps
	elif [[ -t 1 ]]; then
		reader "$1" "${names[@]}" --component=text:sink.kunwind.text
	else
		reader "$1" "${names[@]}" --component=text:sink.text.pretty | without_maps
	fi
}

# trace_folder: a new name for a trace.
trace_folder() {
	mktemp -u "$BUILD_DIR/trace/$(date +%Y%m%d-%H%M%S)-XXXXXX"
}

# trace_job COMMAND...: the job `trace`.
trace_job() {
	local folder status=0
	folder=$(trace_folder)
	reader_ready
	trace_run "$folder" "$@" || status=$?
	if [[ -d $folder ]]; then
		trace_show "$folder"
		say "the trace is in $folder"
	else
		say "there is no trace"
	fi
	return "$status"
}
