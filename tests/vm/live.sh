#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR MIT
# LTTng's stacks of a few real programs are those of `strace -k` and eu-stack; long/live.sh has all of them.
set -uo pipefail
# shellcheck source=tests/vm/lib/live
. "$TOP/tests/vm/lib/live"

cd "$SCRATCH" || exit
live sample bash -c 'ls -l / >/dev/null; trap "x=hup" HUP; kill -HUP $$; x=$(echo | cat)
	python3 -S "$1/tests/subjects/threads.py" 2 3
	head -c 200000 /usr/bin/bash | xz -0 -T2 --block-size=100000 -c | wc -c' bash "$TOP"
asleep asleep python3 "$TOP/tests/subjects/asleep.py"
live_sum 1500
done_testing
