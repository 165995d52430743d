/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* Finding the file that was traced, and its debug information. */
#ifndef KR_ELF_FILE_H
#define KR_ELF_FILE_H

#include <glib.h>
#include <stdbool.h>
#include "module.h"
#include "servers.h"

/* Return: where a file can be, the most likely place first. */
GPtrArray *kr_elf_file_places(const struct kr_module_id *id);

/**
 * kr_elf_file_open() - open what is at a place
 * @sysroot: where to look, or NULL
 * @servers: where else
 * @id: what the trace says of the file
 * @place: of kr_elf_file_places()
 * @unreadable: set to whether there is something that cannot be read
 *
 * Return: a file descriptor, or -1. It may be another file.
 */
int kr_elf_file_open(const char *sysroot, struct kr_servers *servers,
		     const struct kr_module_id *id, const char *place, bool *unreadable);

/**
 * kr_elf_file_find_debug() - open what may have the debug information of a file
 * @sysroot: where to look, or NULL
 * @servers: where else
 * @path: of the file
 * @name: what it calls it, or ""
 * @id: its build ID
 * @length: of that, in bytes; 0: it has none
 * @nth: which place
 * @more: set to whether there is another place
 *
 * Return: a file descriptor, or -1.
 */
int kr_elf_file_find_debug(const char *sysroot, struct kr_servers *servers, const char *path,
			   const char *name, const uint8_t *id, size_t length, unsigned int nth,
			   bool *more);

/* Return: what the file takes of its disk. A hole costs its owner nothing, and counts as nothing. */
uint64_t kr_elf_file_bytes(int fd);

#endif /* KR_ELF_FILE_H */
