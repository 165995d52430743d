# SPDX-License-Identifier: GPL-2.0-only OR MIT
"""
Writes LTTng-like traces of kunwind: CTF 1.8, two streams, as in
Documentation/trace-format.md. No library writes them: tests need traces that
are wrong, and a million events in seconds.
"""
import os
import struct
import uuid

STOPS = ["NONE", "COMPLETE", "CAPACITY", "MAX_FRAMES", "NO_USER",
         "NOT_COVERED", "NO_MAPPING", "NO_TABLE", "NO_RULE", "STACK_FAULT",
         "CFA_BACK", "CFA_BAD", "RA_BAD", "REG_UNKNOWN", "EXPR_BAD", "EXPR_BUDGET", "MODE",
         "CONTEXT", "RULE_BAD", "INCOMPLETE_MAP"]

METADATA = """/* CTF 1.8 */
typealias integer {{ size = 8; align = 8; signed = false; }} := uint8_t;
typealias integer {{ size = 16; align = 8; signed = false; }} := uint16_t;
typealias integer {{ size = 32; align = 8; signed = false; }} := uint32_t;
typealias integer {{ size = 64; align = 8; signed = false; }} := uint64_t;
typealias integer {{ size = 64; align = 8; signed = false; base = 16; }} := hex64_t;
typealias integer {{ size = 32; align = 8; signed = true; }} := int32_t;
typealias integer {{ size = 64; align = 8; signed = true; }} := int64_t;
trace {{
	major = 1; minor = 8; byte_order = le;
	packet.header := struct {{ uint32_t magic; uint32_t stream_id; }};
}};
env {{ hostname = "{hostname}"; domain = "kernel"; {tracer}}};
clock {{ name = monotonic; {boot}freq = 1000000000; offset = 1700000000000000000; }};
typealias integer {{
	size = 64; align = 8; signed = false; map = clock.monotonic.value;
}} := clock_t;
struct packet_context {{
	clock_t timestamp_begin;
	clock_t timestamp_end;
	uint64_t content_size;
	uint64_t packet_size;
	uint64_t packet_seq_num;
	uint64_t events_discarded;
	uint32_t cpu_id;
}};
struct event_header {{ uint16_t id; clock_t timestamp; }};
stream {{
	id = 0;
	packet.context := struct packet_context;
	event.header := struct event_header;
	event.context := struct {{
		string procname;
		int32_t pid;
		int32_t tid;
{kernel}		uint32_t __callstack_user_unwind_length;
		hex64_t _callstack_user_unwind[ __callstack_user_unwind_length ];
{end}	}};
}};
stream {{
	id = 1;
	packet.context := struct packet_context;
	event.header := struct event_header;
}};
event {{ name = "syscall_entry_openat"; id = 0; stream_id = 0;
	fields := struct {{ int32_t dfd; string filename; }}; }};
event {{ name = "syscall_exit_openat"; id = 1; stream_id = 0;
	fields := struct {{ int64_t ret; }}; }};
event {{ name = "sched_switch"; id = 2; stream_id = 0;
	fields := struct {{ int32_t prev_tid; int64_t prev_state;
		string next_comm; int32_t next_tid; }}; }};
event {{ name = "syscall_entry_getpid"; id = 3; stream_id = 0; }};
event {{ name = "syscall_exit_getpid"; id = 4; stream_id = 0;
	fields := struct {{ int64_t ret; }}; }};
event {{ name = "syscall_entry_mmap"; id = 5; stream_id = 0;
	fields := struct {{ uint64_t addr; uint64_t len; int32_t prot; int32_t flags;
		int32_t fd; }}; }};
event {{ name = "syscall_exit_mmap"; id = 6; stream_id = 0;
	fields := struct {{ uint64_t addr; int64_t ret; }}; }};
event {{ name = "sched_waking"; id = 7; stream_id = 0;
	fields := struct {{ string comm; int32_t tid; }}; }};
event {{ name = "syscall_exit_execve"; id = 8; stream_id = 0;
	fields := struct {{ int64_t ret; }}; }};
event {{ name = "cpu_sample"; id = 9; stream_id = 0;
	fields := struct {{ uint32_t period; hex64_t ip; uint8_t user; }}; }};
event {{ name = "cpu_sample"; id = 10; stream_id = 0;
	fields := struct {{ uint32_t period; hex64_t ip; uint8_t user;
		uint32_t __callstack_kernel_length;
		hex64_t _callstack_kernel[ __callstack_kernel_length ]; }}; }};
event {{ name = "sched_switch"; id = 11; stream_id = 0;
	fields := struct {{ int32_t prev_tid; int64_t prev_state;
		string next_comm; int32_t next_tid; }}; }};
event {{ name = "syscall_entry_unlinkat"; id = 12; stream_id = 0;
	fields := struct {{ int32_t dfd; string pathname; int32_t flag; }}; }};
event {{ name = "syscall_entry_faccessat2"; id = 13; stream_id = 0;
	fields := struct {{ int32_t dfd; string filename; int32_t mode; int32_t flags; }}; }};
event {{ name = "syscall_entry_timerfd_create"; id = 14; stream_id = 0;
	fields := struct {{ int32_t clockid; int32_t flags; }}; }};
event {{ name = "syscall_entry_open_tree"; id = 15; stream_id = 0;
	fields := struct {{ int32_t dfd; string filename; uint32_t flags; }}; }};
event {{ name = "syscall_entry_clone3"; id = 16; stream_id = 0;
	fields := struct {{ uint64_t size; }}; }};
event {{ name = "syscall_exit_clone3"; id = 17; stream_id = 0;
	fields := struct {{ int64_t ret; }}; }};
"""

