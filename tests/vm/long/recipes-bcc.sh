#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR MIT
# The recipes of bcc: each compiles its program in the guest, for minutes.
RECIPES='^bcc: ' RECIPE_LIMIT=900 exec "$TOP/tests/vm/long/recipes.sh"
