// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* The files that the symbolizer has open: see opened.h. */
#include <elfutils/libdwelf.h>
#include <elfutils/libdwfl.h>
#include <malloc.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>
#include "debug_info.h"
#include "elf_file.h"
#include "module.h"
#include "opened.h"
#include "reader_budgets.h"
#include "right_file.h"
#include "sandbox.h"
#include "speed.h"

/* How often memory is looked at: a look that reads much debug information is a rare one. */
#define LOOKS	64

#define NS_PER_S	UINT64_C(1000000000)

#define PAGE_BYTES	UINT64_C(4096)

/**
 * struct kr_opened - a file
 * @link: its place among those that are open, the last used first
 * @number: the keeper's
 * @name: what functions without a name are called after
 * @id: build ID
 * @bytes: of the files that it is read from
 * @dwfl: its reader
 * @debug: its debug information
 * @segments: what of it is mapped where
 * @asked: where its debug information is was asked
 * @prepared: what it refers to was looked for
 * @alternative: what DWARF of several files has in common; or NULL
 * @alternative_fd: its file
 */
struct kr_opened {
	GList link;
	uint32_t number;
	char *name;
	GBytes *id;
	uint64_t bytes;
	Dwfl *dwfl;
	struct kr_debug debug;
	GArray *segments;
	bool asked;
	bool prepared;
	Dwarf *alternative;
	int alternative_fd;
};

/*
 * The one of the process, as libdwfl's callback passes nothing else on.
 * @keeper: the socket
 * @open: struct kr_opened, the last used first
 * @most_open: how many that may be
 * @by_number: the same files
 * @inherited: private memory that is not for files
 * @most_bytes: private memory that files may take at most
 * @bytes: of the files that are open
 * @all_bytes: of all that were
 * @looks: how many addresses were asked for
 */
static struct {
	int keeper;
	GQueue open;
	guint most_open;
	GHashTable *by_number;
	uint64_t inherited;
	uint64_t most_bytes;
	uint64_t bytes;
	uint64_t all_bytes;
	uint64_t looks;
} own;

static uint64_t seconds(uint64_t bytes)
{
	return 1 + kr_slowness() * (KR_TRACE_NS + KR_FILE_NS_PER_BYTE * bytes) / NS_PER_S;
}

/* The keeper ends this process long before the time is up, if it lives. */
static void limit(void)
{
	const struct kr_limits now = {
		.bytes = own.inherited + KR_SYMBOLS_BYTES + KR_SYMBOLS_PER_BYTE * own.bytes,
		.seconds = seconds(MIN(own.all_bytes, KR_TRACE_BYTES)),
	}, ever = {
		.bytes = own.inherited + own.most_bytes,
		.seconds = seconds(KR_TRACE_BYTES),
	};

	kr_sandbox_limit(&now, &ever);
}

static void add_bytes(struct kr_opened *file, uint64_t bytes)
{
	file->bytes += bytes;
	own.bytes += bytes;
	own.all_bytes += bytes;
	limit();
}

static void close_file(gpointer data)
{
	struct kr_opened *file = data;

	g_queue_unlink(&own.open, &file->link);
	own.bytes -= file->bytes;
	kr_debug_fini(&file->debug);
	dwfl_end(file->dwfl);
	if (file->alternative)
		dwarf_end(file->alternative);
	if (file->alternative_fd >= 0)
		close(file->alternative_fd);
	g_array_unref(file->segments);
	g_bytes_unref(file->id);
	g_free(file->name);
	g_free(file);
}

static void close_last(void)
{
	const struct kr_opened *last = g_queue_peek_tail(&own.open);

	g_hash_table_remove(own.by_number, GUINT_TO_POINTER(last->number));
}

static uint64_t allocated(void)
{
	struct mallinfo2 info = mallinfo2();

	return info.uordblks + info.hblkhd;
}

/*
 * Half of the memory is left for the file at hand, which is the first. libelf maps files
 * so that it may change its copy: all their bytes count as private memory.
 */
static void close_unused(void)
{
	while (own.open.length > 1 && (own.open.length > own.most_open ||
				       own.bytes > own.most_bytes / 2))
		close_last();
}

