/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * What the bytes of others may cost the reader: those of traces, of the files that
 * traces name, and of their debug information; and how long the processes and servers of
 * others may keep it waiting. Each number has its reason. What exceeds one is left out, and
 * that is said.
 */
#ifndef KR_READER_BUDGETS_H
#define KR_READER_BUDGETS_H

#include <stdint.h>

/*
 * Processor time to read one file, its debug information included. All of libLLVM's
 * symbols take 0.1 s, and 1 GB of DWARF without .debug_aranges some 50 s.
 */
#define KR_FILE_NS		UINT64_C(5000000000)
#define KR_FILE_NS_PER_BYTE	UINT64_C(100)

/* The same for all files of a trace together: a thousand honest ones take half of it. */
#define KR_TRACE_NS		UINT64_C(120000000000)

/*
 * Bytes of one file, and of all, that add to that: the owner of a file makes it as large
 * as the disk. The debug information of chromium has 1.5 GB.
 */
#define KR_FILE_BYTES		(UINT64_C(2) << 30)
#define KR_TRACE_BYTES		(UINT64_C(8) << 30)

/*
 * How long debuginfod's servers may take, in seconds: to begin an answer, and for all of a trace.
 * Some unpack a package first. libdebuginfod would wait for 90 s three times for each file.
 */
#define KR_SERVER_S		90
#define KR_SERVERS_S		1200

/* A file server that does not answer takes no processor time: its time counts an eighth. */
#define KR_WAIT_SHARE		8

/*
 * Memory of the process that reads files: this much, and so much for each byte of the
 * files that it has open. Debug information is compressed to a quarter at best.
 */
#define KR_SYMBOLS_BYTES	(UINT64_C(1) << 29)
#define KR_SYMBOLS_PER_BYTE	8

/* But never more than this, or than half of the machine's memory. */
#define KR_SYMBOLS_MOST		(UINT64_C(8) << 30)

/* When it has allocated more than this, it closes the file it has not used for longest. */
#define KR_SYMBOLS_KEPT_BYTES	(UINT64_C(1) << 28)

/* Places where the debug information of a file, and what that refers to, are looked for. */
#define KR_FINDS		32

/* Open files: each has two descriptors, or three. */
#define KR_OPEN_FILES		1000
#define KR_DESCRIPTORS		4096

/* Files of one trace: a machine with all packages of Debian has fewer. */
#define KR_FILES		(1 << 16)

/* A message: a path, or the names of all functions that were inlined at an address. */
#define KR_MESSAGE_BYTES	(1 << 20)

/*
 * A function's name, or a source file's: the longest one of Rust's compiler has 1,222 as a symbol.
 * Each frame of each event has its own copy.
 */
#define KR_NAME_BYTES		2048

/* How long one may take, in seconds: it is sent at once. */
#define KR_MESSAGE_S		10

/* How long a killed symbolizer may take to end, in ms: a file server can hold it for ever. */
#define KR_END_MS		1000

/*
 * Debug information: how deep its tree is, and how many of its entries are looked at for an
 * address. A stranger's tree is as deep, and as long, as its maker likes.
 */
#define KR_DIE_LEVELS		64
#define KR_DIES			(1 << 22)

/*
 * What elfutils may read to find the scopes of all names at an address. Without this limit a
 * file of 16 MB takes minutes for one address.
 */
#define KR_SCOPE_BYTES		(1 << 28)

/*
 * A name as programmers wrote it, and the symbol that it is made of: a symbol of 400 characters
 * can stand for more than there is memory.
 */
#define KR_DEMANGLED_BYTES	(1 << 16)

/* A build ID: more than any linker makes. */
#define KR_BUILD_ID_BYTES	64

/* All answers of a trace, which the reader keeps: a million honest ones. */
#define KR_ANSWER_BYTES		(UINT64_C(1) << 29)

/* A kernel has 200,000 symbols, in 12 MB. */
#define KR_KALLSYMS_BYTES	(UINT64_C(1) << 26)

/* The names of one process's compiled code: node has some MB of them. And of all. */
#define KR_JIT_BYTES		(UINT64_C(1) << 26)
#define KR_JIT_ALL_BYTES	(UINT64_C(1) << 28)

