#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR MIT
"""Opens the device, if it is there, asks for its own stack a few times and closes it, until FILE is there; prints how many
stacks were whole, and how many were not.

usage: ask-often.py FILE
"""
import errno
import fcntl
import os
import struct
import sys
import time

# KUNWIND_IOC_STACK: it reads and writes 32 bytes, and behind them the frames, of 16 bytes each.
IOC_STACK = 3 << 30 | 32 << 16 | 0xBE << 8 | 1
HEAD = struct.Struct("=8I")
FRAME_BYTES = 16
CAPACITY = 256
COMPLETE = 1

whole = other = 0
while not os.path.exists(sys.argv[1]):
    time.sleep(0.1)
    try:
        device = os.open("/dev/kunwind", os.O_RDONLY)
    except OSError as error:
        # It is removed, or about to be.
        if error.errno not in (errno.ENOENT, errno.ENODEV, errno.ENXIO):
            raise
        continue
    for _ in range(5):
        answer = bytearray(HEAD.pack(HEAD.size, 0, CAPACITY, 0, 0, 0, 0, 0) + bytes(FRAME_BYTES * CAPACITY))
        fcntl.ioctl(device, IOC_STACK, answer)
        if HEAD.unpack_from(answer)[6] == COMPLETE:
            whole += 1
        else:
            other += 1
    os.close(device)
print(whole, other)
