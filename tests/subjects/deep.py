#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR MIT
"""Computes below many frames of the interpreter's C code: max() calls back for each level.

usage: deep.py MAP SECONDS [LEVELS]

It writes its memory map to MAP, sleeps until its stdin has a line or ends, and computes for SECONDS of CPU time.
"""
import sys
import time

path, seconds, levels = sys.argv[1], float(sys.argv[2]), int(sys.argv[3]) if len(sys.argv) > 3 else 8


def work():
    sys.stdin.readline()
    start = time.process_time()
    while time.process_time() - start < seconds:
        sum(each * each for each in range(1000))


def descend(level):
    if level:
        max([level], key=lambda each: descend(each - 1))
    else:
        work()
    return 0


with open("/proc/self/maps", encoding="utf-8") as source, open(path, "w", encoding="utf-8") as copy:
    copy.write(source.read())
descend(levels)
