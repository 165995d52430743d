#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR MIT
"""A process whose /tmp is on a FUSE server that never answers. Says "mounted", and sleeps."""
import ctypes
import os
import sys
import time

NEW_NAMESPACE, PRIVATE = 0x20000, 0x44000

libc = ctypes.CDLL(None, use_errno=True)
device = os.open("/dev/fuse", os.O_RDWR)
options = f"fd={device},rootmode=40000,user_id=0,group_id=0,allow_other"
if (libc.unshare(NEW_NAMESPACE) or libc.mount(b"none", b"/", None, PRIVATE, None) or
        libc.mount(b"silent", b"/tmp", b"fuse", 0, options.encode())):
    sys.exit(os.strerror(ctypes.get_errno()))
print("mounted", flush=True)
time.sleep(1000)
