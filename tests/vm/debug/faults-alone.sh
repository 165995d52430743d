#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR MIT
# As faults.sh, for the first consumer and the last one.
set -uo pipefail
# shellcheck source=tests/vm/lib/faults
. "$TOP/tests/vm/lib/faults"

sweep alone
