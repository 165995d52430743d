// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* The files of a trace, opened when an address of one is asked for. */
#include <elfutils/libdwfl.h>
#include <glib.h>
#include <string.h>
#include <unistd.h>
#include "debug_info.h"
#include "elf_file.h"
#include "module.h"
#include "notes.h"

/* Open files have file descriptors and debug information: only so many. */
#define MAX_OPEN	128

#define PAGE_DOWN(offset)	((offset) & ~0xfffULL)

struct kr_modules {
	GHashTable *modules;
	GQueue *open;
	GStringChunk *strings;
	struct kr_notes *notes;
	char *sysroot;
	char *debug_path;
	Dwfl_Callbacks callbacks;
};

/**
 * struct kr_module - a file
 * @modules: among which it is
 * @id: what the trace says of it; it owns the path and the build ID
 * @tried: it was opened once, or could not be
 * @open: its place among those that are open, or NULL
 * @dwfl: its reader while it is open
 * @debug: its debug information
 * @segments: what of it is mapped where, once it has been opened
 * @places: struct kr_place by offset and whether it is a call
 */
struct kr_module {
	struct kr_modules *modules;
	struct kr_module_id id;
	bool tried;
	GList *open;
	Dwfl *dwfl;
	struct kr_debug debug;
	GArray *segments;
	GHashTable *places;
};

const char *kr_base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return path[0] == '/' && slash[1] ? slash + 1 : path;
}

static guint hash_id(gconstpointer key)
{
	const struct kr_module_id *id = key;
	guint hash = g_str_hash(id->path);
	size_t i;

	for (i = 0; i < id->build_id_len; i++)
		hash = hash * 33 + id->build_id[i];
	return hash;
}

/* Without a build ID, device and inode tell files of one name apart. */
static gboolean equal_id(gconstpointer a, gconstpointer b)
{
	const struct kr_module_id *x = a, *y = b;

	if (x->build_id_len != y->build_id_len || strcmp(x->path, y->path))
		return FALSE;
	if (!x->build_id_len)
		return x->dev == y->dev && x->inode == y->inode;
	return !memcmp(x->build_id, y->build_id, x->build_id_len);
}

static void close_module(struct kr_module *module)
{
	if (!module->open)
		return;
	g_queue_delete_link(module->modules->open, module->open);
	module->open = NULL;
	kr_debug_fini(&module->debug);
	dwfl_end(module->dwfl);
	module->dwfl = NULL;
}

static void free_module(gpointer data)
{
	struct kr_module *module = data;

	close_module(module);
	g_hash_table_destroy(module->places);
	g_array_unref(module->segments);
	g_free((void *)module->id.path);
	g_free((void *)module->id.build_id);
	g_free(module);
}

struct kr_modules *kr_modules_new(const char *sysroot, struct kr_notes *notes)
{
	struct kr_modules *modules = g_new0(struct kr_modules, 1);

	elf_version(EV_CURRENT);
	modules->modules = g_hash_table_new_full(hash_id, equal_id, NULL,
						 free_module);
	modules->open = g_queue_new();
	modules->strings = g_string_chunk_new(4096);
	modules->notes = notes;
	modules->sysroot = g_strdup(sysroot);
	modules->debug_path = g_strconcat(":.debug:", sysroot ? sysroot : "",
		sysroot ? "/usr/lib/debug:" : "", "/usr/lib/debug", NULL);
	modules->callbacks.find_elf = dwfl_build_id_find_elf;
	modules->callbacks.find_debuginfo = dwfl_standard_find_debuginfo;
	modules->callbacks.debuginfo_path = &modules->debug_path;
	return modules;
}

void kr_modules_free(struct kr_modules *modules)
{
	g_hash_table_destroy(modules->modules);
	g_queue_free(modules->open);
	g_string_chunk_free(modules->strings);
	g_free(modules->sysroot);
	g_free(modules->debug_path);
	g_free(modules);
}

struct kr_module *kr_module_get(struct kr_modules *modules,
				const struct kr_module_id *id)
{
	struct kr_module *module = g_hash_table_lookup(modules->modules, id);

	if (module)
		return module;
	module = g_new0(struct kr_module, 1);
	module->modules = modules;
	module->id = *id;
	module->id.path = g_strdup(id->path);
	module->debug.name = kr_base_name(module->id.path);
	module->id.build_id = g_memdup2(id->build_id, id->build_id_len);
	module->segments = g_array_new(FALSE, FALSE, sizeof(GElf_Phdr));
	module->places = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free,
					       g_free);
	g_hash_table_insert(modules->modules, &module->id, module);
	return module;
}

