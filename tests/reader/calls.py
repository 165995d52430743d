# SPDX-License-Identifier: GPL-2.0-only OR MIT
"""Made-up traces of system calls."""
import struct
import tempfile

import ctf


class Calls(ctf.Trace):
    """A trace of system calls, with one file mapped."""

    def __init__(self, folder, **kwargs):
        self.path = tempfile.mkdtemp(dir=folder) + "/trace"
        super().__init__(self.path, **kwargs)
        if kwargs.get("maps", True):
            self.vdso()
            self.map("/nowhere/a", 0x10000, 0x20000, build_id=b"a")

    def enter(self, addresses, tid=1, name="p", path="x", **kwargs):
        """openat() is entered."""
        self.event(ctf.OPENAT, self.stack(addresses, tid=tid, name=name, **kwargs),
                   struct.pack("<i", -100) + ctf.string(path))

    def leave(self, addresses=(), tid=1, name="p", value=3, **kwargs):
        """It returns."""
        self.event(ctf.OPENAT_EXIT, self.stack(addresses, tid=tid, name=name,
                                               **kwargs), struct.pack("<q", value))

    def lose(self, events):
        """The tracer has no room, at some time in the packet that begins now."""
        self.events.flush()
        self.events.discarded += events
