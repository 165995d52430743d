#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR MIT
"""Has kunwind cover it, maps files executable, and keeps them mapped until the end of its input.

usage: map-files.py [--no-device] FILE...
"""
import mmap
import os
import sys

files = sys.argv[1:]
if files[0] == "--no-device":
    files = files[1:]
else:
    device = os.open("/dev/kunwind", os.O_RDONLY)
keep = []
for name in files:
    fd = os.open(name, os.O_RDONLY)
    keep.append(mmap.mmap(fd, os.fstat(fd).st_size, mmap.MAP_PRIVATE, mmap.PROT_READ | mmap.PROT_EXEC))
    os.close(fd)
print("mapped", flush=True)
sys.stdin.read()
