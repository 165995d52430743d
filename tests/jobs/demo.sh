# SPDX-License-Identifier: GPL-2.0-only OR MIT
# shellcheck shell=bash
# run.sh without a job: traces the demo program of tests/subjects and a stripped /bin/ls, and shows what perf sees.

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
	local page=$BUILD_DIR/perf.html
	[[ ! $NATIVE ]] || return 0
	say "perf record -g of a Python program, without kunwind and with it:"
	run_batch "$TOP_DIR" "$TOP_DIR/tests/jobs/perf-flames" "$TOP_DIR/babeltrace/page" >"$page.new"
	mv -- "$page.new" "$page"
	say "both flame graphs, for any browser: $page"
}

# main_job: the demo program, whose stacks are known, and a program of the distribution without symbols.
main_job() {
	local record=$TOP_DIR/vm/record folder
	folder=$(trace_folder)
	mkdir -p "$folder"
	subjects_ready
	reader_ready
	run_batch "$TOP_DIR" bash -euc '"$0" "$1/demo" -- "$2/demo"; "$0" "$1/ls" -- /bin/ls -l /' \
		"$record" "$folder" "$(built_folder)"
	say "the demo, tests/subjects/demo.c:"
	trace_show "$folder/demo"
	say "/bin/ls -l /:"
	trace_show "$folder/ls"
	say "the traces are in $folder: demo and ls"
	[[ -z $TRACE_RAW ]] || return 0
	say "the last stack of ls, and all of them as a picture:"
	main_stack "$folder/ls"
	main_flame "$folder"
	main_perf
}