/* mallinfo2() goes through all that is free. */
static void free_unused(void)
{
	while (own.open.length > 1 && allocated() > KR_SYMBOLS_KEPT_BYTES)
		close_last();
}

/* libdwfl also asks for what .gnu_debugaltlink names, whose build ID it does not tell. */
static int find_debug(Dwfl_Module *module, void **userdata, const char *name,
		      Dwarf_Addr base, const char *path, const char *link, GElf_Word crc,
		      char **found)
{
	struct kr_opened *file = *userdata;
	int fd;

	(void)module;
	(void)name;
	(void)base;
	(void)path;
	(void)found;
	if (file->asked)
		return -1;
	file->asked = true;
	fd = kr_right_debug(own.keeper, link ?: "", file->id, link ? &crc : NULL);
	if (fd >= 0)
		add_bytes(file, kr_elf_file_bytes(fd));
	return fd;
}

static int find_no_elf(Dwfl_Module *module, void **userdata, const char *name,
		       Dwarf_Addr base, char **path, Elf **elf)
{
	(void)module;
	(void)userdata;
	(void)name;
	(void)base;
	(void)path;
	(void)elf;
	return -1;
}

/* DWARF that several files have in common, as dwz(1) makes it. */
static void find_alternative(struct kr_opened *file)
{
	const char *name;
	const void *bytes;
	Dwarf_Addr bias;
	ssize_t length;
	GBytes *id;
	Dwarf *dwarf = dwfl_module_getdwarf(file->debug.module, &bias);

	length = dwarf ? dwelf_dwarf_gnu_debugaltlink(dwarf, &name, &bytes) : 0;
	if (length <= 0)
		return;
	id = g_bytes_new(bytes, (gsize)length);
	file->alternative_fd = kr_right_debug(own.keeper, name, id, NULL);
	g_bytes_unref(id);
	if (file->alternative_fd < 0)
		return;
	add_bytes(file, kr_elf_file_bytes(file->alternative_fd));
	file->alternative = dwarf_begin(file->alternative_fd, DWARF_C_READ);
	if (file->alternative)
		dwarf_setalt(dwarf, file->alternative);
}

static void read_segments(struct kr_opened *file)
{
	GElf_Addr bias;
	Elf *elf = dwfl_module_getelf(file->debug.module, &bias);
	size_t i, n;

	if (!elf || elf_getphdrnum(elf, &n))
		return;
	for (i = 0; i < n; i++) {
		GElf_Phdr phdr;

		if (gelf_getphdr(elf, (int)i, &phdr) && phdr.p_type == PT_LOAD)
			g_array_append_val(file->segments, phdr);
	}
}

bool kr_opened_add(uint32_t number, const char *path, GBytes *id, int fd)
{
	static const Dwfl_Callbacks callbacks = {
		.find_elf = find_no_elf, .find_debuginfo = find_debug,
		/* An object file is no file of a process, but may be named as one. */
		.section_address = dwfl_offline_section_address,
	};
	struct kr_opened *file = g_new0(struct kr_opened, 1);
	void **userdata;

	file->link.data = file;
	file->number = number;
	file->name = g_strdup(kr_base_name(path));
	file->id = g_bytes_ref(id);
	file->alternative_fd = -1;
	file->segments = g_array_new(FALSE, FALSE, sizeof(GElf_Phdr));
	file->debug.name = file->name;
	g_queue_push_head_link(&own.open, &file->link);
	g_hash_table_replace(own.by_number, GUINT_TO_POINTER(number), file);
	add_bytes(file, kr_elf_file_bytes(fd));
	close_unused();
	file->dwfl = dwfl_begin(&callbacks);
	file->debug.module = file->dwfl ?
		dwfl_report_elf(file->dwfl, path, path, fd, 0, true) : NULL;
	if (file->debug.module) {
		dwfl_report_end(file->dwfl, NULL, NULL);
		dwfl_module_info(file->debug.module, &userdata, NULL, NULL, NULL, NULL,
				 NULL, NULL);
		*userdata = file;
		read_segments(file);
	} else {
		close(fd);
	}
	if (file->segments->len)
		return true;
	g_hash_table_remove(own.by_number, GUINT_TO_POINTER(number));
	return false;
}

