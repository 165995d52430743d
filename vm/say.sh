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

# watch LOG: on a terminal, what a step does and for how long, in a line that is written over.
watch() {
	local start=$SECONDS columns line
	[[ -t 2 ]] || return 0
	columns=$(stty size <&2 2>/dev/null | cut -d' ' -f2) || columns=80
	while sleep 1; do
		line=$(tail -c 400 "$1" | tr '\r' '\n' | tr -cd '[:print:]\n' | tail -n 1)
		line="    $((SECONDS - start)) s  $line"
		printf '\r\033[K%s' "${line:0:$((columns - 1))}" >&2
	done
}

# run_step NAME TEXT COMMAND...: runs a command or function that takes a while; its output goes to a log of that name.
# Sets STEP_STATUS to 1 and shows the log's end if it fails. Never call it in a condition: errexit is off then in all of the
# function, background or not, and a failed build would count as done.
run_step() {
	local text=$2 log=$BUILD_DIR/log/setup-$1.log start=$SECONDS watch
	shift 2
	mkdir -p "$BUILD_DIR/log"
	say "$text ..."
	# A process group of its own, because bash lets background jobs ignore SIGINT otherwise and Ctrl-C must end all of it.
	set -m
	"$@" </dev/null >"$log" 2>&1 &
	RUN_CHILD=$!
	set +m
	watch "$log" &
	watch=$!
	STEP_STATUS=0
	wait "$RUN_CHILD" || STEP_STATUS=1
	RUN_CHILD=
	kill "$watch" 2>/dev/null || true
	wait "$watch" 2>/dev/null || true
	[[ ! -t 2 ]] || printf '\r\033[K' >&2
	if ((STEP_STATUS)); then
		tail -n 20 "$log" | sed 's/^/    /' >&2
		say "failed: $text" "the whole output is in $log"
	else
		say "    done in $((SECONDS - start)) s"
	fi
}

# step NAME TEXT COMMAND...: the same, and ends the script if it fails.
step() {
	run_step "$@"
	((STEP_STATUS == 0)) || die 125 "what was finished before is kept: mend the cause and run the same command again"
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
