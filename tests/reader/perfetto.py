# SPDX-License-Identifier: GPL-2.0-only OR MIT
"""
What is in a trace for Perfetto, as protoc decodes it and Perfetto understands it: numbers
stand for interned data of packets before, the packets' times order them, and the end of a
slice ends the last one that began on its track.

Environment: SRCDIR; PERFETTO_PROTO: Perfetto's own description of its format. Without it,
the one that the plugin was made from tells names of fields from their numbers.
"""
import ast
import collections
import gzip
import os
import re
import shutil
import subprocess

OWN = os.path.join(os.environ["SRCDIR"], "../../babeltrace/sinks/perfetto.proto")
PROTO = os.environ.get("PERFETTO_PROTO", OWN)
INTERNED = {"event_categories": "name", "event_names": "name", "debug_annotation_names": "name",
            "function_names": "str", "source_paths": "str", "build_ids": "str",
            "mapping_paths": "str", "mappings": None, "frames": None, "callstacks": None}


def missing():
    """Why it cannot be decoded here."""
    return "" if shutil.which("protoc") else "protoc is not installed"


def text_of(data):
    """The packets as text."""
    with open(PROTO, encoding="utf-8") as file:
        package = re.search(r"^package (\S+);", file.read(), re.M).group(1)
    return subprocess.run(["protoc", "--proto_path", os.path.dirname(PROTO),
                           "--decode=%s.Trace" % package, PROTO], input=gzip.decompress(data),
                          check=True, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE).stdout.decode()


def message(lines):
    """A message: of each field, all values."""
    fields = collections.defaultdict(list)
    for line in lines:
        line = line.strip()
        if line == "}":
            break
        name, _, value = line.partition(" ")
        if value == "{":
            fields[name].append(message(lines))
        elif value[0] == '"':
            fields[name[:-1]].append(ast.literal_eval("b" + value).decode())
        else:
            fields[name[:-1]].append(int(value) if re.fullmatch(r"-?\d+", value) else value)
    return fields


def one(fields, name, default=None):
    """The value of a field that is there once, or not."""
    value, = fields.get(name, [default])
    return value


class Trace:
    """Its events, tracks and clock."""

    def __init__(self, data):
        self.interned = {name: {} for name in INTERNED}
        self.tracks, self.clock, self.events, marks = {}, {}, [], []
        packets = message(iter(text_of(data).splitlines()))
        assert list(packets) == ["packet"], "unknown fields"
        for number, packet in enumerate(packets["packet"]):
            assert one(packet, "trusted_packet_sequence_id") == 1
            assert one(packet, "sequence_flags") == (2 if number else 3)
            assert not [name for name in packet if name.isdigit()], packet
            for data in packet.get("interned_data", []):
                self.learn(data)
            for track in packet.get("track_descriptor", []):
                assert one(track, "uuid") not in self.tracks
                self.tracks[one(track, "uuid")] = track
            for snapshot in packet.get("clock_snapshot", []):
                self.clock = {one(c, "clock_id"): one(c, "timestamp") for c in snapshot["clocks"]}
            for event in packet.get("track_event", []):
                marks.append((one(packet, "timestamp"), self.event(event)))
        self.place(marks)

    def learn(self, data):
        """A number is given once."""
        for kind, entries in data.items():
            for entry in entries:
                iid = one(entry, "iid")
                assert iid > 0 and iid not in self.interned[kind], (kind, entry)
                self.interned[kind][iid] = one(entry, INTERNED[kind]) if INTERNED[kind] else entry

    def frame(self, iid):
        """Its function, file and line, and where the address is."""
        frame = self.interned["frames"][iid]
        mapping = self.interned["mappings"][frame["mapping_id"][0]] if frame["mapping_id"] else {}
        return {"name": self.interned["function_names"][one(frame, "function_name_id")],
                "module": "/".join(self.interned["mapping_paths"][i]
                                   for i in mapping.get("path_string_ids", [])),
                "build_id": self.interned["build_ids"].get(one(mapping, "build_id")),
                "address": one(frame, "rel_pc"), "line": one(frame, "line_number"),
                "file": self.interned["source_paths"].get(one(frame, "source_path_iid"))}

    def event(self, event):
        """What is known when it is read."""
        result = {"type": one(event, "type"), "uuid": one(event, "track_uuid")}
        if result["type"] != "TYPE_SLICE_END":
            stack = one(event, "callstack_iid")
            result.update(
                name=self.interned["event_names"][one(event, "name_iid")],
                cat=[self.interned["event_categories"][i] for i in event["category_iids"]],
                args={self.interned["debug_annotation_names"][one(arg, "name_iid")]:
                      one(arg, "string_value") for arg in event.get("debug_annotations", [])},
                frames=[self.frame(i) for i in reversed(
                    self.interned["callstacks"][stack]["frame_ids"])] if stack else [])
        return result

    def track(self, uuid):
        """How a track is called: that of a thread by its number."""
        track = self.tracks[uuid]
        if "thread" in track:
            return one(track["thread"][0], "tid")
        above = one(track, "parent_uuid")
        name = one(track, "name") or one(track["process"][0], "process_name")
        return "%s/%s" % (self.track(above), name) if above else name

    def place(self, marks):
        """Slices get their ends, and all events their times, in microseconds."""
        stacks = collections.defaultdict(list)
        for time, event in sorted(marks, key=lambda mark: mark[0]):
            stack = stacks[event["uuid"]]
            if event["type"] == "TYPE_SLICE_END":
                begun = stack.pop()
                begun.update(ph="X", dur=(time - begun["time"]) / 1000)
                continue
            event.update(ts=time / 1000, time=time, track=self.track(event["uuid"]),
                         stack=[frame["name"] for frame in event["frames"]], depth=len(stack),
                         ph="i" if event["type"] == "TYPE_INSTANT" else "B")
            if event["ph"] == "B":
                stack.append(event)
            self.events.append(event)

    def names(self):
        """Of processes and threads, their numbers."""
        return {(kind, one(about, kind + "_name")): (one(about, "pid"), one(about, "tid"))
                for track in self.tracks.values() for kind in ("process", "thread")
                for about in track.get(kind, [])}
