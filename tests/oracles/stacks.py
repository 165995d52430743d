# SPDX-License-Identifier: GPL-2.0-only OR MIT
"""Reads babeltrace2's text and perf's, and resolves addresses with nm, readelf and a memory map: independent of kunwind."""
import bisect
import os
import re
import subprocess

# What LTTng puts at the end of a stack that is not whole.
TRUNCATED = 0xFFFFFFFFFFFFFFFF

# From the entry point to behind the end of _start: 38 bytes in a program of glibc, 61 in its dynamic loader.
START_SIZE = 64

LINE = re.compile(r"^\[[^]]*\] \([^)]*\) (?:\S+ )?([\w:]+): \{ cpu_id = \d+ \}, (.*)$")
STACK = re.compile(r"_callstack_user_unwind_length = (\d+), callstack_user_unwind = \[((?: \[\d+\] = 0x[0-9A-F]+,?)*) \]")
FRAME = re.compile(r"\] = 0x([0-9A-F]+)")
PROCNAME = re.compile(r'procname = "((?:[^"\\]|\\.)*)"')
NUMBER = {name: re.compile(r"\b%s = (\d+)" % name) for name in ("pid", "tid")}

PERF_CALL = re.compile(r"^\s*(\S.*?)\s+(\d+)/(\d+)\s+raw_syscalls:sys_enter:\s+NR (\d+) ")


class Event:
    """One line: name, procname, pid, tid, frames (None without the field), and the text itself."""

    def __init__(self, name, rest):
        self.name = name
        self.text = rest
        stack = STACK.search(rest)
        self.frames = None
        if stack:
            self.frames = [int(each, 16) for each in FRAME.findall(stack[2])]
            if len(self.frames) != int(stack[1]):
                raise ValueError("the length field is not the number of frames: " + rest)
        procname = PROCNAME.search(rest)
        self.procname = procname and procname[1]
        numbers = {key: pattern.search(rest) for key, pattern in NUMBER.items()}
        self.pid, self.tid = (numbers[key] and int(numbers[key][1]) for key in ("pid", "tid"))

    def is_entry(self):
        return self.name.startswith(("syscall_entry_", "compat_syscall_entry_"))

    def whole(self):
        return bool(self.frames) and TRUNCATED not in self.frames

    def __str__(self):
        frames = " ".join("%#x" % each for each in self.frames or [])
        return "%s of %s: %s" % (self.name, self.procname, frames or "no stack")


def read(lines):
    """
    All events of a text but those that say what is mapped; a line that is none is an error, so that nothing is overlooked.
    """
    for line in lines:
        match = LINE.match(line)
        if not match:
            raise ValueError("not an event: " + line)
        if not match[1].startswith("kunwind_"):
            yield Event(match[1], match[2])


class PerfEvent(Event):
    """A system call that perf recorded; without the frames of the kernel."""

    def __init__(self, name, comm, pid, tid):
        self.name, self.procname, self.pid, self.tid = "syscall_entry_" + name, comm, int(pid), int(tid)
        self.frames = []


def read_perf(lines, header):
    """
    The events of `perf script -F comm,pid,tid,event,trace,ip` of raw_syscalls:sys_enter. The header is the C library's, with the
    numbers of system calls.
    """
    with open(header, encoding="ascii") as file:
        names = {int(number): name for name, number in re.findall(r"^#define __NR_(\w+?)(?:32)? (\d+)$", file.read(), re.M)}
    event = None
    for line in lines:
        if match := PERF_CALL.match(line):
            if event:
                yield event
            event = PerfEvent(names[int(match[4])], *match.groups()[:3])
        elif line.strip():
            address = int(line, 16)
            if not address >> 63:
                event.frames.append(address)
    if event:
        yield event


def run(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def is_elf(path):
    """Whether it is: perf also names the maps of JIT code as files."""
    if not os.path.isfile(path):
        return False
    with open(path, "rb") as file:
        return file.read(4) == b"\x7fELF"


class Program:
    """An ELF file: its entry point, its loaded segments, its functions (from nm on `names`, an unstripped copy)."""

    def __init__(self, path, names=None):
        self.entry = int(re.search(r"Entry point address:\s+(0x[0-9a-f]+)", run("readelf", "-hW", path))[1], 16)
        self.loads = [tuple(int(each, 16) for each in match) for match in re.findall(
            r"^\s+LOAD\s+(0x\w+) (0x\w+) 0x\w+ (0x\w+)", run("readelf", "-lW", path), re.M)]
        self.functions = []
        if names:
            for line in run("nm", "-S", "--defined-only", names).splitlines():
                words = line.split()
                if len(words) == 4 and words[2] in "tTwW":
                    self.functions.append((int(words[0], 16), int(words[1], 16), words[3]))
            self.functions.sort()

    def address(self, offset):
        """The address that the file gives to a byte of it."""
        for start, address, size in self.loads:
            if start <= offset < start + size:
                return address + offset - start
        return None

    def function(self, address):
        place = bisect.bisect_right(self.functions, (address, 1 << 64, "")) - 1
        if place >= 0 and address < self.functions[place][0] + self.functions[place][1]:
            return self.functions[place][2]
        return None

    def start(self, name, address):
        """Where the function of this name that has the address begins."""
        return next(each[0] for each in self.functions if each[2] == name and each[0] <= address < each[0] + each[1])

    def in_start(self, address):
        return self.entry < address <= self.entry + START_SIZE


class Map:
    """A process's /proc/pid/maps."""

    def __init__(self, path):
        self.rows = []
        with open(path, encoding="utf-8") as file:
            for line in file:
                words = line.split(None, 5)
                start, end = (int(each, 16) for each in words[0].split("-"))
                self.rows.append((start, end, words[1], int(words[2], 16), words[5].strip() if len(words) > 5 else ""))

    def find(self, address):
        """The executable file mapped at an address, and which byte of it; or None."""
        for start, end, access, offset, path in self.rows:
            if start <= address < end and "x" in access:
                return path, offset + address - start
        return None
