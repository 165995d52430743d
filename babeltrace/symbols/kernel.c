// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * /proc/kallsyms: a line a symbol: address, type, name, and [module] if any. It has no
 * sizes: a function ends where the next symbol is.
 *
 * What is behind the last function of a module, or of the kernel, may be a module that was
 * unloaded, or BPF code that was not there yet. Modules have whole pages, so such a
 * function ends with its page.
 */
#include <errno.h>
#include <glib.h>
#include <string.h>
#include "count_before.h"
#include "files.h"
#include "kernel.h"
#include "pool.h"
#include "reader_budgets.h"

#define PAGE(address)	((address) & ~0xfffULL)

/**
 * struct kr_kernel - its symbols
 * @symbols: struct kr_kernel_symbol, of data without a name
 * @strings: names of functions
 * @modules: of modules
 * @functions: there is one
 */
struct kr_kernel {
	GArray *symbols;
	GStringChunk *strings;
	struct kr_pool *modules;
	bool functions;
};

static gint compare(gconstpointer a, gconstpointer b)
{
	const struct kr_kernel_symbol *x = a, *y = b;

	if (x->address != y->address)
		return x->address < y->address ? -1 : 1;
	/* Of several at an address, the last is found: that is no data. */
	return !!x->name - !!y->name;
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
	if (!symbol.address || !type || !symbol.name)
		return;
	if (strchr("tTwW", type[0])) {
		kernel->functions = true;
		symbol.name = g_string_chunk_insert(kernel->strings, symbol.name);
	} else {
		symbol.name = NULL;
	}
	symbol.module = kr_pool_add(kernel->modules, symbol.module);
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
	kernel->modules = kr_pool_new();
	for (line = strtok_r(text, "\n", &save); line; line = strtok_r(NULL, "\n", &save))
		read_line(kernel, line);
	g_free(text);
	g_array_sort(kernel->symbols, compare);
	if (!kernel->functions) {
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
	kr_pool_free(kernel->modules);
	g_free(kernel);
}

static bool starts_by(const void *element, uint64_t address)
{
	const struct kr_kernel_symbol *symbol = element;

	return symbol->address <= address;
}

/* Each BPF program is memory of its own, and so is each trampoline of ftrace. */
static bool is_one_by_one(const char *module)
{
	return !strcmp(module, "[bpf]") || g_str_has_prefix(module, "[__builtin__");
}

/* Return: whether nothing is between a function and the symbol that is next. */
static bool is_followed(const struct kr_kernel_symbol *symbol,
			const struct kr_kernel_symbol *next)
{
	return next->name && next->module == symbol->module &&
	       !is_one_by_one(symbol->module);
}

const struct kr_kernel_symbol *kr_kernel_find(const struct kr_kernel *kernel,
					      uint64_t address)
{
	guint count = kr_count_before(kernel->symbols, starts_by, address);
	const struct kr_kernel_symbol *next, *symbol;

	if (!count)
		return NULL;
	symbol = &g_array_index(kernel->symbols, struct kr_kernel_symbol, count - 1);
	next = count < kernel->symbols->len ? symbol + 1 : NULL;
	if (symbol->name && (PAGE(address) == PAGE(symbol->address) ||
			     (next && is_followed(symbol, next))))
		return symbol;
	return NULL;
}
