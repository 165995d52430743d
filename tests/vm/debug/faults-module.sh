#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR MIT
# As faults.sh, for a module that is loaded and removed.
set -uo pipefail
# shellcheck source=tests/vm/lib/faults
. "$TOP/tests/vm/lib/faults"

sweep module
