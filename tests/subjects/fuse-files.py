#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR MIT
"""A FUSE file system in which every name is a file with the bytes of FILE. Says "mounted", and serves until it is unmounted.

If a name begins with "held", its readers wait until a process looks up "release". If it begins with "half", those of its second half do.
"waiting" is there while one waits. Who closes "stuck" waits as long as it is served.

usage: fuse-files.py FOLDER FILE
"""
import ctypes
import os
import stat
import struct
import sys

LOOKUP, FORGET, GETATTR, OPEN, READ, RELEASE, FLUSH, INIT, INTERRUPT, BATCH_FORGET = 1, 2, 3, 14, 15, 18, 25, 26, 36, 42
SILENT = FORGET, INTERRUPT, BATCH_FORGET
ENOENT, ENOSYS = 2, 38
# io_submit() does not wait until a read with O_DIRECT is answered.
ASYNC_DIO = 1 << 15
HOUR = 3600

folder, name = sys.argv[1:]
with open(name, "rb") as file:
    content = file.read()
device = os.open("/dev/fuse", os.O_RDWR | os.O_CLOEXEC)
libc = ctypes.CDLL(None, use_errno=True)
options = f"fd={device},rootmode=40000,user_id=0,group_id=0,allow_other"
if libc.mount(b"files", folder.encode(), b"fuse", 0, options.encode()):
    sys.exit(os.strerror(ctypes.get_errno()))
nodes = {}
held = []
released = False


def attributes(node):
    """struct fuse_attr"""
    folder = node == 1
    mode = stat.S_IFDIR | 0o755 if folder else stat.S_IFREG | 0o755
    return struct.pack("<6Q10I", node, 0 if folder else len(content), 0, 0, 0, 0, 0, 0, 0, mode, 1, 0, 0, 0, 4096, 0)


def reply(opcode, node, body):
    """What is answered, or None if the request is not known."""
    if opcode == INIT:
        return struct.pack("<4I2H2I2H8I", 7, 31, 1 << 17, ASYNC_DIO, 0, 0, 4096, 0, 0, 0, *[0] * 8)
    if opcode == LOOKUP:
        number = nodes.setdefault(body.rstrip(b"\0"), len(nodes) + 2)
        return struct.pack("<4Q2I", number, 0, HOUR, HOUR, 0, 0) + attributes(number)
    if opcode == GETATTR:
        return struct.pack("<Q2I", HOUR, 0, 0) + attributes(node)
    if opcode == OPEN:
        return struct.pack("<Q2I", 0, 0, 0)
    if opcode == READ:
        offset, size = struct.unpack_from("<8xQI", body)
        return content[offset:offset + size]
    if opcode in (FLUSH, RELEASE):
        return b""
    return None


def serve(request):
    opcode, unique, node = struct.unpack_from("<4xIQQ", request)
    if opcode in SILENT:
        return
    if opcode == LOOKUP and request[40:] == b"waiting\0" and not held:
        answer, error = b"", -ENOENT
    else:
        answer = reply(opcode, node, request[40:])
        error = -ENOSYS if answer is None else 0
        answer = answer or b""
    os.write(device, struct.pack("<IiQ", 16 + len(answer), error, unique) + answer)


def must_wait(request):
    opcode, node = struct.unpack_from("<4xI8xQ", request)
    if opcode != READ or released:
        return False
    offset, size = struct.unpack_from("<48xQI", request)
    name = list(nodes)[node - 2]
    return name.startswith(b"held") or (name.startswith(b"half") and offset + size > len(content) // 2)


print("mounted", flush=True)
while True:
    try:
        request = os.read(device, 1 << 20)
    except OSError:
        break
    opcode, node = struct.unpack_from("<4xI8xQ", request)
    if must_wait(request):
        held.append(request)
        continue
    if opcode == FLUSH and node == nodes.get(b"stuck"):
        continue
    serve(request)
    if opcode == LOOKUP and request[40:] == b"release\0":
        released = True
        while held:
            serve(held.pop())