KERNEL = """		uint32_t __callstack_kernel_length;
		hex64_t _callstack_kernel[ __callstack_kernel_length ];
"""
PROOF = """		uint16_t __callstack_user_unwind_proven;
		hex64_t __callstack_user_unwind_interrupted;
"""
END = """		enum : uint8_t {{ {stops} }} __callstack_user_unwind_stop;
		uint64_t __callstack_user_unwind_space;
"""

MAP_FIELDS = """	fields := struct {
		uint64_t space; int32_t pid; hex64_t start; hex64_t end; hex64_t offset;
		uint32_t dev; uint64_t inode; uint32_t __build_id_length;
		uint8_t build_id[ __build_id_length ]; string path;
	};
"""
MAP_EVENTS = """
event { name = "kunwind_map"; id = 0; stream_id = 1;
""" + MAP_FIELDS + """};
event { name = "kunwind_unmap"; id = 1; stream_id = 1;
	fields := struct { uint64_t space; hex64_t start; hex64_t end; }; };
event { name = "kunwind_fork"; id = 2; stream_id = 1;
	fields := struct { uint64_t parent_space; uint64_t child_space;
		int32_t parent_pid; int32_t child_pid; }; };
event { name = "kunwind_exit"; id = 3; stream_id = 1;
	fields := struct { uint64_t space; }; };
event { name = "kunwind_statedump_map"; id = 4; stream_id = 1;
""" + MAP_FIELDS + """};
event { name = "kunwind_statedump_begin"; id = 6; stream_id = 1; };
event { name = "kunwind_statedump_end"; id = 5; stream_id = 1;
	fields := struct { int32_t error; }; };
"""

OPENAT, OPENAT_EXIT, SWITCH, GETPID, GETPID_EXIT, MMAP, MMAP_EXIT, WAKING, EXECVE_EXIT, SAMPLE, \
    SAMPLE_OF_KERNEL, SWITCH_AGAIN, UNLINKAT, FACCESSAT2, TIMERFD_CREATE, OPEN_TREE, \
    CLONE3, CLONE3_EXIT = range(18)
PACKET_HEADER = struct.Struct("<IIQQQQQQI")
EVENT_HEADER = struct.Struct("<HQ")
INDEX_RECORD = struct.Struct(">QQQQQQQ")


def string(text):
    """A string as CTF has it."""
    return (text if isinstance(text, bytes) else text.encode()) + b"\0"


class Stream:
    """One file of packets, which begins a packet when one is full."""

    def __init__(self, path, number, packet_bytes=1 << 20):
        # pylint: disable=consider-using-with
        self.file = open(path, "wb")
        self.number = number
        self.packet_bytes = packet_bytes
        self.packets = 0
        self.discarded = 0
        self.events = []
        self.size = 0
        self.begin = self.end = 0
        self.index = b""

    def add(self, event, time, body):
        """Append an event; times must not go back."""
        if not self.events:
            self.begin = time
        self.end = time
        data = EVENT_HEADER.pack(event, time) + body
        self.events.append(data)
        self.size += len(data)
        if self.size > self.packet_bytes:
            self.flush()

    def flush(self):
        """Write the packet."""
        bits = 8 * (PACKET_HEADER.size + self.size)
        self.index += INDEX_RECORD.pack(self.file.tell(), bits, bits, self.begin,
                                        self.end, self.discarded, self.number)
        self.file.write(PACKET_HEADER.pack(
            0xC1FC1FC1, self.number, self.begin, self.end, bits, bits,
            self.packets, self.discarded, 0))
        self.file.write(b"".join(self.events))
        self.packets += 1
        self.events, self.size = [], 0

    def close(self):
        """Write what is left."""
        if self.events or not self.packets:
            self.flush()
        self.file.close()

    def write_index(self):
        """As LTTng does: struct ctf_packet_index of its version 1.0."""
        folder, name = os.path.split(self.file.name)
        os.makedirs(os.path.join(folder, "index"), exist_ok=True)
        with open(os.path.join(folder, "index", name + ".idx"), "wb") as file:
            file.write(struct.pack(">IIII", 0xC1F1DCC1, 1, 0, INDEX_RECORD.size) +
                       self.index)