const char *kr_module_path(const struct kr_module *module)
{
	return module->id.path;
}

static void read_segments(struct kr_module *module, Elf *elf)
{
	size_t i, n;

	if (module->segments->len || !elf || elf_getphdrnum(elf, &n))
		return;
	for (i = 0; i < n; i++) {
		GElf_Phdr phdr;

		if (gelf_getphdr(elf, i, &phdr) && phdr.p_type == PT_LOAD)
			g_array_append_val(module->segments, phdr);
	}
}

/* Note why it cannot be opened, the first time. */
static bool open_module(struct kr_module *module)
{
	struct kr_modules *modules = module->modules;
	enum kr_note why;
	GElf_Addr bias;
	char *path;
	int fd;

	if (module->open) {
		g_queue_unlink(modules->open, module->open);
		g_queue_push_head_link(modules->open, module->open);
		return true;
	}
	if (module->tried && !module->segments->len)
		return false;
	fd = kr_elf_file_open(modules->sysroot, &module->id, &path, &why);
	if (fd >= 0) {
		module->dwfl = dwfl_begin(&modules->callbacks);
		module->debug.module = module->dwfl ?
			dwfl_report_elf(module->dwfl, path, path, fd, 0, true) :
			NULL;
		g_free(path);
		if (module->debug.module) {
			dwfl_report_end(module->dwfl, NULL, NULL);
			read_segments(module,
				dwfl_module_getelf(module->debug.module, &bias));
		}
		if (!module->debug.module)
			close(fd);
		if (!module->segments->len) {
			dwfl_end(module->dwfl);
			module->dwfl = NULL;
			why = KR_UNREADABLE;
			fd = -1;
		}
	}
	/* What is not from a file has none to miss. */
	if (!module->tried && (why == KR_UNCHECKED || fd < 0) &&
	    module->id.path[0] == '/')
		kr_note(modules->notes, why, module->id.path);
	module->tried = true;
	if (fd < 0)
		return false;
	g_queue_push_head(modules->open, module);
	module->open = modules->open->head;
	if (modules->open->length > MAX_OPEN)
		close_module(g_queue_peek_tail(modules->open));
	return true;
}

/* The kernel maps whole pages: a mapping begins before its segment. */
static bool to_vaddr(const struct kr_module *module, uint64_t offset,
		     uint64_t *vaddr)
{
	guint i;

	for (i = 0; i < module->segments->len; i++) {
		const GElf_Phdr *phdr =
			&g_array_index(module->segments, GElf_Phdr, i);

		if (phdr->p_flags & PF_X && offset >= PAGE_DOWN(phdr->p_offset) &&
		    offset < PAGE_DOWN(phdr->p_offset + phdr->p_filesz + 0xfff)) {
			*vaddr = offset - phdr->p_offset + phdr->p_vaddr;
			return true;
		}
	}
	return false;
}

/* A call can be the last instruction of a segment, and a signal frame the first. */
static bool find_vaddr(const struct kr_module *module, uint64_t offset, bool call,
		       uint64_t *vaddr)
{
	if (!call || !to_vaddr(module, offset - 1, vaddr))
		return to_vaddr(module, offset, vaddr);
	++*vaddr;
	return true;
}

static struct kr_place *look_up(struct kr_module *module, uint64_t offset,
				bool call)
{
	struct kr_place *place = NULL;
	uint64_t vaddr;

	if (open_module(module) && find_vaddr(module, offset, call, &vaddr)) {
		place = kr_debug_look(&module->debug, module->modules->strings,
				      vaddr, call);
		if ((!place || place->by_fde) && module->id.path[0] == '/')
			kr_note(module->modules->notes, KR_NO_SYMBOLS,
				module->id.path);
	}
	if (!place) {
		place = kr_place_new(1);
		place->frames[0].offset = offset;
	}
	return place;
}

const struct kr_place *kr_module_resolve(struct kr_module *module,
					 uint64_t offset, bool call)
{
	uint64_t key = offset << 1 | call;
	struct kr_place *place = g_hash_table_lookup(module->places, &key);

	if (!place) {
		place = look_up(module, offset, call);
		g_hash_table_insert(module->places, g_memdup2(&key, sizeof(key)),
				    place);
	}
	return place;
}
