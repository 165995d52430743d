/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * Files that users chose are read by a child without privileges, the symbolizer:
 *
 *   keeper ──file descriptors, questions──► symbolizer
 *   opens files, reads none                 reads them, opens none
 *
 * A file that crashes the symbolizer, or exceeds a budget, ends that process alone. The
 * keeper starts another one, and leaves the file out. It is part of the process that has
 * the user's rights: of the reader, or of its parent (parent.h).
 */
#ifndef KR_KEEPER_H
#define KR_KEEPER_H

#include <glib.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include "module.h"
#include "notes.h"

struct kr_keeper;

/**
 * struct kr_about - what is to say of a file that was asked for an address
 * @why: what to note of it; KR_NR_NOTES: nothing
 * @again: it was closed, as too much was open, and had to be opened again
 */
struct kr_about {
	enum kr_note why;
	bool again;
};

/**
 * kr_keeper_new() - no symbolizer yet
 * @sysroot: where files are, or NULL
 * @by_name: the user said so: where no build ID is known, a file's name is enough
 * @stop: set when no answer is wanted any more, or NULL
 */
struct kr_keeper *kr_keeper_new(const char *sysroot, bool by_name,
				const volatile sig_atomic_t *stop);
void kr_keeper_free(struct kr_keeper *keeper);

/* Start the symbolizer if none runs. Return: false and errno. */
bool kr_keeper_start(struct kr_keeper *keeper);

/**
 * kr_keeper_look() - what is at an address of a file
 * @keeper: the keeper
 * @number: of the file; another one for each
 * @id: what the trace says of it
 * @offset: the address, as an offset in the file
 * @call: it is a return address
 * @about: set to what is to say of the file
 *
 * Return: KR_ANSWER's body, or NULL.
 */
GVariant *kr_keeper_look(struct kr_keeper *keeper, uint32_t number,
			 const struct kr_module_id *id, uint64_t offset, bool call,
			 struct kr_about *about);

#endif /* KR_KEEPER_H */
