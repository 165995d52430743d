# SPDX-License-Identifier: GPL-2.0-only OR MIT
# shellcheck shell=bash
# What run.sh tells people: everything goes to stderr, long steps say how long they took.

say() {
	printf 'kunwind: %s\n' "$@" >&2
}

# die STATUS MESSAGE...: the first line says what is wrong, the others what to do next.
die() {
	say "${@:2}"
	exit "$1"
}

# attempt NAME TEXT COMMAND...: runs a command or function that takes a while; its output goes to a log of that name.
# Returns 1 and shows the log's end if it fails.
attempt() {
	local text=$2 log=$KUW_BUILD/log/setup-$1.log start=$SECONDS
	shift 2
	mkdir -p "$KUW_BUILD/log"
	say "$text ..."
	# In the background, because errexit is off in whatever stands in a condition; a process group of its own, because
	# bash lets background jobs ignore SIGINT otherwise and Ctrl-C must end all of it.
	set -m
	"$@" </dev/null >"$log" 2>&1 &
	KUW_CHILD=$!
	set +m
	if ! wait "$KUW_CHILD"; then
		KUW_CHILD=
		tail -n 20 "$log" | sed 's/^/    /' >&2
		say "failed: $text" "the whole output is in $log"
		return 1
	fi
	KUW_CHILD=
	say "    done in $((SECONDS - start)) s"
}

# step NAME TEXT COMMAND...: the same, and ends the script if it fails.
step() {
	attempt "$@" || die 125 "what was finished before is kept: mend the cause and run the same command again"
}

# digest FILE-OR-TEXT...: one name for the contents of all files and the texts given.
digest() {
	local each
	for each in "$@"; do
		if [[ -f $each ]]; then
			cat -- "$each"
		else
			printf '%s\n' "$each"
		fi
	done | sha256sum | cut -c1-16
}
