// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* What is missing from the answer: one line for each kind, at the end. */
#include <glib.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include "notes.h"
#include "package.h"
#include "parent.h"
#include "safe.h"
#include "secret_hash.h"

/* How many files a line names. */
#define NAMED	3

/* Do not recommend what was built without. */
#ifdef HAVE_LIBDEBUGINFOD
#define SERVERS		", and DEBUGINFOD_URLS which servers have them"
#define DEBIAN_SERVER	"; DEBUGINFOD_URLS=https://debuginfod.debian.net fetches the symbols of Debian's files"
#else
#define SERVERS
#define DEBIAN_SERVER
#endif

/* @one, @many: how the line begins. @then: what follows of it, what to do. */
static const struct {
	const char *one;
	const char *many;
	const char *then;
} kinds[] = {
	[KR_NO_MAPS] = {
		"stack cannot be resolved",
		"stacks cannot be resolved",
		"the trace has no kunwind_map events, so addresses are shown as numbers; 'kunwind trace' records these events, and so does lttng enable-event --kernel 'kunwind_*'; if the session rotated, read all its parts together, because the first has them",
	},
	[KR_NO_SPACE] = {
		"stack does not say its address space",
		"stacks do not say their address space",
		"their addresses are shown as numbers",
	},
	[KR_UNTOLD] = {
		"stack has addresses that lie in no mapping of the trace",
		"stacks have addresses that lie in no mapping of the trace",
		"they are shown as numbers; the state dump at the start of a session says what was already mapped, in the first part if the session rotated; lttng regenerate statedump records another",
	},
	[KR_DOUBTED] = {
		"stack has names that may be those of what was mapped before events were lost",
		"stacks have names that may be those of what was mapped before events were lost",
		"they are marked as guessed; lttng regenerate statedump tells what is mapped, and in a channel of their own fewer events kunwind_* are lost",
	},
	[KR_LOST] = {
		"event was lost when the trace was recorded",
		"events were lost when the trace was recorded",
		"mappings may be among them; record with more or larger sub-buffers",
	},
	[KR_LOST_PACKETS] = {
		"packet of events was lost when the trace was recorded",
		"packets of events were lost when the trace was recorded",
		"mappings may be among them; record with more or larger sub-buffers",
	},
	[KR_NO_FILE] = {
		"file of the trace is not here",
		"files of the trace are not here",
		"addresses are shown as file+offset; kunwind report --sysroot=DIR says where the traced machine's files are" SERVERS,
	},
	[KR_OTHER_FILE] = {
		"file here is not the one that was traced: another build ID",
		"files here are not the ones that were traced: other build IDs",
		"addresses are shown as file+offset; kunwind report --sysroot=DIR says where the traced machine's files are" SERVERS,
	},
	[KR_UNREADABLE] = {
		"file cannot be read, or is no ELF file",
		"files cannot be read, or are no ELF files",
		"addresses are shown as file+offset",
	},
	[KR_NO_DESCRIPTOR] = {
		"file was not opened, as too many are open",
		"files were not opened, as too many are open",
		"addresses are shown as file+offset, so the result is incomplete; 'ulimit -n' allows more",
	},
	[KR_UNPROVEN] = {
		"file has no build ID and another inode than the one that was traced",
		"files have no build ID and other inodes than those that were traced",
		"addresses are shown as file+offset; with kunwind report --sysroot=DIR the name of a file is enough",
	},
	[KR_UNCHECKED] = {
		"file has no build ID",
		"files have no build ID",
		"the names come from the file with that path and inode, or with that path in the sysroot",
	},
	[KR_NO_ANSWER] = {
		"file was not fetched: the servers of DEBUGINFOD_URLS took too long",
		"files were not fetched: the servers of DEBUGINFOD_URLS took too long",
		"names are missing, so the result is incomplete; what servers have sent is kept, and the same command asks for the rest",
	},
	[KR_STOPPED] = {
		"file is left out: reading it took too long or too much memory, or failed badly",
		"files are left out: reading them took too long or too much memory, or failed badly",
		"addresses are shown as file+offset, so the result is incomplete",
	},
	[KR_FORGOTTEN] = {
		"address space is left out: the trace has too many mappings",
		"address spaces are left out: the trace has too many mappings",
		"those that were used least recently are; the addresses of their later stacks are shown as numbers",
	},
	[KR_JIT_LARGE] = {
		"file with names of compiled code exceeds a budget",
		"files with names of compiled code exceed a budget",
		"a process may have 64 MB of them, all processes 256 MB, and 65,536 processes some; code without a name is shown as [anon]",
	},
	[KR_NO_SYMBOLS] = {
		"file has no symbol for some of its addresses",
		"files have no symbols for some of their addresses",
		"these functions are called by where they begin, as in ls!0x6100" DEBIAN_SERVER,
	},
	[KR_NO_KALLSYMS] = {
		"kallsyms is not used",
		"kallsyms are not used",
		"it cannot be read or has no addresses, so the kernel's are shown as numbers; have root copy /proc/kallsyms, and name the copy by kunwind report --kallsyms=FILE",
	},
};

