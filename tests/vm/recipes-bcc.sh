#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR MIT
# The recipes of bcc: each compiles its program in the guest, which takes a minute.
RECIPES='^bcc: ' exec "$TOP/tests/vm/recipes.sh"
