/* SPDX-License-Identifier: MIT */
/* What code this process has mapped where, as a trace tells it. */
#ifndef LIBKUNWIND_CODE_H
#define LIBKUNWIND_CODE_H

#include <elf.h>
#include <stdint.h>
#include <sys/types.h>

#include "stream.h"

/* More mappings of code are not told: their addresses have no names. */
#define CODE_MAPPINGS	16384

/* A line of /proc/PID/maps, whose path has 4 characters for each odd one. */
#define CODE_LINE	(20u << 10)

/* Program headers, and bytes of a note, where the build ID is looked for. */
#define CODE_HEADERS	32
#define CODE_NOTES	1024

/* A mapping that is told. @path: a hash of its name. */
struct kunwind_mapping {
	uint64_t start;
	uint64_t end;
	uint64_t offset;
	uint64_t inode;
	uint32_t dev;
	uint32_t path;
};

/**
 * struct kunwind_code - all that is told
 * @stream: where it is told
 * @maps: /proc/self/maps, or this thread's
 * @pid: this process
 * @told: which of the two lists is told
 * @count: mappings in each list
 * @lists: by address
 * @used: bytes in @text
 * @text: what was read of @maps and not taken apart yet
 * @phdrs: of the file that is told
 * @notes: a segment of that file
 *
 * All that is large is here: the handler may run on a small alternate stack.
 */
struct kunwind_code {
	struct kunwind_stream stream;
	struct kunwind_file maps;
	pid_t pid;
	int told;
	uint32_t count[2];
	struct kunwind_mapping lists[2][CODE_MAPPINGS];
	uint32_t used;
	char text[2 * CODE_LINE];
	Elf64_Phdr phdrs[CODE_HEADERS];
	unsigned char notes[CODE_NOTES];
};

/* Return: 0 or a negative errno. @code is zeros, with a stream that is open. */
int kunwind_code_open(struct kunwind_code *code);
void kunwind_code_close(struct kunwind_code *code);

/*
 * Tell what has changed since it was told, as of @time. Async-signal-safe; one caller at a
 * time. Return: 0; a negative errno, after which the same is told again next time.
 */
int kunwind_code_tell(struct kunwind_code *code, uint64_t time);

#endif /* LIBKUNWIND_CODE_H */
