#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR MIT
# storms.sh for as long as `./run.sh test soak MINUTES` says.
set -uo pipefail
# shellcheck source=tests/vm/lib/storms
. "$TOP/tests/vm/lib/storms"

# The rest of the limit is for what begins and ends them: see test_soak() in tests/jobs/test.sh.
storms $((LIMIT - 3600))
done_testing
