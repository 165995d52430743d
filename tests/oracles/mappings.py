# SPDX-License-Identifier: GPL-2.0-only OR MIT
"""What a reader of a trace knows of address spaces: Documentation/trace-format.md, in the order of the events."""
import collections
import re

Row = collections.namedtuple("Row", "start end offset dev inode build_id path")

FIELD = {name: re.compile(r"\b%s = (0x[0-9A-F]+|-?\d+)" % name) for name in (
    "space", "pid", "child_pid", "start", "end", "offset", "dev", "inode", "parent_space", "child_space", "_build_id_length", "error")}
BUILD_ID = re.compile(r"build_id = \[((?: \[\d+\] = 0x[0-9A-F]+,?)*) \]")
PATH = re.compile(r'path = "((?:[^"\\]|\\.)*)"')


def number(text, name):
    return int(FIELD[name].search(text)[1], 0)


class Spaces:
    """Fed with the events of a trace; `rows` of a space are its mappings."""

    def __init__(self):
        self.rows = {}
        self.pids = {}
        self.gone = set()
        # Since the last state dump began.
        self.gone_since = set()

    def cut(self, space, start, end):
        kept = []
        for row in self.rows.setdefault(space, []):
            if row.start < start:
                kept.append(row._replace(end=min(row.end, start)))
            if row.end > end:
                begin = max(row.start, end)
                kept.append(row._replace(start=begin, offset=row.offset + begin - row.start))
        self.rows[space] = [row for row in kept if row.start < row.end]

    def feed(self, name, text):
        """One event, by its name and babeltrace2's text of its fields."""
        if name in ("kunwind_map", "kunwind_statedump_map"):
            space = number(text, "space")
            build_id = bytes(int(each, 16) for each in re.findall(r"= 0x([0-9A-F]+)", BUILD_ID.search(text)[1]))
            if len(build_id) != number(text, "_build_id_length"):
                raise ValueError("the build ID's length is another: " + text)
            row = Row(*(number(text, each) for each in Row._fields[:5]), build_id.hex(), PATH.search(text)[1])
            if row.start >= row.end:
                raise ValueError("an empty mapping: " + text)
            if name == "kunwind_statedump_map" and space in self.gone_since:
                return
            if space in self.gone:
                raise ValueError("a space that had gone: " + text)
            self.cut(space, row.start, row.end)
            self.rows[space].append(row)
            self.pids.setdefault(space, number(text, "pid"))
        elif name == "kunwind_unmap":
            self.cut(number(text, "space"), number(text, "start"), number(text, "end"))
        elif name == "kunwind_fork":
            child = number(text, "child_space")
            self.rows[child] = list(self.rows.get(number(text, "parent_space"), []))
            self.pids[child] = number(text, "child_pid")
        elif name == "kunwind_exit":
            self.gone.add(number(text, "space"))
            self.gone_since.add(number(text, "space"))
            self.rows.pop(number(text, "space"), None)

        elif name == "kunwind_statedump_begin":
            self.gone_since.clear()

    def find(self, space, address):
        for row in self.rows.get(space, []):
            if row.start <= address < row.end:
                return row
        return None
