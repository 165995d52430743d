// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* See jit.h. */
#include <errno.h>
#include <glib.h>
#include <stdbool.h>
#include <string.h>
#include "count_before.h"
#include "files.h"
#include "jit.h"
#include "jitdump.h"
#include "reader_budgets.h"
#include "secret_hash.h"

/*
 * @order: its line, as what comes later replaces what was there.
 * @reach: the last end of this function and of all that start before.
 */
struct entry {
	struct kr_jit_function function;
	guint order;
	uint64_t reach;
};

struct kr_jit {
	char *folder;
	GStringChunk *strings;
	/* GArray of struct entry, by PID; of a process without a file it is empty. */
	GHashTable *processes;
	/* Of all files that were read, and of what they say. */
	uint64_t bytes;
	/* Files of which some names are missing. */
	uint64_t left_out;
};

static gint compare(gconstpointer a, gconstpointer b)
{
	const struct entry *x = a, *y = b;

	return x->function.start < y->function.start ? -1 :
	       x->function.start > y->function.start;
}

/* Where the functions of one process go. */
struct into {
	GStringChunk *strings;
	GArray *entries;
	bool full;
};

static void add(void *data, uint64_t start, uint64_t size, const char *name)
{
	struct into *into = data;
	struct entry entry = {
		.function = { .start = start, .end = start + size },
		.order = into->entries->len,
	};

	if (entry.function.end <= start)
		return;
	/* A line of a map can have 5 bytes. */
	if (into->entries->len == KR_JIT_BYTES / sizeof(entry)) {
		into->full = true;
		return;
	}
	entry.function.name = g_string_chunk_insert(into->strings, name);
	g_array_append_val(into->entries, entry);
}

static void read_line(struct into *into, char *line)
{
	char *end, *name;
	uint64_t start = g_ascii_strtoull(line, &end, 16);
	uint64_t size = g_ascii_strtoull(end, &name, 16);

	if (end != line && name != end && *name == ' ')
		add(into, start, size, name + 1);
}

static void read_map(struct into *into, char *text)
{
	char *line, *save;

	for (line = strtok_r(text, "\n", &save); line; line = strtok_r(NULL, "\n", &save))
		read_line(into, line);
}

/* Return: a file of a process, or NULL. */
static char *read_file(struct kr_jit *jit, const char *before, int64_t pid, const char *after,
		       size_t *length)
{
	char *path = g_strdup_printf("%s/%s%" G_GINT64_FORMAT "%s", jit->folder, before, pid,
				     after);
	uint64_t most = MIN(KR_JIT_BYTES, KR_JIT_ALL_BYTES - jit->bytes);
	char *bytes = kr_file_read(NULL, path, most, length);

	if (bytes)
		jit->bytes += *length;
	else if (errno == EFBIG)
		jit->left_out++;
	g_free(path);
	return bytes;
}

static void set_reach(GArray *entries)
{
	uint64_t reach = 0;
	guint i;

	for (i = 0; i < entries->len; i++) {
		struct entry *entry = &g_array_index(entries, struct entry, i);

		reach = MAX(reach, entry->function.end);
		entry->reach = reach;
	}
}

static GArray *read_process(struct kr_jit *jit, int64_t pid)
{
	struct into into = {
		.strings = jit->strings,
		.entries = g_array_new(FALSE, FALSE, sizeof(struct entry)),
	};
	size_t length;
	char *bytes = read_file(jit, "perf-", pid, ".map", &length);

	if (bytes)
		read_map(&into, bytes);
	g_free(bytes);
	bytes = read_file(jit, "jit-", pid, ".dump", &length);
	if (bytes)
		kr_jitdump_read(bytes, length, add, &into);
	g_free(bytes);
	jit->bytes += MIN(into.entries->len * sizeof(struct entry),
			  KR_JIT_ALL_BYTES - jit->bytes);
	jit->left_out += into.full;
	g_array_sort(into.entries, compare);
	set_reach(into.entries);
	return into.entries;
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

	if (!entries && g_hash_table_size(jit->processes) == KR_JIT_PROCESSES) {
		jit->left_out = MAX(jit->left_out, 1);
		return NULL;
	}
	if (!entries) {
		entries = read_process(jit, pid);
		g_hash_table_insert(jit->processes, g_memdup2(&pid, sizeof(pid)), entries);
	}
	i = kr_count_before(entries, starts_by, address);
	for (looks = 0; i; looks++) {
		entry = &g_array_index(entries, struct entry, --i);
		if (entry->reach <= address)
			break;
		if (looks == KR_JIT_LOOKS)
			return NULL;
		if (address < entry->function.end && (!best || entry->order > best->order))
			best = entry;
	}
	return best ? &best->function : NULL;
}

uint64_t kr_jit_take_left_out(struct kr_jit *jit)
{
	uint64_t left_out = jit->left_out;

	jit->left_out = 0;
	return left_out;
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
