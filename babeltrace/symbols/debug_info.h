/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* What symbols and debug information say of an address of one file. */
#ifndef KR_DEBUG_INFO_H
#define KR_DEBUG_INFO_H

#include <elfutils/libdwfl.h>
#include <glib.h>
#include "place.h"

/**
 * struct kr_debug - a file that elfutils has open
 * @module: addresses in it are those of the file's program headers
 * @name: what functions without a name are called after
 * @units: struct kr_unit by begin, made when .debug_aranges does not tell; or NULL
 */
struct kr_debug {
	Dwfl_Module *module;
	const char *name;
	GArray *units;
};

void kr_debug_fini(struct kr_debug *debug);

/**
 * kr_debug_look() - what is at an address
 * @debug: the file
 * @strings: where names are kept
 * @vaddr: the address
 * @call: it is a return address
 *
 * Return: a place, which the caller frees; NULL if there is no function.
 */
struct kr_place *kr_debug_look(struct kr_debug *debug, GStringChunk *strings,
			       uint64_t vaddr, bool call);

#endif /* KR_DEBUG_INFO_H */
