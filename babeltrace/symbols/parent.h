/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * kunwind report reads a trace in a child without privileges, the reader. Its parent has
 * kept the user's rights:
 *
 *   reader ──addresses──► parent ──file descriptors, questions──► symbolizer
 *   reads the trace       opens the files that it names           reads those (keeper.h)
 *
 * A reader that was taken over gets names out of the user's ELF files, and no file.
 * Both ends of its questions are here. The end of the reader is a socket; it is -1 in a
 * process that has no such parent, as babeltrace2 itself.
 */
#ifndef KR_PARENT_H
#define KR_PARENT_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>
#include "keeper.h"
#include "module.h"

/* As kr_keeper_look(). */
GVariant *kr_parent_look(int parent, uint32_t number, const struct kr_module_id *id,
			 uint64_t offset, bool call, struct kr_about *about);

/* As kr_packages_of_symbols(). */
GPtrArray *kr_parent_packages(int parent, GHashTable *paths);

/**
 * kr_parent_serve() - answer one question
 * @reader: socket of the reader
 * @keeper: looks at files
 * @sysroot: where files are, or NULL
 *
 * Return: false if the reader has ended, or asks nonsense.
 */
bool kr_parent_serve(int reader, struct kr_keeper *keeper, const char *sysroot);

#endif /* KR_PARENT_H */
