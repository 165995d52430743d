/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
#ifndef FUZZ_FUZZ_H
#define FUZZ_FUZZ_H

#include <stdio.h>
#include "kunwind_port.h"
#include "load.h"
#include "walk.h"

int LLVMFuzzerTestOneInput(const u8 *data, size_t size);

/* What a target asserts besides not crashing. */
#define must(condition) \
	do { \
		if (!(condition)) { \
			/* A target may keep what it tests off stderr. */ \
			dprintf(2, "ERROR: %s:%d: not so: %s\n", __FILE__, __LINE__, \
				#condition); \
			__builtin_trap(); \
		} \
	} while (0)

#define FUZZ_TEXT	0x1000ULL
#define FUZZ_TEXT_LEN	0x10000u
#define FUZZ_EH		0x20000ULL
#define FUZZ_BIAS	0x555555554000ULL
#define FUZZ_STACK	0x7ffffff00000ULL
#define FUZZ_WORDS	256

/* Compile @bytes as the .eh_frame of a file whose text is FUZZ_TEXT; @word: 8 or 4. */
int fuzz_compile(struct host_table *t, u32 word, const u8 *eh_frame, u32 len);

/* Ask a table for everything, and walk with it; it must hold together. */
void fuzz_table(const struct host_table *t);

#endif /* FUZZ_FUZZ_H */
