// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* Which file an address is looked up in, and what is left of a symbol's name. */
#include <errno.h>
#include <glib.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include "demangle.h"
#include "module.h"
#include "notes.h"
#include "tap.h"

/* Not static: the compiler does not change its name. */
int marked(int n);
int __attribute__((noinline)) marked(int n)
{
	__asm__ volatile("");
	return n + 1;
}

/* Return: where marked() is in the file of this program. */
static uint64_t offset_of_marked(void)
{
	uint64_t start, end, offset, at = (uintptr_t)&marked;
	FILE *maps = fopen("/proc/self/maps", "re");
	char line[5000];

	while (maps && fgets(line, sizeof(line), maps)) {
		if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %*s %" SCNx64, &start, &end,
			   &offset) == 3 && at >= start && at < end) {
			fclose(maps);
			return at - start + offset;
		}
	}
	tap_bail("/proc/self/maps: %s", strerror(errno));
}

/* Whether marked() has its name. @inode_off: added to the true inode's number */
static bool is_found(const char *sysroot, bool by_name, uint64_t inode_off)
{
	g_autofree char *path = g_file_read_link("/proc/self/exe", NULL);
	struct kr_notes *notes = kr_notes_new();
	struct kr_modules *modules = kr_modules_new(sysroot, by_name, -1, notes);
	struct kr_module_id id = { .path = path };
	const struct kr_place *place;
	struct stat st;
	bool found;

	if (!path || stat(path, &st))
		tap_bail("/proc/self/exe: %s", strerror(errno));
	id.dev = st.st_dev;
	id.inode = st.st_ino + inode_off;
	place = kr_module_resolve(kr_module_get(modules, &id), offset_of_marked(), false);
	found = place && !strcmp(place->frames[place->count - 1].function, "marked");
	kr_modules_free(modules);
	kr_notes_free(notes);
	return found;
}

static void shows(const char *symbol, const char *expected)
{
	GStringChunk *strings = g_string_chunk_new(64);
	const char *name = kr_demangle(strings, symbol);

	if (!tap_ok(!strcmp(name, expected), "%s", symbol))
		tap_diag("%s", name);
	g_string_chunk_free(strings);
}

int main(void)
{
	tap_ok(marked(1) == 2 && is_found(NULL, false, 0), "the mapped file is read");
	tap_ok(!is_found(NULL, false, 1), "another one at its path is not");
	tap_ok(is_found("/", false, 0), "the mapped file is read below a root");
	tap_ok(!is_found("/", false, 1), "another one is not, if the root is a process's");
	tap_ok(is_found("/", true, 1), "it is, if a user says that its name is enough");
	shows("memcpy@@GLIBC_2.14", "memcpy");
	shows("memcpy@GLIBC_2.2.5", "memcpy");
	shows("_ZNSt9exceptionD2Ev@@GLIBCXX_3.4", "std::exception::~exception()");
	/* Names of Crystal. */
	shows("*Array(Int32)@Indexable(T)#first", "*Array(Int32)@Indexable(T)#first");
	shows("*Array(Int32)@Enumerable(T)#sum", "*Array(Int32)@Enumerable(T)#sum");
	shows("@one", "@one");
	shows("one@", "one@");
	return tap_done();
}