class Trace:
    """A trace in a new folder."""

    def __init__(self, path, maps=True, end=True, kernel=False, hostname="test",
                 boot=None, proof=False, tracer=None):
        os.makedirs(path)
        self.time = 0
        self.has_end = end
        self.has_proof = proof
        self.has_kernel = kernel
        stops = ", ".join('"%s" = %d' % (s, i) for i, s in enumerate(STOPS))
        with open(os.path.join(path, "metadata"), "w", encoding="ascii") as file:
            file.write(METADATA.format(
                hostname=hostname,
                tracer='tracer_name = "%s"; ' % tracer if tracer else "",
                boot='uuid = "%s"; ' % uuid.UUID(int=boot) if boot else "",
                kernel=KERNEL if kernel else "",
                end=(END.format(stops=stops) if end else "") +
                (PROOF if proof else "")))
            if maps:
                file.write(MAP_EVENTS)
        self.events = Stream(os.path.join(path, "events_0"), 0)
        self.maps = Stream(os.path.join(path, "maps_0"), 1)

    def _now(self):
        self.time += 1000
        return self.time

    def wait(self, seconds):
        """Nothing happens."""
        self.time += seconds * 1000000000

    def stack(self, addresses, space=1, stop="COMPLETE", name="prog", tid=7,
              kernel=(), proven=None, interrupted=1, pid=None):
        """The context of an event."""
        addresses = list(addresses)
        if proven is None:
            proven = len(addresses)
        if stop != "COMPLETE":
            addresses.append(0xFFFFFFFFFFFFFFFF)
        body = string(name) + struct.pack("<ii", tid if pid is None else pid, tid)
        if self.has_kernel:
            body += struct.pack("<I%dQ" % len(kernel), len(kernel), *kernel)
        body += struct.pack("<I%dQ" % len(addresses), len(addresses), *addresses)
        if self.has_end:
            body += struct.pack("<BQ", STOPS.index(stop), space)
        if self.has_proof:
            body += struct.pack("<HQ", proven, interrupted)
        return body

    def event(self, event, context, payload=b""):
        """An event with a context of stack()."""
        self.events.add(event, self._now(), context + payload)

    def sample(self, context, period, ip, user=False, kernel=None):
        """A CPU is interrupted. kernel: the kernel's stack, if the event has it."""
        payload = struct.pack("<IQB", period, ip, user)
        if kernel is None:
            self.event(SAMPLE, context, payload)
        else:
            self.event(SAMPLE_OF_KERNEL, context, payload +
                       struct.pack("<I%dQ" % len(kernel), len(kernel), *kernel))

    def switch(self, context, prev, state, name, tid, event=SWITCH):
        """CPU 0 leaves a thread for another one. event: SWITCH_AGAIN in another channel."""
        self.event(event, context, struct.pack("<iq", prev, state) +
                   string(name) + struct.pack("<i", tid))

    def map(self, path, start, end, offset=0, space=1, build_id=b"", dev=0,
            inode=0, dump=False):
        """A mapping; dump: as the state dump says it."""
        self.maps.add(4 if dump else 0, self._now(), struct.pack(
            "<QiQQQIQI%ds" % len(build_id), space, 7, start, end, offset, dev,
            inode, len(build_id), build_id) + string(path))

    def unmap(self, start, end, space=1):
        """It is mapped no longer."""
        self.maps.add(1, self._now(), struct.pack("<QQQ", space, start, end))

    def fork(self, parent, child):
        """A new space."""
        self.maps.add(2, self._now(), struct.pack("<QQii", parent, child, 7, 8))

    def exit(self, space):
        """A space ends."""
        self.maps.add(3, self._now(), struct.pack("<Q", space))

    def vdso(self, space=1):
        """What every program has: all that is mapped is told."""
        self.map("[vdso]", 0x7fff00000000, 0x7fff00002000, space=space)

    def dump_begin(self):
        """A state dump begins."""
        self.maps.add(6, self._now(), b"")

    def dump_end(self, error=0):
        """The state dump ends."""
        self.maps.add(5, self._now(), struct.pack("<i", error))

    def close(self):
        """The trace is whole."""
        self.events.close()
        self.maps.close()
