# SPDX-License-Identifier: GPL-2.0-only OR MIT
# shellcheck shell=bash
# Traces commands and shows the trace, both by the command kunwind: `kunwind trace` records in the guest, and `kunwind report` shows it at
# native speed, in a chroot of the guest's root, where the traced programs' files are.

# The sources of the command, its plugin and its library.
tools_sources() {
	(cd "$TOP_DIR" && find configure.ac Makefile.am babeltrace core include/uapi libkunwind port/host tools/kunwind -type f | LC_ALL=C sort)
}

tools_stamp() {
	local file files=()
	while read -r file; do
		files+=("$TOP_DIR/$file")
	done < <(tools_sources)
	digest "$VM_STOCK" "$([[ $NATIVE ]] || cat "$VM_STOCK_ROOT.stamp")" "$(declare -f tools_build)" "${files[@]}"
}

# tools_build STAMP: with the compiler, and for the babeltrace2, of where they run.
tools_build() {
	local built part
	built=$(built_folder)
	rm -f -- "$built/tools.stamp"
	if [[ $NATIVE ]]; then
		source_farm "$built/source"
		(cd "$built/source" && autoreconf -i && ./configure)
	else
		guest_configure "$built"
	fi
	for part in libkunwind babeltrace tools/kunwind; do
		if [[ $NATIVE ]]; then
			make -j"$(nproc)" -C "$built/source/$part"
		else
			VM_BINDS=$built:$built in_root make -j"$(nproc)" -C "$built/source/$part"
		fi
	done
	printf '%s\n' "$1" >"$built/tools.stamp"
}

# tools_ready: the command kunwind is built, of the sources as they are now.
tools_ready() {
	local built stamp
	built=$(built_folder)
	stamp=$(tools_stamp)
	mkdir -p "$built"
	[[ -e $built/tools.stamp && $(<"$built/tools.stamp") == "$stamp" ]] ||
		step "tools-$KERNEL_NAME" "building the command kunwind" build_alone tools_build "$stamp"
	# shellcheck disable=SC2034
	VM_TOOLS=$built/source
}

# tools_path: where the commands are, for PATH.
tools_path() {
	echo "$(built_folder)/source/tools/kunwind"
}

tools_plugin() {
	echo "$(built_folder)/source/babeltrace/.libs"
}

# reader FOLDER OPTION...: kunwind report, where the traced programs' files are: those of this repository, too. READER_LINES: how long a summary is.
reader() {
	local folder=$1 built env=(${READER_LINES:+"LINES=$READER_LINES"}) binds each
	shift
	built=$(built_folder)
	if [[ $NATIVE ]]; then
		env "${env[@]}" BABELTRACE_PLUGIN_PATH="$(tools_plugin)" "$(tools_path)/kunwind" report "$@" "$folder"
		return
	fi
	# The repository itself may be below /mnt.
	binds=("$TOP_DIR:$TOP_DIR" "$folder:/usr/src/trace" "$built:$built")
	for each in TERM NO_COLOR COLORTERM LESS TZ DEBUGINFOD_URLS DEBUGINFOD_TIMEOUT; do
		[[ -z ${!each-} ]] || env+=("$each=${!each}")
	done
	if [[ ${DEBUGINFOD_URLS-} ]]; then
		mkdir -p "$BUILD_DIR/debuginfod"
		env+=("DEBUGINFOD_CACHE_PATH=$BUILD_DIR/debuginfod")
		# The root has no certificates of its own, and perhaps another network's name servers.
		[[ ! -d /etc/ssl/certs ]] || binds+=(/etc/ssl/certs:/etc/ssl/certs)
		cp -L -- /etc/resolv.conf "$VM_ROOT/etc/resolv.conf" || true
	fi
	VM_BINDS=$(printf '%s\n' "${binds[@]}") in_root "${env[@]}" "BABELTRACE_PLUGIN_PATH=$(tools_plugin)" \
		"$(tools_path)/kunwind" report "$@" /usr/src/trace
}

# trace_run FOLDER COMMAND...: records into it; returns the command's status. What the command prints goes to stderr: stdout is for the view.
trace_run() {
	local folder=$1
	shift
	mkdir -p "${folder%/*}"
	run_batch "$(guest_directory)" "$TOP_DIR/vm/trace-here" "$(tools_path)" "$folder" "${TRACE_RECORD[@]}" -- "$@" >&2
}

# trace_show FOLDER [OPTION...]
trace_show() {
	local view status=0
	if [[ $TRACE_FILE ]]; then
		# As a whole, or not at all.
		view=$(mktemp "$BUILD_DIR/view-XXXXXX") || return
		reader "$@" >"$view" || status=$?
		((status)) || cat -- "$view" >"$TRACE_FILE" || status=$?
		((status)) || say "$TRACE_FILE is written"
		rm -- "$view"
		return "$status"
	else
		reader "$@"
	fi
}

# trace_folder: a new name for a trace.
trace_folder() {
	mktemp -u "$GUEST_DIR/trace/$(date +%Y%m%d-%H%M%S)-XXXXXX"
}

# trace_job COMMAND...: the job `trace`.
trace_job() {
	local folder status=0
	folder=$(trace_folder)
	if [[ $TRACE_FILE && ! -e $TRACE_FILE ]]; then
		: >"$TRACE_FILE" || die 125 "$TRACE_FILE cannot be written"
		((EUID)) || chown -h --reference="$TOP_DIR" -- "$TRACE_FILE"
	elif [[ $TRACE_FILE ]]; then
		: >>"$TRACE_FILE" || die 125 "$TRACE_FILE cannot be written"
	fi
	tools_ready
	trace_run "$folder" "$@" || status=$?
	if [[ -d $folder ]]; then
		trace_show "$folder" "${TRACE_VIEW[@]}" || status=$((status ? status : $?))
		say "the trace is in $folder"
	else
		say "there is no trace"
	fi
	return "$status"
}
