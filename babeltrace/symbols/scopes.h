/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* The functions around an address, by the debug information: DWARF 5 3.3.8. */
#ifndef KR_SCOPES_H
#define KR_SCOPES_H

#include <elfutils/libdw.h>
#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

/**
 * struct kr_scopes - the functions around an address; begins as zero
 * @pc: the address, as DWARF has it
 * @found: their DIEs, outermost first; the owner frees it
 * @nested: functions within those that are elsewhere are looked at, too
 * @dies: how many DIEs were read
 * @scope_bytes: how many bytes were read for names
 */
struct kr_scopes {
	Dwarf_Addr pc;
	GArray *found;
	bool nested;
	unsigned int dies;
	uint64_t scope_bytes;
};

/* Find them. @unit: the unit of the address; NULL: there are none. */
void kr_scopes_find(struct kr_scopes *scopes, Dwarf_Die *unit, Dwarf_Addr pc);

/**
 * kr_scopes_name() - the name of a function
 * @scopes: where it was found
 * @strings: where names are kept
 * @die: its DIE
 *
 * Return: the name in @strings, with namespaces and classes; "" if it has none.
 */
const char *kr_scopes_name(struct kr_scopes *scopes, GStringChunk *strings, Dwarf_Die *die);

#endif /* KR_SCOPES_H */
