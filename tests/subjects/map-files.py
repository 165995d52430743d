#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR MIT
"""Has kunwind cover it, maps files executable, and keeps them mapped until the end of its input.

usage: map-files.py [--no-device | --device-last] FILE...
"""
import mmap
import os
import sys

files = sys.argv[1:]
option = files.pop(0) if files[0].startswith("--") else None
if not option:
    device = os.open("/dev/kunwind", os.O_RDONLY)
keep = []
for name in files:
    fd = os.open(name, os.O_RDONLY)
    keep.append(mmap.mmap(fd, os.fstat(fd).st_size, mmap.MAP_PRIVATE, mmap.PROT_READ | mmap.PROT_EXEC))
    os.close(fd)
print("mapped", flush=True)
if option == "--device-last":
    device = os.open("/dev/kunwind", os.O_RDONLY)
sys.stdin.read()
