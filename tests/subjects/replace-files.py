#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR MIT
"""Replaces COUNT mappings of a file, which kunwind knows, by mappings of another one with one system call; prints how many
address maps there were meanwhile, and how many tasks had to catch up, at most, and how many maps there are five seconds later.

usage: replace-files.py [--one] COUNT FILE OTHER

With --one they are pages of one mapping of FILE, of which less and less is left. kunwind's figures maps and pending are
open as file descriptors 8 and 9.
"""
import ctypes
import mmap
import os
import sys
import threading
import time

MAP_FIXED = 0x10
PAGE = mmap.PAGESIZE
MAPS, PENDING = 8, 9

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


def figure(file):
    """Only root can open them: they are given as descriptors."""
    return int(os.pread(file, 32, 0))


def watch():
    global maps, tasks
    while not done:
        maps = max(maps, figure(MAPS))
        tasks = max(tasks, figure(PENDING))


one = sys.argv[1] == "--one"
count, *names = sys.argv[1 + one:]
count = int(count)
files = [os.open(name, os.O_RDONLY) for name in names]
base = check(libc.mmap(None, count * PAGE, mmap.PROT_READ, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS, -1, 0))
if one:
    check(libc.mmap(base, count * PAGE, mmap.PROT_READ | mmap.PROT_EXEC, mmap.MAP_PRIVATE | MAP_FIXED, files[0], 0))
else:
    fill(base, count, files[0], mmap.PROT_READ | mmap.PROT_EXEC)
device = os.open("/dev/kunwind", os.O_RDONLY)
# Nothing that is executable is mapped here.
fill(base, count, files[1], mmap.PROT_READ)
maps, tasks, done = 0, 0, False
watcher = threading.Thread(target=watch)
watcher.start()
check(libc.mprotect(base, count * PAGE, mmap.PROT_READ | mmap.PROT_EXEC))
done = True
watcher.join()
print(maps, tasks, sep="\n")
time.sleep(5)
print(figure(MAPS))
