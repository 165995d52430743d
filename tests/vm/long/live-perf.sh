#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR MIT
# perf's stacks of ordinary programs are those that `strace -k` prints of the same system calls: 20,000 and more.
set -uo pipefail
# shellcheck source=tests/vm/lib/live
. "$TOP/tests/vm/lib/live"
# shellcheck source=tests/vm/lib/live-programs
. "$TOP/tests/vm/lib/live-programs"
# shellcheck source=tests/vm/lib/perf
. "$TOP/tests/vm/lib/perf"

prepare || exit
ok "kunwind-tracing is loaded" modprobe kunwind-tracing
# Sixteen programs, and none is deeper than this; perf's default is 127.
ok "stacks have room for 640 frames" sysctl -qw kernel.perf_event_max_stack=640
live_tracer=perf
ordinary_programs
live_sum 20000
ok "the modules are as before" restore
done_testing
