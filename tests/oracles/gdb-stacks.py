# SPDX-License-Identifier: GPL-2.0-only OR MIT
"""
In gdb: runs the program, stops at each system call, and writes the thread's stack
as gdb unwinds it: a line of JSON each, into the file that the environment names.

A frame is [address, symbol, name, offset, inlined, code]: the linkage name that its DWARF has, or null;
the name that the symbol table has, or null; the offset behind it, or behind the function's start that DWARF
has, or null; whether the address is executable.
"""
import json
import os
import re

import gdb

# What rax is when a system call begins.
ENOSYS = -38
OUT = open(os.environ["GDB_STACKS"], "w", encoding="utf-8")
LEFT = int(os.environ["GDB_STOPS"])
KNOWN = {}
CODE = {"text": None, "ranges": []}


def symbol(address):
    """The symbol table's name of the code before a return address, or of an address."""
    if address not in KNOWN:
        said = gdb.execute("info symbol %#x" % address, to_string=True)
        # A warning may stand before the answer.
        found = re.search(r"^(.*?)(?: \+ (\d+))? in section", said, re.M)
        KNOWN[address] = (found[1], int(found[2] or 0)) if found else (None, None)
    return KNOWN[address]


def is_code(address):
    """Whether something executable is mapped there."""
    with open("/proc/%d/maps" % gdb.selected_inferior().pid, encoding="utf-8") as file:
        text = file.read()
    if text != CODE["text"]:
        CODE["text"] = text
        CODE["ranges"] = [[int(each, 16) for each in line.split()[0].split("-")]
                          for line in text.splitlines() if line.split()[1][2] == "x"]
    return any(start <= address < end for start, end in CODE["ranges"])


def frames():
    """Of the selected thread, innermost first."""
    frame = gdb.newest_frame()
    interrupted = True
    while frame:
        # A function that ended by jumping to another one is not on the stack: gdb concludes from DWARF's call sites that it ran.
        if frame.type() == gdb.TAILCALL_FRAME:
            frame = frame.older()
            continue
        function = frame.function()
        inlined = frame.type() == gdb.INLINE_FRAME
        before = 0 if interrupted else 1
        name, offset = symbol(frame.pc() - before)
        # In the loader gdb may know the function by DWARF only: then where that begins must be where our name does.
        if offset is None and function and not inlined:
            offset = frame.pc() - before - int(function.value().address)
        yield [frame.pc(), function and function.linkage_name, name,
               None if offset is None else offset + before, inlined, is_code(frame.pc() - before)]
        if not inlined:
            interrupted = frame.type() == gdb.SIGTRAMP_FRAME
        frame = frame.older()


def stop():
    """Whether to go on after a stop."""
    global LEFT
    thread = gdb.selected_thread()
    if not thread:
        return False
    if int(gdb.newest_frame().read_register("rax")) == ENOSYS:
        json.dump({"tid": thread.ptid[1], "frames": list(frames())}, OUT)
        OUT.write("\n")
        LEFT -= 1
    return LEFT > 0


for setting in ("pagination off", "confirm off", "startup-with-shell off", "print thread-events off",
                "disable-randomization on", "demangle-style auto", "backtrace past-main on",
                "backtrace limit unlimited", "debuginfod enabled off"):
    gdb.execute("set " + setting)
gdb.execute("catch syscall")
gdb.execute("run", to_string=True)
while stop():
    gdb.execute("continue", to_string=True)
OUT.close()
if gdb.selected_thread():
    gdb.execute("kill")
