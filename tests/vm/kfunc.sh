#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR MIT
# BPF programs ask for whole stacks by bpf_kunwind_user_stack(): the example does.
set -uo pipefail
# shellcheck source=tests/vm/lib/tap.sh
. "$TOP/tests/vm/lib/tap.sh"
# shellcheck source=tests/vm/lib/figures
. "$TOP/tests/vm/lib/figures"

example=$BUILT/source/tracing-integration/examples

# The innermost call of deep() opens a file, again and again; its stack is deeper than perf's 127 frames.
cat >"$SCRATCH/deep.py" <<'PY'
import os
import sys
import time

sys.setrecursionlimit(10000)
def deep(n):
    if n:
        return max([n], key=lambda _: deep(n - 1))
    for _ in range(400):
        os.close(os.open("/dev/null", os.O_RDONLY))
        time.sleep(0.05)
deep(150)
PY

# The frames of the last stack that the example printed, one a line.
last_stack() {
	awk '/frames/ { n = 0 } /^\t/ { frame[n++] = $1 } END { for (i = 0; i < n; i++) print frame[i] }' "$SCRATCH/said"
}

ok "kunwind-tracing is loaded" modprobe kunwind-tracing
ok "the kernel knows its BTF" test -e /sys/kernel/btf/kunwind_tracing
python3 "$SCRATCH/deep.py" &
deep=$!
"$example/user-stack" "$example/user-stack.bpf.o" "$deep" >"$SCRATCH/said" 2>"$SCRATCH/errors" &
asks=$!
waits_for_stacks() {
	local tries
	for ((tries = 0; tries < 200; tries++)); do
		! grep -qs 'stop 1$' "$SCRATCH/said" || return 0
		sleep 0.1
	done
	cat "$SCRATCH/errors"
	return 1
}
ok "the example gets whole stacks" waits_for_stacks
ok "what is covered is covered for it" [ "$(figure consumers)" -ge 1 ]
ok "the module stays as long as the program does" fails rmmod kunwind_tracing
kill -STOP "$deep"
eu-stack -n 0 -p "$deep" >"$SCRATCH/eu" 2>/dev/null
kill -CONT "$deep"
sleep 0.5
kill -INT "$asks"
wait "$asks"
kill "$deep"
wait "$deep" 2>/dev/null
last_stack >"$SCRATCH/frames"
awk '/^#/ { sub(/^0x0*/, "0x", $2); print $2 }' "$SCRATCH/eu" >"$SCRATCH/eu-frames"
frames=$(wc -l <"$SCRATCH/frames") eu=$(wc -l <"$SCRATCH/eu-frames")
echo "# $frames frames, eu-stack has $eu"
ok "more frames than perf has room for" [ "$frames" -gt 400 ]
# The last call of open() and the sleep after it are made by the same function: from its caller on they are the same.
same=$((frames < eu ? frames - 12 : eu - 12))
ok "and they are eu-stack's" cmp <(tail -n "$same" "$SCRATCH/frames") <(tail -n "$same" "$SCRATCH/eu-frames")
ok "each was whole but the first ones" [ "$(grep -c 'stop 1$' "$SCRATCH/said")" -ge 5 ]
ok "the module goes when the program has gone" rmmod kunwind_tracing
done_testing
