#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR MIT
# Each allocation and each copy from or to user memory fails once, in everything that the module does next to another consumer.
set -uo pipefail
# shellcheck source=tests/vm/lib/faults
. "$TOP/tests/vm/lib/faults"

sweep others
