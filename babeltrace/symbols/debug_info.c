// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * What symbols and debug information say of an address: the function of the
 * symbol table, the line of the line table, and the functions that were inlined
 * there.
 */
#include <dwarf.h>
#include <elfutils/libdw.h>
#include <glib.h>
#include <inttypes.h>
#include <stdlib.h>
#include "count_before.h"
#include "debug_info.h"
#include "demangle.h"
#include "fde.h"
#include "scopes.h"

struct kr_unit {
	Dwarf_Addr start;
	Dwarf_Addr end;
	Dwarf_Off die;
};

void kr_debug_fini(struct kr_debug *debug)
{
	if (debug->units)
		g_array_unref(debug->units);
	debug->units = NULL;
	debug->module = NULL;
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
static struct kr_place *fill(struct kr_scopes *scopes, GStringChunk *strings,
			     Dwarf_Die *unit)
{
	Dwarf_Line *line = unit ? dwarf_getsrc_die(unit, scopes->pc) : NULL;
	GArray *found = scopes->found;
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
		place->frames[i].function = kr_scopes_name(scopes, strings, die);
		set_call(&place->frames[i + 1], strings, unit, die);
	}
	return place;
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

/* Whether static functions have symbols, as strip(1) has left them: then each function has one. */
static bool has_all_symbols(struct kr_debug *debug)
{
	int i, locals = dwfl_module_getsymtab_first_global(debug->module);
	GElf_Addr addr;
	GElf_Sym sym;

	for (i = 1; i < locals; i++)
		if (dwfl_module_getsym_info(debug->module, i, &sym, &addr, NULL, NULL, NULL) &&
		    GELF_ST_TYPE(sym.st_info) == STT_FUNC)
			return true;
	return false;
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
	uint64_t pc = signal ? vaddr : vaddr - call;
	struct kr_scopes scopes = { 0 };
	Dwarf_Die mem, *unit, *outer = NULL;
	Dwarf_Addr bias = 0, low;
	struct kr_place *place;
	struct kr_frame *frame;
	bool unsized = false;
	const char *symbol;
	GElf_Off offset;
	GElf_Sym sym;

	symbol = dwfl_module_addrinfo(debug->module, pc, &offset, &sym, NULL, NULL, NULL);
	/*
	 * One without a size can be followed by functions without a symbol. If it is before this
	 * FDE, it is another function's. A restorer's FDE starts a byte before it.
	 */
	if (symbol && !sym.st_size && offset && !has_all_symbols(debug)) {
		if (covered && fde.end && pc - offset < fde.start)
			symbol = NULL;
		unsized = !covered;
	}
	offset += vaddr - pc;
	unit = find_unit(debug, pc, &mem, &bias);
	kr_scopes_find(&scopes, unit, pc - bias);
	if (scopes.found->len)
		outer = &g_array_index(scopes.found, Dwarf_Die, 0);
	if (unsized && outer)
		symbol = NULL;
	place = fill(&scopes, strings, unit);
	place->signal = signal;
	frame = &place->frames[place->count - 1];
	if (symbol) {
		frame->function = kr_demangle(strings, symbol);
		frame->offset = offset;
		place->guessed = unsized;
	} else if (outer && !dwarf_lowpc(outer, &low)) {
		frame->function = kr_scopes_name(&scopes, strings, outer);
		frame->offset = vaddr - bias - low;
	} else if (signal) {
		frame->function = "<signal handler called>";
	} else if (covered && fde.end) {
		name_by_fde(debug, strings, vaddr, &fde, frame);
		place->by_fde = true;
	}
	g_array_unref(scopes.found);
	if (!frame->function[0]) {
		g_free(place);
		return NULL;
	}
	return place;
}
