#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR MIT
"""Asks for its stack through an open device: as the process that opened it, or as one that it was handed to.

usage: ask.py own | inherited | hand-over PYTHON | others

It prints the name of the error, or the stop reason's number and whether there are frames. hand-over has PYTHON, a
child, ask through the file that it inherits. others reads numbers of processes, and asks for the stack of each.
"""
import errno
import fcntl
import os
import struct
import subprocess
import sys

# KUNWIND_IOC_STACK: it reads and writes 32 bytes, and more.
STACK = 3 << 30 | 32 << 16 | 0xBE << 8 | 1
# KUNWIND_IOC_THREAD: 40 bytes, and more.
THREAD = 3 << 30 | 40 << 16 | 0xBE << 8 | 2
# The stop reason in struct kunwind_stack, and in struct kunwind_thread: tests/ioctl/layout.h proves the layouts.
STOP = 6
THREAD_STOP = 7


def request(fd, command, fields, stop):
    answer = bytearray(struct.pack("=%dI" % len(fields), *fields) + bytes(16 * 64))
    try:
        fcntl.ioctl(fd, command, answer)
    except OSError as error:
        return errno.errorcode[error.errno]
    frames = any(answer[4 * len(fields):])
    return "stop %d, %s" % (struct.unpack_from("=I", answer, 4 * stop)[0], "frames" if frames else "no frames")


def ask(fd):
    return request(fd, STACK, (32, 0, 64, 0, 0, 0, 0, 0), STOP)


def ask_other(fd, pid):
    return request(fd, THREAD, (40, 0, pid, pid, 64, 0, 0, 0, 0, 0), THREAD_STOP)


if sys.argv[1] == "own":
    print(ask(os.open("/dev/kunwind", os.O_RDONLY)))
elif sys.argv[1] == "inherited":
    print(os.geteuid(), ask(3))
elif sys.argv[1] == "others":
    device = os.open("/dev/kunwind", os.O_RDONLY)
    for line in sys.stdin:
        print(ask_other(device, int(line)), flush=True)
else:
    os.dup2(os.open("/dev/kunwind", os.O_RDONLY), 3)
    subprocess.run([sys.argv[2], "-S", sys.argv[0], "inherited"], pass_fds=[3], check=True)
