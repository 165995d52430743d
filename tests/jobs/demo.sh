# SPDX-License-Identifier: GPL-2.0-only OR MIT
# shellcheck shell=bash
# run.sh without a job: one guest traces the demo program of tests/subjects and a stripped /bin/ls, and runs perf. One screen shows what
# there is to see.

# main_record FOLDER: demo and ls, two traces; perf.html, and perf.said about it.
main_record() {
	# shellcheck disable=SC2016
	run_batch "$TOP_DIR" bash -euc '
		record=$1/vm/trace-here tools=$2 folder=$3 built=$4
		"$record" "$tools" "$folder/demo" -- "$built/demo" >/dev/null
		"$record" "$tools" "$folder/ls" -- /bin/ls -l / >/dev/null
		[[ $5 ]] || "$1/tests/jobs/perf-flames" "$1/babeltrace/page" >"$folder/perf.html" 2>"$folder/perf.said"
	' main_record "$TOP_DIR" "$(tools_path)" "$1" "$(built_folder)" "$NATIVE"
}

# main_raw FOLDER: the field itself, as babeltrace2 prints it.
main_raw() {
	reader "$1/ls" --raw 2>/dev/null | awk '/syscall_entry_getdents64/ && !n++' | fold -s -w $(($(columns) - 2)) | sed '2,$s/^/  /'
}

# main_calls FOLDER: three calls with their stacks: of the demo, in a function that libc calls and in a signal handler, and of ls.
main_calls() {
	local once='/^[^ ]/ { shown = !seen[substr($3, 1, index($3, "("))]++ } shown'
	reader "$1/demo" --full --color=never --filter='^(getpgrp|getsid)$' 2>/dev/null | awk "$once"
	reader "$1/ls" --full --color=never --filter='^getdents64$' 2>/dev/null | awk "$once"
}

# main_said: says what is in a file, line by line.
main_said() {
	local line
	while read -r line; do
		say "    $line"
	done < <(from_guest "$1" | grep "^perf record")
}

# main_job: the demo program, whose stacks are known, and a program of the distribution without symbols.
main_job() {
	local folder
	folder=$(trace_folder)
	mkdir -p "$folder"
	subjects_ready
	tools_ready
	run_step demo "tracing a demo program and ls, and running perf, in a virtual machine" main_record "$folder"
	((STEP_STATUS == 0)) || return 125
	say 'what LTTng records, in the field callstack_user_unwind:'
	main_raw "$folder"
	say 'the same with names: a program of ours, and /bin/ls, which is stripped:'
	main_calls "$folder"
	say "what 'kunwind trace -- ls -l /' shows on a terminal:"
	READER_LINES=25 reader "$folder/ls" --summary 2>/dev/null
	reader "$folder/ls" --flame - >"$BUILD_DIR/ls.html" 2>/dev/null
	if [[ -s $folder/perf.html ]]; then
		from_guest "$folder/perf.html" >"$BUILD_DIR/perf.html"
		say 'perf record -g of a Python program, without kunwind and with it:'
		main_said "$folder/perf.said"
		say "    side by side, in a browser:    $BUILD_DIR/perf.html"
	fi
	say "the flame graph of ls, in a browser:  $BUILD_DIR/ls.html" \
		"next:  ./run.sh trace -- python3 -c 'import json'    traces a program of yours" \
		"       ./run.sh trace --flame page.html -- CMD     draws it" \
		"       ./run.sh shell                              has lttng, perf, bpftrace and gdb"
}
