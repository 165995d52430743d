/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* Finding the file that was traced. */
#ifndef KR_ELF_FILE_H
#define KR_ELF_FILE_H

#include <stdbool.h>
#include "module.h"
#include "notes.h"

/**
 * kr_elf_file_open() - open the file that was traced
 * @sysroot: where to look, or NULL
 * @id: what the trace says of it
 * @path: where it was found; the caller frees it
 * @why: if it was not found: what to note; KR_UNCHECKED if it was found and
 *	nothing proves that it is the one
 *
 * A file with another build ID is never opened.
 *
 * Return: a file descriptor, or -1.
 */
int kr_elf_file_open(const char *sysroot, const struct kr_module_id *id,
		     char **path, enum kr_note *why);

#endif /* KR_ELF_FILE_H */
