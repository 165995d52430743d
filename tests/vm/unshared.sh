#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR MIT
# Files whose tables nobody shares, on FUSE and open for writing: a mapping that has not changed keeps its table, so n libraries cost n compilations.
set -uo pipefail
# shellcheck source=tests/vm/lib/tap.sh
. "$TOP/tests/vm/lib/tap.sh"
# shellcheck source=tests/vm/lib/figures
. "$TOP/tests/vm/lib/figures"
# shellcheck source=tests/vm/lib/mappers
. "$TOP/tests/vm/lib/mappers"

COUNT=100

modprobe --quiet fuse
[[ -e /dev/fuse ]] || skip_all "this kernel has no FUSE"

# builds_of COUNT FOLDER: $builds is how many tables are compiled for a process that maps so many of its files, one after the other.
builds_of() {
	local before
	before=$(figure table_builds)
	begin_mapping mapper python3 -S "$map" $(seq -f "$2/%g.so" "$1") || return
	builds=$(($(figure table_builds) - before))
	end_mapping
}

# each_once FOLDER: a file more costs a table more.
each_once() {
	local one
	builds_of 1 "$1" && one=$builds && builds_of "$COUNT" "$1" || return
	echo "$one tables with one file, $builds with $COUNT"
	((builds - one == COUNT - 1))
}

ok "a FUSE file system is mounted" mount_files
ok "$COUNT libraries on FUSE cost $COUNT compilations" each_once "$SCRATCH/fuse"
ok "it is unmounted" umount "$SCRATCH/fuse"

mkdir "$SCRATCH/written"
writers=()
for ((number = 1; number <= COUNT; number++)); do
	cp -- "$small" "$SCRATCH/written/$number.so"
	exec {writer}>>"$SCRATCH/written/$number.so"
	writers+=("$writer")
done
ok "so do $COUNT libraries that are open for writing" each_once "$SCRATCH/written"
for writer in "${writers[@]}"; do
	exec {writer}>&-
done
ok "nothing is left" nothing_left
done_testing
