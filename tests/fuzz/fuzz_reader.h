/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* Targets whose input is a file, or several, that the reader of traces opens. */
#ifndef FUZZ_FUZZ_READER_H
#define FUZZ_FUZZ_READER_H

#include "fuzz.h"

/* Return: a folder of this process's own, which is removed when it ends. */
const char *fuzz_folder(void);

/* Write a file in that folder; the name may have one more folder. */
void fuzz_write(const char *name, const u8 *data, size_t size);

/* Return: the input up to the next 0xff 0xff, behind which @data is then. */
size_t fuzz_part(const u8 **data, size_t *size, const u8 **part);

#endif /* FUZZ_FUZZ_READER_H */
