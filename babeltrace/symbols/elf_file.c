// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* Where the file that was traced can be: at its path, then under its build ID. */
#include <elf.h>
#include <errno.h>
#include <glib.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include "elf_file.h"
#include "files.h"

#define DELETED		" (deleted)"
#define VDSO		"[vdso]"
#define DEBUG_FOLDER	"/usr/lib/debug"

/* What is no path: debuginfod's servers. */
#define SERVERS		"debuginfod"

/* "/usr/lib/debug/.build-id/12/34abcd" */
static char *by_build_id(const char *folder, const uint8_t *id, size_t length,
			 const char *end)
{
	GString *name = g_string_new(folder);
	size_t i;

	g_string_append_printf(name, "/%02x/", id[0]);
	for (i = 1; i < length; i++)
		g_string_append_printf(name, "%02x", id[i]);
	g_string_append(name, end);
	return g_string_free(name, FALSE);
}

GPtrArray *kr_elf_file_places(const struct kr_module_id *id)
{
	GPtrArray *places = g_ptr_array_new_with_free_func(g_free);

	if (id->path[0] == '/')
		g_ptr_array_add(places, g_strdup(id->path));
	if (id->path[0] == '/' && g_str_has_suffix(id->path, DELETED))
		g_ptr_array_add(places, g_strndup(id->path,
			strlen(id->path) - strlen(DELETED)));
	if (!id->build_id_len)
		return places;
	if (!strcmp(id->path, VDSO))
		g_ptr_array_add(places, g_strdup(VDSO));
	/* The file itself, where distributions put links to it. */
	g_ptr_array_add(places, by_build_id(DEBUG_FOLDER "/.build-id", id->build_id,
					    id->build_id_len, ""));
	g_ptr_array_add(places, by_build_id("/usr/lib/.build-id", id->build_id,
					    id->build_id_len, ""));
	g_ptr_array_add(places, g_strdup(SERVERS));
	return places;
}

/* The vDSO is in no file; ours may be the traced one, which its build ID says. */
static int open_own_vdso(void)
{
	const char *image = (const char *)getauxval(AT_SYSINFO_EHDR);
	const Elf64_Ehdr *header = (const void *)image;
	size_t size;
	int fd;

	if (!image)
		return -1;
	fd = memfd_create("vdso", MFD_CLOEXEC);
	if (fd < 0)
		return -1;
	/* Section headers are its last part. */
	size = header->e_shoff + (size_t)header->e_shentsize * header->e_shnum;
	if (write(fd, image, size) == (ssize_t)size)
		return fd;
	close(fd);
	return -1;
}

int kr_elf_file_open(const char *sysroot, struct kr_servers *servers,
		     const struct kr_module_id *id, const char *place, bool *unreadable)
{
	int fd;

	*unreadable = false;
	if (!strcmp(place, VDSO))
		return open_own_vdso();
	if (!strcmp(place, SERVERS))
		return kr_servers_ask(servers, id->build_id, id->build_id_len, false);
	fd = kr_file_open(sysroot, place);
	*unreadable = fd < 0 && errno != ENOENT && errno != ENOTDIR;
	return fd;
}

static void add_beside(GPtrArray *places, const char *path, const char *name)
{
	char *folder = g_path_get_dirname(path);

	g_ptr_array_add(places, g_build_filename(folder, name, NULL));
	g_ptr_array_add(places, g_build_filename(folder, ".debug", name, NULL));
	g_ptr_array_add(places, g_build_filename(DEBUG_FOLDER, folder, name, NULL));
	g_free(folder);
}

/* A name of .gnu_debugaltlink, which is relative to the folders of build IDs. */
static void add_shared(GPtrArray *places, const char *name)
{
	char *path = g_canonicalize_filename(name, DEBUG_FOLDER "/.build-id/00");

	if (g_str_has_prefix(path, DEBUG_FOLDER "/"))
		g_ptr_array_add(places, g_strdup(path));
	g_free(path);
}

/*
 * The order is libdwfl's. A name is that of .gnu_debuglink, or of .gnu_debugaltlink. The
 * owner of the traced file chose it, and root may open what it leads to. So it is the name
 * of a file beside the traced one, or leads to one in the folder for debug information.
 */
static GPtrArray *debug_places(const char *path, const char *name, const uint8_t *id,
			       size_t length)
{
	GPtrArray *places = g_ptr_array_new_with_free_func(g_free);

	if (length > 1)
		g_ptr_array_add(places, by_build_id(DEBUG_FOLDER "/.build-id", id, length,
						    ".debug"));
	if (strchr(name, '/'))
		add_shared(places, name);
	else if (name[0] && path && path[0] == '/')
		add_beside(places, path, name);
	return places;
}

/* A link may lead to what only root may read: that is no debug information. */
static int open_public(const char *sysroot, const char *path)
{
	int fd = kr_file_open(sysroot, path);
	struct stat st;

	if (fd < 0 || geteuid() || (!fstat(fd, &st) && st.st_mode & S_IROTH))
		return fd;
	close(fd);
	return -1;
}

int kr_elf_file_find_debug(const char *sysroot, struct kr_servers *servers, const char *path,
			   const char *name, const uint8_t *id, size_t length, unsigned int nth,
			   bool *more)
{
	GPtrArray *places = debug_places(path, name, id, length);
	/* This machine's debug information is of the same file if its build ID is. */
	bool here = sysroot && length > 1;
	int fd;

	*more = nth < places->len + here;
	if (nth < places->len)
		fd = open_public(sysroot, g_ptr_array_index(places, nth));
	else if (*more)
		fd = open_public(NULL, g_ptr_array_index(places, 0));
	else
		fd = kr_servers_ask(servers, id, length, true);
	g_ptr_array_unref(places);
	return fd;
}

uint64_t kr_elf_file_bytes(int fd)
{
	struct stat st;

	return fstat(fd, &st) ? 0 : (uint64_t)st.st_blocks * 512;
}
