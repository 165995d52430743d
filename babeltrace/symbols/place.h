/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* What is at an address of a file: a function, and those that were inlined into it. */
#ifndef KR_PLACE_H
#define KR_PLACE_H

#include <stdbool.h>
#include <stdint.h>

/**
 * struct kr_frame - a function at an address
 * @function: its name, demangled; of a function without a name, its file and the
 *	address where its FDE begins ("ls!0x6100"); "" if neither is known
 * @file: source file; "" if unknown
 * @line: line in it; 0 if unknown
 * @offset: how far behind @function's begin the address is; without a name the
 *	offset in the module's file. 0 for an inlined function, which has no begin
 * @inlined: it is part of the function of the next frame
 */
struct kr_frame {
	const char *function;
	const char *file;
	uint64_t offset;
	uint32_t line;
	bool inlined;
};

/**
 * struct kr_place - what is at an address
 * @signal: the kernel made this frame for a signal, and the next outer frame is
 *	the instruction that it interrupted, no return address
 * @by_fde: the outermost function has no name of its own
 * @guessed: its name is that of a symbol without a size, and nothing tells that it goes so far
 * @count: frames, at least one; the last one alone is not inlined
 * @frames: innermost first
 */
struct kr_place {
	bool signal;
	bool by_fde;
	bool guessed;
	uint32_t count;
	struct kr_frame frames[];
};

/* Return: a place of @count frames that say nothing; the caller frees it. */
struct kr_place *kr_place_new(uint32_t count);

#endif /* KR_PLACE_H */
