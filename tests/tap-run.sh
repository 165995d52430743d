#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Runs a TAP test. automake's TAP driver takes every exit status but 0 for an
# error: 77, with which a test says that it was skipped as a whole, is none.
#
# A test that takes 15 minutes is ended. On a busy machine the longest one takes
# half of that. Its log has the processes that there were, a moment before.
# What a test has left behind in its process group is ended, too: the driver
# waits for each process that could still write.
set -m
timeout --kill-after=10 900 "$@" </dev/null &
group=$!
trap 'kill -TERM -- -$group' HUP INT TERM
(sleep 890 && exec ps -eo pid,ppid,pgid,stat,wchan:20,etimes,args >&2) </dev/null >/dev/null &
watch=$!
wait -f $group
status=$?
# The shell would tell what it kills.
exec 2>/dev/null
kill -KILL -- -$group -$watch
[ "$status" -eq 77 ] && exit 0
exit "$status"
