// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* /tmp/perf-PID.map: see jit.h. */
#include <glib.h>
#include <stdbool.h>
#include <string.h>
#include "count_before.h"
#include "files.h"
#include "jit.h"
#include "number_hash.h"
#include "reader_budgets.h"

/*
 * How many functions are looked at that start before an address: where code was dropped and
 * compiled again, functions overlap, and the last one that was written is right.
 */
#define LOOKS	64

/* @order: its line, as what comes later replaces what was there. */
struct entry {
	struct kr_jit_function function;
	guint order;
};

struct kr_jit {
	char *folder;
	GStringChunk *strings;
	/* GArray of struct entry, by PID; of a process without a file it is empty. */
	GHashTable *processes;
	/* Of all files that were read. */
	uint64_t bytes;
};

static gint compare(gconstpointer a, gconstpointer b)
{
	const struct entry *x = a, *y = b;

	return x->function.start < y->function.start ? -1 :
	       x->function.start > y->function.start;
}

static void read_line(struct kr_jit *jit, GArray *entries, char *line)
{
	struct entry entry = { .order = entries->len };
	char *end, *name;
	uint64_t size;

	entry.function.start = g_ascii_strtoull(line, &end, 16);
	size = g_ascii_strtoull(end, &name, 16);
	if (end == line || name == end || *name != ' ' || !size)
		return;
	entry.function.end = entry.function.start + size;
	entry.function.name = g_string_chunk_insert(jit->strings, name + 1);
	if (entry.function.end > entry.function.start)
		g_array_append_val(entries, entry);
}

static GArray *read_process(struct kr_jit *jit, int64_t pid)
{
	GArray *entries = g_array_new(FALSE, FALSE, sizeof(struct entry));
	char *path = g_strdup_printf("%s/perf-%" G_GINT64_FORMAT ".map", jit->folder, pid);
	uint64_t most = MIN(KR_JIT_BYTES, KR_JIT_ALL_BYTES - jit->bytes);
	size_t length = 0;
	char *text = kr_file_read(NULL, path, most, &length), *line, *save;

	for (line = text ? strtok_r(text, "\n", &save) : NULL; line;
	     line = strtok_r(NULL, "\n", &save))
		read_line(jit, entries, line);
	if (text)
		jit->bytes += length;
	g_free(text);
	g_free(path);
	g_array_sort(entries, compare);
	return entries;
}

static bool starts_by(const void *element, uint64_t address)
{
	const struct entry *entry = element;

	return entry->function.start <= address;
}

const struct kr_jit_function *kr_jit_find(struct kr_jit *jit, int64_t pid, uint64_t address)
{
	GArray *entries = g_hash_table_lookup(jit->processes, &pid);
	const struct entry *best = NULL, *entry;
	guint i, looks;

	if (!entries && g_hash_table_size(jit->processes) == KR_JIT_PROCESSES)
		return NULL;
	if (!entries) {
		entries = read_process(jit, pid);
		g_hash_table_insert(jit->processes, g_memdup2(&pid, sizeof(pid)), entries);
	}
	i = kr_count_before(entries, starts_by, address);
	for (looks = 0; i && looks < LOOKS; looks++) {
		entry = &g_array_index(entries, struct entry, --i);
		if (address < entry->function.end && (!best || entry->order > best->order))
			best = entry;
	}
	return best ? &best->function : NULL;
}

static void free_entries(gpointer entries)
{
	g_array_unref(entries);
}

struct kr_jit *kr_jit_new(const char *folder)
{
	struct kr_jit *jit = g_new0(struct kr_jit, 1);

	jit->folder = g_strdup(folder);
	jit->strings = g_string_chunk_new(1 << 16);
	jit->processes = g_hash_table_new_full(kr_hash_number, g_int64_equal, g_free,
					       free_entries);
	return jit;
}

void kr_jit_free(struct kr_jit *jit)
{
	g_hash_table_destroy(jit->processes);
	g_string_chunk_free(jit->strings);
	g_free(jit->folder);
	g_free(jit);
}
