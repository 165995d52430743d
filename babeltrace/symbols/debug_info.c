// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * What symbols and debug information say of an address: the function of the
 * symbol table, the line of the line table, and the functions that were inlined
 * there (DWARF 5 3.3.8).
 *
 * elfutils' dwarf_getscopes() finds no function of Rust, because it does not look
 * below a DIE without addresses, such as a namespace. It also recurses: with 8 MB
 * of stack it crashes on 50,000 nested DIEs, which 600 KB can hold.
 */
#include <dwarf.h>
#include <elfutils/libdw.h>
#include <glib.h>
#include <inttypes.h>
#include <libiberty/demangle.h>
#include <setjmp.h>
#include <stdlib.h>
#include <string.h>
#include "count_before.h"
#include "debug_info.h"
#include "fde.h"

/* Debug information is anybody's bytes: its tree is as deep, and a look at it as
 * long, as it likes.
 */
#define MAX_DEPTH	64
#define MAX_DIES	(1 << 22)

/*
 * What elfutils may read to find the scopes of all names at an address. Without
 * this limit a file of 16 MB takes minutes for one address.
 */
#define MAX_SCOPE_BYTES	(1 << 28)

/*
 * A symbol is anybody's bytes, too: one of 400 characters can stand for more than
 * there is memory. The longest one of Rust's compiler has 1,222.
 */
#define MAX_DEMANGLED	(1 << 16)

struct kr_unit {
	Dwarf_Addr start;
	Dwarf_Addr end;
	Dwarf_Off die;
};

/* The functions around an address, outermost first, in @found. */
struct search {
	Dwarf_Addr pc;
	GArray *found;
	unsigned int dies;
	uint64_t scope_bytes;
};

void kr_debug_fini(struct kr_debug *debug)
{
	if (debug->units)
		g_array_unref(debug->units);
	debug->units = NULL;
	debug->module = NULL;
}

/* A name that is put together. */
struct demangled {
	GString *text;
	jmp_buf too_long;
};

static void append(const char *piece, size_t length, void *data)
{
	struct demangled *d = data;

	/*
	 * The demangler has no other way to stop: a symbol of 250 characters keeps it
	 * busy for 10 s, and 10 more double that. It works on its stack. Only a name
	 * of Rust in Punycode (RFC 3492) leaves memory behind, 8 times its length at
	 * most.
	 */
	if (length > MAX_DEMANGLED - d->text->len)
		longjmp(d->too_long, 1);
	g_string_append_len(d->text, piece, length);
}

/* Return: whether it is a name of Rust or C++ of reasonable length. */
static bool demangle(const char *name, struct demangled *d)
{
	if (name[0] != '_' || (name[1] != 'Z' && name[1] != 'R') ||
	    strlen(name) > MAX_DEMANGLED || setjmp(d->too_long))
		return false;
	if (rust_demangle_callback(name, DMGL_PARAMS | DMGL_ANSI, append, d))
		return true;
	g_string_truncate(d->text, 0);
	return cplus_demangle_v3_callback(name, DMGL_PARAMS | DMGL_ANSI, append, d);
}

/* Return: a name as its programmer wrote it, without the version of a symbol. */
static const char *intern_demangled(GStringChunk *strings, const char *name)
{
	char *plain = g_strndup(name, strcspn(name, "@"));
	struct demangled d = { .text = g_string_new(NULL) };

	name = g_string_chunk_insert_const(strings,
					   demangle(plain, &d) ? d.text->str : plain);
	g_string_free(d.text, TRUE);
	g_free(plain);
	return name;
}

static gint compare_units(gconstpointer a, gconstpointer b)
{
	const struct kr_unit *x = a, *y = b;

	return x->start < y->start ? -1 : x->start > y->start;
}

static void list_units(struct kr_debug *debug)
{
	Dwarf_Addr bias, base;
	Dwarf_Die *die = NULL;
	ptrdiff_t next;

	debug->units = g_array_new(FALSE, FALSE, sizeof(struct kr_unit));
	while ((die = dwfl_module_nextcu(debug->module, die, &bias))) {
		struct kr_unit unit = { .die = dwarf_dieoffset(die) };

		for (next = 0; (next = dwarf_ranges(die, next, &base, &unit.start,
						    &unit.end)) > 0;)
			if (unit.start < unit.end)
				g_array_append_val(debug->units, unit);
	}
	g_array_sort(debug->units, compare_units);
}

static bool starts_by(const void *element, uint64_t address)
{
	const struct kr_unit *unit = element;

	return unit->start <= address;
}

/*
 * clang writes no .debug_aranges: look at the units themselves. libdwfl gives what
 * lies between two units to the first of them.
 */
