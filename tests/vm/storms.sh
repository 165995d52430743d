#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR MIT
# Processes, libraries and mappings that come and go: each stack is whole and true. long/soak.sh does it for longer.
set -uo pipefail
# shellcheck source=tests/vm/lib/storms
. "$TOP/tests/vm/lib/storms"

# A debug kernel is ten times as slow: one round of the file server's storm takes half a minute.
seconds=45
[[ $(uname -r) != *-debug ]] || seconds=180
storms "$seconds"
done_testing
