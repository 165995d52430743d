#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR MIT
"""Two threads that map code at the same time, of FOLDER, which fuse-files.py serves, and FILE. The device is opened before, for kunwind to cover it.

A thread maps "held", and has to wait for it: until the other one has mapped "other", and FILE. All stays mapped until the end of the
input. With --close, the device is closed meanwhile, and "held" comes at the end of the input.

usage: map-together.py [--one-by-one | --close] FOLDER FILE
"""
import ctypes
import mmap
import os
import sys
import threading
import time

one_by_one = sys.argv[1] == "--one-by-one"
close = sys.argv[1] == "--close"
folder, local = sys.argv[-2:]
device = os.open("/dev/kunwind", os.O_RDONLY)
libc = ctypes.CDLL(None, use_errno=True)
libc.mmap.restype = ctypes.c_void_p
libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_long]


def map_code(name):
    """Not mmap.mmap(): other threads of Python's have to wait for that one."""
    fd = os.open(name, os.O_RDONLY)
    prot = mmap.PROT_READ | mmap.PROT_EXEC
    if libc.mmap(None, os.fstat(fd).st_size, prot, mmap.MAP_PRIVATE, fd, 0) in (None, 2**64 - 1):
        sys.exit(f"{name}: {os.strerror(ctypes.get_errno())}")
    os.close(fd)


def release():
    os.stat(f"{folder}/release")


if one_by_one:
    release()
thread = threading.Thread(target=map_code, args=(f"{folder}/held",))
thread.start()
if one_by_one:
    thread.join()
else:
    while not os.path.exists(f"{folder}/waiting"):
        time.sleep(0.01)
map_code(f"{folder}/other")
map_code(local)
if close:
    os.close(device)
    print("mapped", flush=True)
    sys.stdin.read()
if not one_by_one:
    release()
thread.join()
if not close:
    print("mapped", flush=True)
    sys.stdin.read()
