#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Runs a TAP test. automake's TAP driver takes every exit status but 0 for an
# error: 77, with which a test says that it was skipped as a whole, is none.
#
# A test that takes 15 minutes is ended, with all that it has started: the
# driver waits for each process that could still write. On a busy machine the
# longest one takes half of that.
set -m
timeout --kill-after=10 900 "$@" &
trap 'kill -TERM -- -$!' HUP INT TERM
wait $!
status=$?
[ "$status" -eq 77 ] && exit 0
exit "$status"
