// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* An ELF file and its DWARF: what symbols and debug information say of its addresses. */
#include <elfutils/libdwfl.h>
#include <glib.h>
#include <sys/mman.h>
#include <unistd.h>
#include "debug_info.h"
#include "fuzz_reader.h"

static int find_nothing(Dwfl_Module *module, void **data, const char *name, Dwarf_Addr base,
			const char *path, const char *link, GElf_Word crc, char **found)
{
	(void)module, (void)data, (void)name, (void)base, (void)path, (void)link, (void)crc;
	(void)found;
	return -1;
}

static void look(Dwfl_Module *module)
{
	struct kr_debug debug = { .module = module, .name = "file" };
	GStringChunk *strings = g_string_chunk_new(4096);
	Dwarf_Addr start, end, address;
	struct kr_place *place;
	u32 i, j;

	dwfl_module_info(module, NULL, &start, &end, NULL, NULL, NULL, NULL);
	for (i = 0; i < 64; i++) {
		address = start + (end - start) / 64 * i + i % 7;
		place = kr_debug_look(&debug, strings, address, i & 1);
		must(!place || place->count);
		for (j = 0; place && j < place->count; j++)
			must(place->frames[j].function && place->frames[j].file &&
			     place->frames[j].inlined == (j + 1 < place->count));
		g_free(place);
	}
	kr_debug_fini(&debug);
	g_string_chunk_free(strings);
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
	static const Dwfl_Callbacks callbacks = {
		.find_debuginfo = find_nothing,
		.section_address = dwfl_offline_section_address,
	};
	Dwfl *dwfl = dwfl_begin(&callbacks);
	int fd = memfd_create("file", MFD_CLOEXEC);
	Dwfl_Module *module;

	must(dwfl && fd >= 0 && write(fd, data, size) == (ssize_t)size);
	module = dwfl_report_elf(dwfl, "file", "file", fd, 0, true);
	if (module) {
		dwfl_report_end(dwfl, NULL, NULL);
		look(module);
	} else {
		close(fd);
	}
	dwfl_end(dwfl);
	return 0;
}