/* Find an executable segment that has the offset, or one whose pages have it. */
static const GElf_Phdr *find_segment(const struct kr_opened *file, uint64_t offset, bool pages)
{
	const uint64_t more = pages ? PAGE_BYTES - 1 : 0;
	guint i;

	for (i = 0; i < file->segments->len; i++) {
		const GElf_Phdr *phdr = &g_array_index(file->segments, GElf_Phdr, i);

		if (phdr->p_flags & PF_X && offset >= (phdr->p_offset & ~more) &&
		    offset < ((phdr->p_offset + phdr->p_filesz + more) & ~more))
			return phdr;
	}
	return NULL;
}

/*
 * The kernel maps whole pages: a mapping begins before its segment. But in a page of the
 * file there can be the end of one segment and the start of the next.
 */
static bool to_vaddr(const struct kr_opened *file, uint64_t offset, uint64_t *vaddr)
{
	const GElf_Phdr *phdr = find_segment(file, offset, false) ?:
				find_segment(file, offset, true);

	if (phdr)
		*vaddr = offset - phdr->p_offset + phdr->p_vaddr;
	return phdr;
}

/* A call can be the last instruction of a segment, and a signal frame the first. */
static bool find_vaddr(const struct kr_opened *file, uint64_t offset, bool call,
		       uint64_t *vaddr)
{
	if (!call || !to_vaddr(file, offset - 1, vaddr))
		return to_vaddr(file, offset, vaddr);
	++*vaddr;
	return true;
}

struct kr_opened *kr_opened_use(uint32_t number)
{
	struct kr_opened *file = g_hash_table_lookup(own.by_number, GUINT_TO_POINTER(number));

	if (!file)
		return NULL;
	g_queue_unlink(&own.open, &file->link);
	g_queue_push_head_link(&own.open, &file->link);
	if (own.looks++ % LOOKS == 0)
		free_unused();
	return file;
}

struct kr_place *kr_opened_look(struct kr_opened *file, GStringChunk *strings, uint64_t offset,
				bool call)
{
	uint64_t vaddr;

	if (!find_vaddr(file, offset, call, &vaddr))
		return NULL;
	if (!file->prepared)
		find_alternative(file);
	file->prepared = true;
	return kr_debug_look(&file->debug, strings, vaddr, call);
}

/* What the keeper had allocated before it made this process, which is a copy of it. */
static uint64_t inherited_bytes(void)
{
	unsigned long pages = 0;
	FILE *file = fopen("/proc/self/statm", "re");

	if (!file || fscanf(file, "%*u %*u %*u %*u %*u %lu", &pages) != 1)
		pages = 0;
	if (file)
		fclose(file);
	return (uint64_t)pages * (uint64_t)sysconf(_SC_PAGESIZE);
}

static uint64_t half_of_memory(void)
{
	return (uint64_t)sysconf(_SC_PHYS_PAGES) / 2 * (uint64_t)sysconf(_SC_PAGESIZE);
}

/* Each file has two descriptors, or three. An ordinary user may have fewer than wanted. */
static void raise_descriptors(void)
{
	struct rlimit most = { 0 };

	getrlimit(RLIMIT_NOFILE, &most);
	most.rlim_cur = MIN(most.rlim_max, KR_DESCRIPTORS);
	(void)setrlimit(RLIMIT_NOFILE, &most);
	own.most_open = MIN(most.rlim_cur / 4, KR_OPEN_FILES);
}

void kr_opened_begin(int keeper)
{
	own.keeper = keeper;
	own.by_number = g_hash_table_new_full(NULL, NULL, NULL, close_file);
	/* The sandbox refuses both questions. */
	own.inherited = inherited_bytes();
	own.most_bytes = MIN(KR_SYMBOLS_MOST, half_of_memory());
	elf_version(EV_CURRENT);
	raise_descriptors();
	limit();
}