/* How long all of them may take, in ms: a process can put /tmp on a server that never answers. */
#define KR_JIT_MS		5000

/*
 * How many of these functions are looked at that start before an address: where code was dropped
 * and compiled again, they overlap, and the last one that was written is right. If more may have
 * the address, there is no name: one of those that were not looked at may be the last.
 */
#define KR_JIT_LOOKS		64

/* Processes whose names are looked for: what PIDs there are by default, twice. */
#define KR_JIT_PROCESSES	(1 << 16)

/* Folders in each other: deeper than any session of LTTng. A path could have megabytes. */
#define KR_FOLDER_LEVELS	64

/* Metadata of a trace. All events of a kernel with all contexts take 2 MB. */
#define KR_METADATA_BYTES	(UINT64_C(1) << 24)

/*
 * Processor time to read metadata, and a second more for so many bytes. babeltrace2 takes
 * half a second for each megabyte. It compares each label of an enumeration with all before:
 * 50,000 labels, in 0.8 MB, take 15 s.
 */
#define KR_METADATA_S		2
#define KR_METADATA_BYTES_PER_S	(UINT64_C(1) << 18)

/*
 * The process that reads streams: memory, and so much for each byte of the trace; processor
 * time, and a second for so many bytes. Honest traces take a tenth.
 */
#define KR_READER_BYTES		(UINT64_C(3) << 28)
#define KR_READER_PER_BYTE	4
#define KR_READER_S		6
#define KR_READER_BYTES_PER_S	(UINT64_C(1) << 18)

/*
 * Twice what a machine of 2020 takes to make so many strings and to forget them. One that
 * takes a multiple has a multiple of those seconds, as a guest without KVM needs.
 */
#define KR_SPEED_STRINGS	32768
#define KR_SPEED_NS		UINT64_C(16000000)

/* A reader that only tries which stream is to blame fails in less time with less memory. */
#define KR_TRIES_SHARE		2

/* Readers that may fail for one trace before it is given up. */
#define KR_READERS		32

/*
 * Packets of all traces that kunwind itself looks at, in an index or a stream. One takes a
 * system call, so all take some seconds. 8 GB in packets of a page have as many.
 */
#define KR_PACKETS		(1 << 21)

/*
 * Mappings of a trace, of which a space counts as one: ten thousand processes have 200
 * executable mappings each. One takes 80 bytes. The spaces that were used least recently
 * are forgotten, as are those whose exit was lost.
 */
#define KR_MAPPINGS		(1 << 21)

/* Mappings that are looked at for those that a dump dropped, where another one is filled in. */
#define KR_DROPPED_LOOKS	64

/*
 * Frames of a stack, inlined ones included: a tracer records 1,024 addresses at most. A
 * frame takes 1 kB while a sink has it, or 5 with the longest names, and a sink has 15 stacks.
 */
#define KR_FRAMES		4096

/*
 * How long a stack of a live trace waits for a dump to begin, and how long the dump may
 * say nothing, in nanoseconds of the trace: a person is looking. Between a session's
 * activation and its dump LTTng writes the metadata of all its events
 * (lttng_session_enable()): 8 s for all system calls in a debug kernel that is emulated,
 * more next to other guests. kunwind's part of the dump comes first, and waits for 2 s
 * at most.
 */
#define KR_DUMP_NS		INT64_C(15000000000)

/* Messages that wait for a state dump; it mostly comes within milliseconds. */
#define KR_WAITING		50000

/* What they take: that many with the stacks of most programs. */
#define KR_WAITING_BYTES	(UINT64_C(1) << 28)

/*
 * Messages among which what is mapped in a new program is told, and among which other addresses of
 * a file are looked for that had to be opened again.
 */
#define KR_AHEAD		2000

/* Frames that are looked at for that: it takes milliseconds, as opening a file does. */
#define KR_AHEAD_FRAMES		(1 << 15)

/*
 * How long memory maps of all processes of a round may take, in ms, and then those of each: a
 * process can hold the lock of its memory, or map files of a server that never answers.
 */
#define KR_MAPS_MS		5000
#define KR_MAPS_LEAST_MS	50

#endif /* KR_READER_BUDGETS_H */
