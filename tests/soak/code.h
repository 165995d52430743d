/* SPDX-License-Identifier: MIT */
/* Code of a library, to be mapped by hand. */
#ifndef KUNWIND_STORM_CODE_H
#define KUNWIND_STORM_CODE_H

#include <stddef.h>
#include <sys/types.h>

#include "storm.h"
#include "tap.h"

/* The executable segment, and where in it variant_call() is; in whole pages. */
struct code {
	size_t length;
	off_t offset;
	size_t entry;
};

/* Return: the file, open for reading, or -1 and errno. */
int code_open(const char *path, struct code *code);

/* Call the code that is mapped @at. */
void code_call(const struct code *code, char *at, enum live_bottom bottom,
	       const char *where);

/* Return: whether @to has got all of @from. */
int code_copy(const char *from, int to);

#endif /* KUNWIND_STORM_CODE_H */
