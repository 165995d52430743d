# SPDX-License-Identifier: GPL-2.0-only OR MIT
# shellcheck shell=bash
# What a guest's test is written with: each prints TAP, and ends with done_testing.
#
# The runner gives: TOP (the repository), BUILT (programs of this guest), SCRATCH (an empty folder of the test).

tap_number=0
tap_failed=0

# ok NAME COMMAND...: one test; what the command says is shown if it fails. A slow one tells its time.
ok() {
	local name=$1 status=0 start=$SECONDS
	shift
	tap_number=$((tap_number + 1))
	"$@" >"$SCRATCH/tap.said" 2>&1 </dev/null || status=$?
	if ((status == 0)); then
		echo "ok $tap_number - $name"
	else
		echo "not ok $tap_number - $name"
		echo "# status $status of: $*"
		head -n 40 "$SCRATCH/tap.said" | sed 's/^/# /'
		tap_failed=$((tap_failed + 1))
	fi
	((SECONDS - start < 5)) || echo "# took $((SECONDS - start)) s"
}

# skip NAME REASON
skip() {
	tap_number=$((tap_number + 1))
	echo "ok $tap_number - $1 # SKIP $2"
}

# skip_all REASON: ends a test that cannot run here.
skip_all() {
	echo "1..0 # SKIP $1"
	exit 0
}

# random_addresses: programs have them from here on, as with users. Those of the guest do not, since they start slower: see vm/guest.sh.
random_addresses() {
	echo 2 >/proc/sys/kernel/randomize_va_space
}

done_testing() {
	echo "1..$tap_number"
	exit $((tap_failed > 0))
}

# fails COMMAND...: for ok.
fails() {
	! "$@"
}

# says WORDS COMMAND...: for ok; nothing but these words.
says() {
	local want=$1
	shift
	[[ $("$@" 2>&1) == "$want" ]] || { "$@"; return 1; }
}
