/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * The files that a trace's code is from, and what is at an address of one.
 * elfutils reads them, in a process of its own (keeper.h), and finds their symbols: in the
 * file itself, its .gnu_debugdata, behind its .gnu_debuglink, below /usr/lib/debug, or, if
 * DEBUGINFOD_URLS is set, with debuginfod.
 *
 * Every answer is kept: a trace has few addresses, many times each.
 */
#ifndef KR_MODULE_H
#define KR_MODULE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "place.h"

struct kr_notes;
struct kr_module;
struct kr_modules;

/**
 * struct kr_module_id - what the trace says of a file
 * @path: as the process saw it
 * @build_id: its build ID
 * @build_id_len: in bytes, 0 if it has none
 * @dev: device, as st_dev
 * @inode: inode number
 */
struct kr_module_id {
	const char *path;
	const uint8_t *build_id;
	size_t build_id_len;
	uint64_t dev;
	uint64_t inode;
};

/**
 * kr_modules_new() - no files yet
 * @sysroot: where the traced machine's files are, or NULL for this one's
 * @by_name: as for kr_keeper_new()
 * @parent: socket of the process that opens them (parent.h); -1: this process does
 * @notes: what is missing
 */
struct kr_modules *kr_modules_new(const char *sysroot, bool by_name, int parent,
				  struct kr_notes *notes);

/*
 * Start the process that reads files, which the first question does otherwise: a process
 * forks best while it is small and has no other threads. Return: false and errno.
 */
bool kr_modules_start(struct kr_modules *modules);
void kr_modules_free(struct kr_modules *modules);

/* Return: the file, the same one for the same path and build ID. */
struct kr_module *kr_module_get(struct kr_modules *modules,
				const struct kr_module_id *id);

const char *kr_module_path(const struct kr_module *module);

/* Return: the build ID in hexadecimal; "" if it has none. */
const char *kr_module_build_id(const struct kr_module *module);

/* Return: the last component of a path; of what is in brackets all of it. */
const char *kr_base_name(const char *path);

/**
 * kr_module_resolve() - what is at an address
 * @module: the file
 * @offset: the address, as an offset in the file
 * @call: it is a return address: what matters is the call before it
 *
 * Return: what is known; it lives as long as the modules.
 */
const struct kr_place *kr_module_resolve(struct kr_module *module,
					 uint64_t offset, bool call);

/*
 * Return: whether the file was closed and had to be opened again, since this was last asked. That
 * is dear, so now is the time to ask for other addresses of the file.
 */
bool kr_module_was_reopened(struct kr_module *module);

#endif /* KR_MODULE_H */
