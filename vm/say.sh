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

# Seconds that steps take on an idle machine with two CPUs.
declare -A STEP_SECONDS=([root]=120 [root-together]=120 [lttng-modules]=100 [initrd]=3 [image]=15 [module]=50 [subjects]=10 [tools]=60 [demo]=45)
# The steps that the job may need, in their order.
STEP_PLAN=()
# What the steps of this run should have taken until now, and what they took: how fast this machine is.
STEP_EXPECTED=0
STEP_TOOK=0

# step_kind NAME: without the kernel's name.
step_kind() {
	echo "${1%%-[0-9]*}"
}

# step_left KIND SECONDS: how many are left to the end of the plan, when that step has taken so many.
step_left() {
	local each later='' left
	((left = STEP_SECONDS[$1] - $2, left > $2 / 10 || (left = $2 / 10 + 1)))
	for each in "${STEP_PLAN[@]}"; do
		# What was done before need not be done again, except if it is made of a new root.
		if [[ $later ]] && { [[ $1 == root || $each == demo ]] || ! compgen -G "$BUILD_DIR/log/setup-$each*" >/dev/null; }; then
			((left += STEP_SECONDS[$each]))
		fi
		[[ $each != "$1" ]] || later=yes
	done
	# One step says little about the speed.
	echo $((left * (STEP_TOOK + 20) / (STEP_EXPECTED + 20)))
}

# in_words SECONDS
in_words() {
	if (($1 >= 90)); then
		echo "$((($1 + 30) / 60)) min"
	else
		echo "$((($1 + 9) / 10 * 10)) s"
	fi
}

# columns: of the terminal; some, as serial lines, tell none.
columns() {
	local size
	size=$(stty size <&2 2>/dev/null) || size=
	size=${size##* }
	echo $((size > 20 ? size : 80))
}

# watch KIND LOG: on a terminal, what a step does, for how long, and the time left, in a line that is written over. Elsewhere, what it does
# after each ten minutes: a step that does not end shows where it is.
watch() {
	local kind=$1 start=$SECONDS next=600 columns line
	shift
	columns=$(columns)
	while sleep 1 && kill -0 $$ 2>/dev/null; do
		[[ -t 2 ]] || ((SECONDS - start >= next)) || continue
		line=$(tail -c 400 "$1" | tr '\r' '\n' | tr -cd '[:print:]\n' | tail -n 1)
		if [[ ! -t 2 ]]; then
			say "    $((SECONDS - start)) s  $line"
			((next += 600))
			continue
		fi
		[[ -z ${STEP_SECONDS[$kind]-} ]] || line="about $(in_words "$(step_left "$kind" $((SECONDS - start)))") left  $line"
		line="    $((SECONDS - start)) s  $line"
		printf '\r\033[K%s' "${line:0:$((columns - 1))}" >&2
	done
}

# run_step NAME TEXT COMMAND...: runs a command or function that takes a while; its output goes to a log of that name.
# Sets STEP_STATUS to 1 and shows the log's end if it fails. Never call it in a condition: errexit is off then in all of the
# function, background or not, and a failed build would count as done.
run_step() {
	local kind text=$2 log=$BUILD_DIR/log/setup-$1.log start=$SECONDS watch expected
	kind=$(step_kind "$1")
	expected=${STEP_SECONDS[$kind]-0}
	shift 2
	mkdir -p "$BUILD_DIR/log"
	((expected < 10)) || text+=" (about $(in_words "$expected"))"
	say "$text ..."
	# A process group of its own, because bash lets background jobs ignore SIGINT otherwise and Ctrl-C must end all of it.
	set -m
	"$@" </dev/null >"$log" 2>&1 &
	RUN_CHILD=$!
	set +m
	watch "$kind" "$log" &
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
		((STEP_EXPECTED += expected, STEP_TOOK += expected ? SECONDS - start : 0, 1))
	fi
}

# step NAME TEXT COMMAND...: the same, and ends the script if it fails.
step() {
	run_step "$@"
	((STEP_STATUS == 0)) || die 125 "what was finished before is kept: mend the cause and run the same command again"
}

# digest FILE-OR-TEXT...: one name for the contents of all files and the texts given. A file's name is absolute: no file of the current
# folder stands for a text.
digest() {
	local each files=()
	{
		for each in "$@"; do
			if [[ $each == /* && -f $each ]]; then
				files+=("$each")
				continue
			fi
			((${#files[@]} == 0)) || cat -- "${files[@]}"
			files=()
			printf '%s\n' "$each"
		done
		((${#files[@]} == 0)) || cat -- "${files[@]}"
	} | sha256sum | cut -c1-16
}
