#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR MIT
"""Asks for its stack through an open device: as the process that opened it, or as one that it was handed to.

usage: ask.py own | inherited | hand-over PYTHON

It prints the name of the error, or the stop reason's number and whether there are frames. hand-over has PYTHON, a
child, ask through the file that it inherits.
"""
import errno
import fcntl
import os
import struct
import subprocess
import sys

# KUNWIND_IOC_STACK: it reads and writes 32 bytes, and more.
STACK = 3 << 30 | 32 << 16 | 0xBE << 8 | 1
# The stop reason in struct kunwind_stack: tests/ioctl/layout.h proves the layout.
STOP = 6


def ask(fd):
    request = bytearray(struct.pack("=8I", 32, 0, 64, 0, 0, 0, 0, 0) + bytes(16 * 64))
    try:
        fcntl.ioctl(fd, STACK, request)
    except OSError as error:
        return errno.errorcode[error.errno]
    return "stop %d, %s" % (struct.unpack_from("=8I", request)[STOP], "frames" if any(request[32:]) else "no frames")


if sys.argv[1] == "own":
    print(ask(os.open("/dev/kunwind", os.O_RDONLY)))
elif sys.argv[1] == "inherited":
    print(os.geteuid(), ask(3))
else:
    os.dup2(os.open("/dev/kunwind", os.O_RDONLY), 3)
    subprocess.run([sys.argv[2], "-S", sys.argv[0], "inherited"], pass_fds=[3], check=True)
