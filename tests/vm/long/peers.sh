#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR MIT
# The test programs of libunwind, GCC and elfutils, as they are, get kunwind's stacks.
set -uo pipefail

exec "$TOP/tests/peers/run" "$TOP" "$BUILT/peers" "$SCRATCH" "$TOP/build/guest/peers-table"
