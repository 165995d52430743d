// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* /proc/kallsyms: a line a symbol: address, type, name, and [module] if any. */
#include <errno.h>
#include <glib.h>
#include <string.h>
#include "count_before.h"
#include "files.h"
#include "kernel.h"
#include "reader_budgets.h"

struct kr_kernel {
	GArray *symbols;
	GStringChunk *strings;
};

static gint compare(gconstpointer a, gconstpointer b)
{
	const struct kr_kernel_symbol *x = a, *y = b;

	return x->address < y->address ? -1 : x->address > y->address;
}

static void read_line(struct kr_kernel *kernel, char *line)
{
	struct kr_kernel_symbol symbol;
	char *save, *type;

	symbol.address = g_ascii_strtoull(strtok_r(line, " \t\n", &save) ?: "",
					  NULL, 16);
	type = strtok_r(NULL, " \t\n", &save);
	symbol.name = strtok_r(NULL, " \t\n", &save);
	symbol.module = strtok_r(NULL, " \t\n", &save) ?: "[kernel]";
	if (!symbol.address || !type || !strchr("tTwW", type[0]) || !symbol.name)
		return;
	symbol.name = g_string_chunk_insert(kernel->strings, symbol.name);
	symbol.module = g_string_chunk_insert_const(kernel->strings, symbol.module);
	g_array_append_val(kernel->symbols, symbol);
}

struct kr_kernel *kr_kernel_read(const char *path)
{
	char *text = kr_file_read(NULL, path, KR_KALLSYMS_BYTES, NULL);
	struct kr_kernel *kernel;
	char *line, *save;

	if (!text)
		return NULL;
	kernel = g_new0(struct kr_kernel, 1);
	kernel->symbols = g_array_new(FALSE, FALSE, sizeof(struct kr_kernel_symbol));
	kernel->strings = g_string_chunk_new(1 << 16);
	for (line = strtok_r(text, "\n", &save); line; line = strtok_r(NULL, "\n", &save))
		read_line(kernel, line);
	g_free(text);
	g_array_sort(kernel->symbols, compare);
	if (!kernel->symbols->len) {
		kr_kernel_free(kernel);
		errno = ENODATA;
		return NULL;
	}
	return kernel;
}

void kr_kernel_free(struct kr_kernel *kernel)
{
	g_array_unref(kernel->symbols);
	g_string_chunk_free(kernel->strings);
	g_free(kernel);
}

static bool starts_by(const void *element, uint64_t address)
{
	const struct kr_kernel_symbol *symbol = element;

	return symbol->address <= address;
}

const struct kr_kernel_symbol *kr_kernel_find(const struct kr_kernel *kernel,
					      uint64_t address)
{
	guint count = kr_count_before(kernel->symbols, starts_by, address);

	return count ? &g_array_index(kernel->symbols, struct kr_kernel_symbol,
				      count - 1) : NULL;
}