G_STATIC_ASSERT(G_N_ELEMENTS(kinds) == KR_NR_NOTES);

struct notes_of_kind {
	uint64_t count;
	GHashTable *known;
	GPtrArray *named;
};

struct kr_notes {
	struct notes_of_kind kinds[KR_NR_NOTES];
};

struct kr_notes *kr_notes_new(void)
{
	struct kr_notes *notes = g_new0(struct kr_notes, 1);
	int i;

	for (i = 0; i < KR_NR_NOTES; i++) {
		notes->kinds[i].known = g_hash_table_new_full(kr_hash_string,
			g_str_equal, g_free, NULL);
		notes->kinds[i].named = g_ptr_array_new_with_free_func(g_free);
	}
	return notes;
}

void kr_notes_free(struct kr_notes *notes)
{
	int i;

	for (i = 0; i < KR_NR_NOTES; i++) {
		g_hash_table_destroy(notes->kinds[i].known);
		g_ptr_array_unref(notes->kinds[i].named);
	}
	g_free(notes);
}

void kr_note_many(struct kr_notes *notes, enum kr_note kind, uint64_t count)
{
	notes->kinds[kind].count += count;
}

void kr_note(struct kr_notes *notes, enum kr_note kind, const char *what)
{
	struct notes_of_kind *of = &notes->kinds[kind];

	if (what) {
		if (!g_hash_table_add(of->known, g_strdup(what)))
			return;
		if (of->named->len < NAMED)
			g_ptr_array_add(of->named, g_strdup(what));
	}
	of->count++;
}

static void say(const struct notes_of_kind *of, enum kr_note kind)
{
	GString *line = g_string_new("kunwind: warning: ");
	guint i;

	g_string_append_printf(line, "%" PRIu64 " %s", of->count,
			       of->count == 1 ? kinds[kind].one : kinds[kind].many);
	for (i = 0; i < of->named->len; i++) {
		g_string_append(line, i ? ", " : " (");
		kr_safe_append(line, g_ptr_array_index(of->named, i));
	}
	if (of->named->len)
		g_string_append(line, of->count > NAMED ? ", ...)" : ")");
	fprintf(stderr, "%s: %s\n", line->str, kinds[kind].then);
	g_string_free(line, TRUE);
}

/* What to install instead. Of other distributions nothing is known. */
static void say_packages(const struct notes_of_kind *of, const char *sysroot, int parent)
{
	GPtrArray *packages = parent < 0 ? kr_packages_of_symbols(sysroot, of->known) :
					   kr_parent_packages(parent, of->known);
	GString *line = g_string_new("kunwind: or install them:");
	bool archive = false;
	guint i;

	for (i = 0; i < packages->len; i++) {
		const char *package = g_ptr_array_index(packages, i);

		archive |= g_str_has_suffix(package, "-dbgsym");
		g_string_append_c(line, ' ');
		kr_safe_append(line, package);
	}
	if (archive)
		g_string_append(line, " (-dbgsym are in Debian's archive debian-debug: https://wiki.debian.org/HowToGetABacktrace)");
	if (packages->len)
		fprintf(stderr, "%s\n", line->str);
	g_string_free(line, TRUE);
	g_ptr_array_unref(packages);
}

void kr_notes_forget(struct kr_notes *notes, enum kr_note kind)
{
	struct notes_of_kind *of = &notes->kinds[kind];

	of->count = 0;
	g_hash_table_remove_all(of->known);
	g_ptr_array_set_size(of->named, 0);
}

void kr_notes_say(struct kr_notes *notes, const char *sysroot, int parent)
{
	int i;

	/* Where both go into one file: behind whole lines of what a sink has printed. */
	fflush(stdout);
	for (i = 0; i < KR_NR_NOTES; i++) {
		if (notes->kinds[i].count)
			say(&notes->kinds[i], i);
		if (i == KR_NO_SYMBOLS && notes->kinds[i].count)
			say_packages(&notes->kinds[i], sysroot, parent);
		kr_notes_forget(notes, i);
	}
}
