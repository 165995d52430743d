#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only OR MIT
"""Open an event of perf for itself, as each of some users: open-event.py count ID UID..., or open-event.py callchain UID...

Each user has a process, which keeps the event open. Prints "opened", or the name of the error, for each of them, and then waits for
the end of its standard input.
"""
import ctypes
import errno
import os
import struct
import sys

PERF_EVENT_OPEN = 298
SOFTWARE, TRACEPOINT = 1, 2
CPU_CLOCK = 0
IP_AND_CALLCHAIN = 1 | 1 << 5
EXCLUDE_KERNEL, EXCLUDE_HV, EXCLUDE_CALLCHAIN_KERNEL = 1 << 5, 1 << 6, 1 << 21


def open_event(kind, config, sample):
    """Return: nothing, or the name of the error."""
    flags = EXCLUDE_KERNEL | EXCLUDE_HV | (EXCLUDE_CALLCHAIN_KERNEL if sample else 0)
    attr = struct.pack("=IIQQQQQ", kind, 112, config, 10**7 if sample else 0, sample, 0, flags).ljust(112, b"\0")
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.syscall(PERF_EVENT_OPEN, attr, 0, -1, -1, 0) < 0:
        return errno.errorcode[ctypes.get_errno()]
    return None


def main():
    if sys.argv[1] == "count":
        event, users = (TRACEPOINT, int(sys.argv[2]), 0), sys.argv[3:]
    else:
        event, users = (SOFTWARE, CPU_CLOCK, IP_AND_CALLCHAIN), sys.argv[2:]
    for user in users:
        said, says = os.pipe()
        if os.fork() == 0:
            os.setgroups([])
            os.setgid(int(user))
            os.setuid(int(user))
            os.write(says, (open_event(*event) or "opened").encode())
            sys.stdin.read()
            os._exit(0)
        os.close(says)
        print(os.read(said, 100).decode(), flush=True)
    sys.stdin.read()


main()
