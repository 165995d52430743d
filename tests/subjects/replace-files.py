#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR MIT
"""Replaces COUNT mappings of a file, which kunwind knows, by mappings of another one with one system call; prints how many
address maps there are then.

usage: replace-files.py COUNT FILE OTHER
"""
import ctypes
import mmap
import os
import sys

MAP_FIXED = 0x10
PAGE = mmap.PAGESIZE

libc = ctypes.CDLL(None, use_errno=True)
libc.mmap.restype = ctypes.c_void_p
libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_long]
libc.mprotect.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]


def check(result):
    if result in (-1, ctypes.c_size_t(-1).value):
        sys.exit(os.strerror(ctypes.get_errno()))
    return result


def fill(base, count, file, protection):
    """Each maps the file's first page, so that no two merge."""
    for i in range(count):
        check(libc.mmap(base + i * PAGE, PAGE, protection, mmap.MAP_PRIVATE | MAP_FIXED, file, 0))


count = int(sys.argv[1])
files = [os.open(name, os.O_RDONLY) for name in sys.argv[2:]]
base = check(libc.mmap(None, count * PAGE, mmap.PROT_READ, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS, -1, 0))
fill(base, count, files[0], mmap.PROT_READ | mmap.PROT_EXEC)
device = os.open("/dev/kunwind", os.O_RDONLY)
maps = os.open("/sys/kernel/kunwind/maps", os.O_RDONLY)
# Nothing that is executable is mapped here.
fill(base, count, files[1], mmap.PROT_READ)
check(libc.mprotect(base, count * PAGE, mmap.PROT_READ | mmap.PROT_EXEC))
print(os.read(maps, 64).decode().strip())