static Dwarf_Die *find_unit(struct kr_debug *debug, Dwarf_Addr pc,
			    Dwarf_Die *mem, Dwarf_Addr *bias)
{
	Dwarf_Die *die = dwfl_module_addrdie(debug->module, pc, bias);
	const struct kr_unit *unit;
	Dwarf *dwarf;
	guint count;

	if (die && dwarf_haspc(die, pc - *bias) > 0)
		return die;
	dwarf = dwfl_module_getdwarf(debug->module, bias);
	if (!dwarf)
		return NULL;
	if (!debug->units)
		list_units(debug);
	count = kr_count_before(debug->units, starts_by, pc - *bias);
	if (!count)
		return NULL;
	unit = &g_array_index(debug->units, struct kr_unit, count - 1);
	return pc - *bias < unit->end ? dwarf_offdie(dwarf, unit->die, mem) : NULL;
}

/* Return: whether a function around the address was found below a DIE. */
static bool descend(struct search *search, Dwarf_Die *parent, unsigned int depth)
{
	Dwarf_Die die;

	if (dwarf_child(parent, &die))
		return false;
	if (depth == MAX_DEPTH) {
		/* Each level above would read all this again for its next DIE. */
		search->dies = MAX_DIES;
		return false;
	}
	do {
		switch (dwarf_tag(&die)) {
		case DW_TAG_subprogram:
		case DW_TAG_inlined_subroutine:
			if (dwarf_haspc(&die, search->pc) <= 0)
				break;
			g_array_append_val(search->found, die);
			descend(search, &die, depth + 1);
			return true;
		case DW_TAG_lexical_block:
		case DW_TAG_try_block:
		case DW_TAG_catch_block:
			if (dwarf_haspc(&die, search->pc) <= 0)
				break;
			return descend(search, &die, depth + 1);
		case DW_TAG_namespace:
		case DW_TAG_module:
		case DW_TAG_class_type:
		case DW_TAG_structure_type:
		case DW_TAG_union_type:
		case DW_TAG_enumeration_type:
			/* Rust puts functions below the type that they are of. */
			if (descend(search, &die, depth + 1))
				return true;
			break;
		}
	} while (++search->dies < MAX_DIES && !dwarf_siblingof(&die, &die));
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
static bool may_read_level(struct search *search, Dwarf_Die *die)
{
	Dwarf_Off end, start = dwarf_dieoffset(die) - dwarf_cuoffset(die);

	if (dwarf_nextcu(dwarf_cu_getdwarf(die->cu), start, &end, NULL, NULL, NULL,
			 NULL))
		return false;
	search->scope_bytes += end - start;
	return search->scope_bytes <= MAX_SCOPE_BYTES;
}

/*
 * The namespaces and classes that a function is declared in. DIEs know no parents, but
 * they are in the order of the file: the parent is the last one that begins before.
 */
static void append_scopes(struct search *search, GString *to, Dwarf_Die *function)
{
	Dwarf_Off wanted = dwarf_dieoffset(function);
	unsigned int depth, dies = 0;
	Dwarf_Die at, next;

	if (!dwarf_diecu(function, &at, NULL, NULL))
		return;
	for (depth = 0; depth < MAX_DEPTH; depth++) {
		if (dwarf_child(&at, &next) || !may_read_level(search, &at))
			return;
		do
			at = next;
		while (!dwarf_siblingof(&at, &next) &&
		       dwarf_dieoffset(&next) <= wanted && ++dies < MAX_DIES);
		if (dies >= MAX_DIES || dwarf_dieoffset(&at) >= wanted)
			return;
		append_scope(to, &at);
	}
}

/* Templates of types that have no linkage, such as a lambda's, have no linkage name. */
static const char *die_name(struct search *search, GStringChunk *strings,
			    Dwarf_Die *die)
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
			return intern_demangled(strings, name);
	}
	name = dwarf_formstring(dwarf_attr_integrate(die, DW_AT_name, &attr));
	if (!name)
		return "";
	scoped = g_string_new(NULL);
	to_declaration(&declared);
	append_scopes(search, scoped, &declared);
	g_string_append(scoped, name);
	name = intern_demangled(strings, scoped->str);
	g_string_free(scoped, TRUE);
	return name;
}

static void set_line(struct kr_frame *frame, GStringChunk *strings,
		     const char *file, int line)
{
	if (file && line > 0) {
		frame->file = g_string_chunk_insert_const(strings, file);
		frame->line = line;
	}
}

