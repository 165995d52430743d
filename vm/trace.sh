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
	run_batch "$(guest_directory)" "$KUW_TOP/vm/record" "$folder" "${options[@]}" -- "$@"
}

# guest_configure DIR: all sources in DIR/source, configured in the guest's root: anew if that is another one now.
guest_configure() {
	source_farm "$1/source"
	KUW_BINDS=$1:$1 in_root bash -euc '
		cd "$0/source"
		[[ -e configure ]] || autoreconf -i
		[[ -e Makefile && $(cat ../root 2>/dev/null) == "$1" ]] || ./configure
		echo "$1" >../root
	' "$1" "$(<"$KUW_ROOT.stamp")"
}

# The plugin of babeltrace2, built with the guest's compiler for the guest's babeltrace2.
reader_build() {
	guest_configure "$1"
	KUW_BINDS=$1:$1 in_root make -j"$(nproc)" -C "$1/source/babeltrace"
}

# reader_ready: what gives addresses names is there; on this machine itself, if it is installed.
reader_ready() {
	[[ -z $KUW_RAW ]] || return 0
	if [[ $KUW_NATIVE ]]; then
		babeltrace2 list-plugins 2>/dev/null | grep -q '^kunwind:' && return
		say "names need kunwind's plugin of babeltrace2: make -C babeltrace install; this is --raw"
		KUW_RAW=yes
		return
	fi
	mkdir -p "$(built_folder)"
	step "reader-$KUW_KERNEL" "building babeltrace2's plugin" reader_build "$(built_folder)"
}

# reader FOLDER ARGUMENT...: babeltrace2, where the traced programs' files are, with kunwind's plugin.
reader() {
	local folder=$1 built
	shift
	if [[ $KUW_NATIVE ]]; then
		babeltrace2 "$folder" "$@"
		return
	fi
	built=$(built_folder)
	KUW_BINDS=$(printf '%s\n' "$folder:/mnt" "$built:$built") \
		in_root babeltrace2 --plugin-path="$built/source/babeltrace/.libs" /mnt "$@"
}

# Events that are for readers alone.
without_maps() {
	sed -E '/^\[[^]]*\] \([^)]*\) ([^ ]+ )?kunwind_(map|unmap|fork|exit): /d'
}

# trace_show FOLDER: for people on a terminal, calls and stacks by name; for programs, babeltrace2's lines with names; --raw: without.
trace_show() {
	local names=(--component=names:filter.kunwind.symbolize)
	if [[ $KUW_RAW ]]; then
		reader "$1" | without_maps
	elif [[ -t 1 ]]; then
		reader "$1" "${names[@]}" --component=text:sink.kunwind.text
	else
		reader "$1" "${names[@]}" --component=text:sink.text.pretty | without_maps
	fi
}

# trace_folder: a new name for a trace.
trace_folder() {
	mktemp -u "$KUW_BUILD/trace/$(date +%Y%m%d-%H%M%S)-XXXXXX"
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

# main_stack FOLDER: the deepest whole stack, by name.
main_stack() {
	reader "$1" --component=names:filter.kunwind.symbolize --component=text:sink.kunwind.text --params='color="never"' 2>/dev/null |
		awk '
			function done() { if (n > most) { most = n; best = stack } n = 0 }
			/^[^ ]/ { done(); stack = $0; next }
			{ stack = stack "\n" $0; n++ }
			END { done(); print best }'
}

# main_flame FOLDER: a page with the stacks of the trace of ls in it.
main_flame() {
	local page=$1/ls.html
	reader "$1/ls" --component=names:filter.kunwind.symbolize --component=flame:sink.kunwind.flamegraph \
		--params="format=\"html\",path=\"$(built_folder)/ls.html\"" >&2
	mv -- "$(built_folder)/ls.html" "$page"
	say "the flame graph, for any browser: $page"
}

# main_perf: what perf shows of a program without kunwind and with it, next to each other.
main_perf() {
	local page=$KUW_BUILD/perf.html
	[[ ! $KUW_NATIVE ]] || return 0
	say "perf record -g of a Python program, without kunwind and with it:"
	run_batch "$KUW_TOP" "$KUW_TOP/tests/jobs/perf-flames" "$KUW_TOP/babeltrace/page" >"$page.new"
	mv -- "$page.new" "$page"
	say "both flame graphs, for any browser: $page"
}

# main_job: the demo program, whose stacks are known, and a program of the distribution without symbols.
main_job() {
	local record=$KUW_TOP/vm/record folder
	folder=$(trace_folder)
	mkdir -p "$folder"
	subjects_ready
	reader_ready
	run_batch "$KUW_TOP" bash -euc '"$0" "$1/demo" -- "$2/demo"; "$0" "$1/ls" -- /bin/ls -l /' \
		"$record" "$folder" "$(built_folder)"
	say "the demo, tests/subjects/demo.c:"
	trace_show "$folder/demo"
	say "/bin/ls -l /:"
	trace_show "$folder/ls"
	say "the traces are in $folder: demo and ls"
	[[ -z $KUW_RAW ]] || return 0
	say "the last stack of ls, and all of them as a picture:"
	main_stack "$folder/ls"
	main_flame "$folder"
	main_perf
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
