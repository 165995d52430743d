// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * The functions around an address in the tree of DIEs, and their names.
 *
 * elfutils' dwarf_getscopes() finds no function of Rust, because it does not look
 * below a DIE without addresses, such as a namespace. It also recurses: with 8 MB
 * of stack it crashes on 50,000 nested DIEs, which 600 KB can hold.
 */
#include <dwarf.h>
#include <stdbool.h>
#include "demangle.h"
#include "reader_budgets.h"
#include "scopes.h"

/*
 * Return: whether a function around the address was found below a DIE. A function's own
 * addresses do not include those of the functions that are nested in it, as GNU C and Ada
 * have them.
 */
static bool descend(struct kr_scopes *scopes, Dwarf_Die *parent, unsigned int depth)
{
	Dwarf_Die die;

	if (dwarf_child(parent, &die))
		return false;
	if (depth == KR_DIE_LEVELS) {
		/* Each level above would read all this again for its next DIE. */
		scopes->dies = KR_DIES;
		return false;
	}
	do {
		switch (dwarf_tag(&die)) {
		case DW_TAG_subprogram:
		case DW_TAG_inlined_subroutine:
			if (dwarf_haspc(&die, scopes->pc) > 0) {
				g_array_append_val(scopes->found, die);
				descend(scopes, &die, depth + 1);
				return true;
			}
			if (scopes->nested && descend(scopes, &die, depth + 1))
				return true;
			break;
		case DW_TAG_lexical_block:
		case DW_TAG_try_block:
		case DW_TAG_catch_block:
			if (dwarf_haspc(&die, scopes->pc) > 0)
				return descend(scopes, &die, depth + 1);
			if (scopes->nested && descend(scopes, &die, depth + 1))
				return true;
			break;
		case DW_TAG_namespace:
		case DW_TAG_module:
		case DW_TAG_class_type:
		case DW_TAG_structure_type:
		case DW_TAG_union_type:
		case DW_TAG_enumeration_type:
			/* Rust puts functions below the type that they are of. */
			if (descend(scopes, &die, depth + 1))
				return true;
			break;
		}
	} while (++scopes->dies < KR_DIES && !dwarf_siblingof(&die, &die));
	return false;
}

/* Where a function is declared, which its other DIEs refer to. */
static void to_declaration(Dwarf_Die *die)
{
	static const unsigned int attrs[] = {
		DW_AT_abstract_origin, DW_AT_specification,
	};
	Dwarf_Attribute attr;
	Dwarf_Die next;
	size_t i;

	for (i = 0; i < G_N_ELEMENTS(attrs); i++)
		if (dwarf_formref_die(dwarf_attr(die, attrs[i], &attr), &next))
			*die = next;
}

static void append_scope(GString *to, Dwarf_Die *die)
{
	const char *name = dwarf_diename(die);

	switch (dwarf_tag(die)) {
	case DW_TAG_namespace:
		g_string_append(to, name ?: "(anonymous namespace)");
		g_string_append(to, "::");
		break;
	case DW_TAG_class_type:
	case DW_TAG_structure_type:
	case DW_TAG_union_type:
		if (name)
			g_string_append_printf(to, "%s::", name);
		break;
	}
}

/*
 * Return: whether the DIEs of a level may be read. Without DW_AT_sibling that reads
 * what is below them, too: the whole unit at worst.
 */
static bool may_read_level(struct kr_scopes *scopes, Dwarf_Die *die)
{
	Dwarf_Off end, start = dwarf_dieoffset(die) - dwarf_cuoffset(die);

	if (dwarf_nextcu(dwarf_cu_getdwarf(die->cu), start, &end, NULL, NULL, NULL,
			 NULL))
		return false;
	scopes->scope_bytes += end - start;
	return scopes->scope_bytes <= KR_SCOPE_BYTES;
}

/*
 * The namespaces and classes that a function is declared in. DIEs know no parents, but
 * they are in the order of the file: the parent is the last one that begins before.
 */
static void append_scopes(struct kr_scopes *scopes, GString *to, Dwarf_Die *function)
{
	Dwarf_Off wanted = dwarf_dieoffset(function);
	unsigned int depth, dies = 0;
	Dwarf_Die at, next;

	if (!dwarf_diecu(function, &at, NULL, NULL))
		return;
	for (depth = 0; depth < KR_DIE_LEVELS; depth++) {
		if (dwarf_child(&at, &next) || !may_read_level(scopes, &at))
			return;
		do
			at = next;
		while (!dwarf_siblingof(&at, &next) &&
		       dwarf_dieoffset(&next) <= wanted && ++dies < KR_DIES);
		if (dies >= KR_DIES || dwarf_dieoffset(&at) >= wanted)
			return;
		append_scope(to, &at);
	}
}

/* Templates of types that have no linkage, such as a lambda's, have no linkage name. */
const char *kr_scopes_name(struct kr_scopes *scopes, GStringChunk *strings, Dwarf_Die *die)
{
	static const unsigned int attrs[] = {
		DW_AT_linkage_name, DW_AT_MIPS_linkage_name,
	};
	Dwarf_Attribute attr;
	Dwarf_Die declared = *die;
	const char *name;
	GString *scoped;
	size_t i;

	for (i = 0; i < G_N_ELEMENTS(attrs); i++) {
		name = dwarf_formstring(dwarf_attr_integrate(die, attrs[i], &attr));
		if (name)
			return kr_demangle(strings, name);
	}
	name = dwarf_formstring(dwarf_attr_integrate(die, DW_AT_name, &attr));
	if (!name)
		return "";
	scoped = g_string_new(NULL);
	to_declaration(&declared);
	append_scopes(scopes, scoped, &declared);
	g_string_append(scoped, name);
	name = kr_demangle(strings, scoped->str);
	g_string_free(scoped, TRUE);
	return name;
}

/* The first of several functions may not be inlined. */
static void keep_one_chain(GArray *found)
{
	guint i;

	for (i = found->len; i-- > 1;)
		if (dwarf_tag(&g_array_index(found, Dwarf_Die, i)) !=
		    DW_TAG_inlined_subroutine) {
			g_array_remove_range(found, 0, i);
			return;
		}
}

void kr_scopes_find(struct kr_scopes *scopes, Dwarf_Die *unit, Dwarf_Addr pc)
{
	scopes->found = g_array_new(FALSE, FALSE, sizeof(Dwarf_Die));
	scopes->pc = pc;
	if (unit) {
		/* Most units have no nested functions: looking for them costs much more. */
		if (!descend(scopes, unit, 0)) {
			scopes->nested = true;
			descend(scopes, unit, 0);
		}
		keep_one_chain(scopes->found);
	}
}