/* Where the function of a DIE was inlined, which is in the frame around it. */
static void set_call(struct kr_frame *frame, GStringChunk *strings,
		     Dwarf_Die *unit, Dwarf_Die *inlined)
{
	Dwarf_Word file, line;
	Dwarf_Attribute attr;
	Dwarf_Files *files;
	size_t n;

	if (!dwarf_formudata(dwarf_attr(inlined, DW_AT_call_file, &attr), &file) &&
	    !dwarf_formudata(dwarf_attr(inlined, DW_AT_call_line, &attr), &line) &&
	    !dwarf_getsrcfiles(unit, &files, &n) && file < n && line <= G_MAXINT)
		set_line(frame, strings, dwarf_filesrc(files, file, NULL, NULL),
			 line);
}

/*
 * The frames of what was found: the innermost with the line of the line table, every
 * other one with the line where the one in it was inlined.
 */
static struct kr_place *fill(struct search *search, GStringChunk *strings,
			     Dwarf_Die *unit)
{
	Dwarf_Line *line = unit ? dwarf_getsrc_die(unit, search->pc) : NULL;
	GArray *found = search->found;
	struct kr_place *place = kr_place_new(MAX(found->len, 1));
	int number = 0;
	guint i;

	if (line && !dwarf_lineno(line, &number))
		set_line(&place->frames[0], strings,
			 dwarf_linesrc(line, NULL, NULL), number);
	for (i = 0; i + 1 < found->len; i++) {
		Dwarf_Die *die = &g_array_index(found, Dwarf_Die,
						found->len - 1 - i);

		place->frames[i].inlined = true;
		place->frames[i].function = die_name(search, strings, die);
		set_call(&place->frames[i + 1], strings, unit, die);
	}
	return place;
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

/*
 * Return: whether an FDE covers the address. A restorer's FDE begins a byte before it,
 * for those who look at calls. Without a search table only @fde->signal is set.
 */
static bool find_fde(struct kr_debug *debug, uint64_t pc, struct kr_fde *fde)
{
	GElf_Addr bias;
	Elf *elf = dwfl_module_getelf(debug->module, &bias);
	int found = kr_fde_find(elf, pc - bias, fde);
	Dwarf_Frame *frame;
	Dwarf_CFI *cfi;

	if (found >= 0)
		return found;
	*fde = (struct kr_fde){ 0 };
	cfi = dwfl_module_eh_cfi(debug->module, &bias);
	if (!cfi || dwarf_cfi_addrframe(cfi, pc - bias, &frame))
		return false;
	dwarf_frame_info(frame, NULL, NULL, &fde->signal);
	free(frame);
	return true;
}

/* A function without a symbol is called by where it begins: "ls!0x6100". */
static void name_by_fde(struct kr_debug *debug, GStringChunk *strings, uint64_t vaddr,
			const struct kr_fde *fde, struct kr_frame *frame)
{
	char *name = g_strdup_printf("%s!%#" PRIx64, debug->name, fde->start);

	frame->function = g_string_chunk_insert_const(strings, name);
	frame->offset = vaddr - fde->start;
	g_free(name);
}

struct kr_place *kr_debug_look(struct kr_debug *debug, GStringChunk *strings,
			       uint64_t vaddr, bool call)
{
	struct kr_fde fde;
	bool covered = find_fde(debug, vaddr - call, &fde);
	bool signal = covered && fde.signal;
	struct search search = { .pc = signal ? vaddr : vaddr - call };
	Dwarf_Die mem, *unit, *outer = NULL;
	Dwarf_Addr bias = 0, low;
	struct kr_place *place;
	struct kr_frame *frame;
	const char *symbol;
	GElf_Off offset;
	GElf_Sym sym;

	symbol = dwfl_module_addrinfo(debug->module, search.pc, &offset, &sym,
				      NULL, NULL, NULL);
	offset += vaddr - search.pc;
	search.found = g_array_new(FALSE, FALSE, sizeof(Dwarf_Die));
	unit = find_unit(debug, search.pc, &mem, &bias);
	search.pc -= bias;
	if (unit) {
		descend(&search, unit, 0);
		keep_one_chain(search.found);
	}
	if (search.found->len)
		outer = &g_array_index(search.found, Dwarf_Die, 0);
	place = fill(&search, strings, unit);
	place->signal = signal;
	frame = &place->frames[place->count - 1];
	if (symbol) {
		frame->function = intern_demangled(strings, symbol);
		frame->offset = offset;
	} else if (outer && !dwarf_lowpc(outer, &low)) {
		frame->function = die_name(&search, strings, outer);
		frame->offset = vaddr - bias - low;
	} else if (signal) {
		frame->function = "<signal handler called>";
	} else if (covered && fde.end) {
		name_by_fde(debug, strings, vaddr, &fde, frame);
		place->by_fde = true;
	}
	g_array_unref(search.found);
	if (!frame->function[0]) {
		g_free(place);
		return NULL;
	}
	return place;
}
