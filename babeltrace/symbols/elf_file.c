// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* Finding the file that was traced: by its path, then by its build ID. */
#include <elfutils/libdwelf.h>
#include <errno.h>
#include <fcntl.h>
#include <gelf.h>
#include <glib.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>
#ifdef HAVE_LIBDEBUGINFOD
#include <elfutils/debuginfod.h>
#endif
#include "elf_file.h"

#define DELETED	" (deleted)"

/* Without opening it. An absolute link in a sysroot leads into it. */
static int find_below(const char *sysroot, const char *path)
{
	struct open_how how = {
		.flags = O_PATH | O_CLOEXEC, .resolve = RESOLVE_IN_ROOT,
	};
	int root, fd;

	if (!sysroot)
		return open(path, O_PATH | O_CLOEXEC);
	root = open(sysroot, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (root < 0)
		return -1;
	fd = syscall(SYS_openat2, root, path, &how, sizeof(how));
	close(root);
	return fd;
}

/*
 * A path is as the traced process saw it, below its own root, and here it may be that of
 * a device, of which some do things when they are opened: only files are.
 */
static int open_below(const char *sysroot, const char *path)
{
	int found = find_below(sysroot, path), fd = -1;
	char link[sizeof("/proc/self/fd/") + 3 * sizeof(int)];
	struct stat st;

	if (found < 0)
		return -1;
	if (!fstat(found, &st) && S_ISREG(st.st_mode)) {
		snprintf(link, sizeof(link), "/proc/self/fd/%d", found);
		fd = open(link, O_RDONLY | O_CLOEXEC);
	}
	close(found);
	return fd;
}

enum match {
	MATCHES,
	DIFFERS,
	SAME_INODE,
	OTHER_INODE,
	NO_ELF,
};

static enum match match(int fd, const struct kr_module_id *id)
{
	enum match result = NO_ELF;
	const void *found;
	struct stat st;
	ssize_t len;
	Elf *elf;

	if (fstat(fd, &st))
		return NO_ELF;
	elf = elf_begin(fd, ELF_C_READ_MMAP, NULL);
	if (elf && elf_kind(elf) == ELF_K_ELF) {
		len = dwelf_elf_gnu_build_id(elf, &found);
		if (id->build_id_len)
			result = len == (ssize_t)id->build_id_len &&
				 !memcmp(found, id->build_id, len) ?
				 MATCHES : DIFFERS;
		else
			result = st.st_dev == id->dev && st.st_ino == id->inode ?
				 SAME_INODE : OTHER_INODE;
	}
	elf_end(elf);
	return result;
}

/*
 * @why is the best reason so far; it gets better when a file is there.
 * Without a build ID only the user's word, a sysroot, makes a name enough.
 */
static int try(const char *sysroot, const char *name,
	       const struct kr_module_id *id, char **path, enum kr_note *why)
{
	int fd = open_below(sysroot, name);

	if (fd < 0) {
		if (*why == KR_NO_FILE && errno != ENOENT && errno != ENOTDIR)
			*why = KR_UNREADABLE;
		return -1;
	}
	switch (match(fd, id)) {
	case OTHER_INODE:
		*why = KR_UNPROVEN;
		if (!sysroot)
			break;
		/* fallthrough */
	case SAME_INODE:
		*why = KR_UNCHECKED;
		/* fallthrough */
	case MATCHES:
		*path = g_strconcat(sysroot ? sysroot : "", name, NULL);
		return fd;
	case DIFFERS:
		*why = KR_OTHER_FILE;
		break;
	case NO_ELF:
		*why = KR_UNREADABLE;
		break;
	}
	close(fd);
	return -1;
}

/* The file itself, where distributions put links to it. */
static int try_build_id(const char *sysroot, const struct kr_module_id *id,
			char **path, enum kr_note *why)
{
	static const char *const dirs[] = {
		"/usr/lib/debug/.build-id", "/usr/lib/.build-id",
	};
	GString *name = g_string_new(NULL);
	int fd = -1;
	size_t i, j;

	for (i = 0; i < G_N_ELEMENTS(dirs) && fd < 0; i++) {
		g_string_printf(name, "%s/%02x/", dirs[i], id->build_id[0]);
		for (j = 1; j < id->build_id_len; j++)
			g_string_append_printf(name, "%02x", id->build_id[j]);
		fd = try(sysroot, name->str, id, path, why);
	}
	g_string_free(name, TRUE);
	return fd;
}

/* The vDSO is in no file; ours may be the traced one, which its build ID says. */
static int try_own_vdso(const struct kr_module_id *id, char **path)
{
	const char *image = (const char *)getauxval(AT_SYSINFO_EHDR);
	const Elf64_Ehdr *header = (const void *)image;
	size_t size;
	int fd;

	if (!image || !id->build_id_len)
		return -1;
	fd = memfd_create("vdso", MFD_CLOEXEC);
	if (fd < 0)
		return -1;
	/* Section headers are its last part. */
	size = header->e_shoff + (size_t)header->e_shentsize * header->e_shnum;
	if (write(fd, image, size) == (ssize_t)size && match(fd, id) == MATCHES) {
		*path = g_strdup(id->path);
		return fd;
	}
	close(fd);
	return -1;
}

static int try_debuginfod(const struct kr_module_id *id, char **path)
{
#ifdef HAVE_LIBDEBUGINFOD
	const char *urls = getenv("DEBUGINFOD_URLS");
	debuginfod_client *client;
	char *found = NULL;
	int fd = -1;

	if (!urls || !*urls)
		return -1;
	client = debuginfod_begin();
	if (!client)
		return -1;
	fd = debuginfod_find_executable(client, id->build_id, id->build_id_len,
					&found);
	debuginfod_end(client);
	if (fd >= 0 && match(fd, id) != MATCHES) {
		close(fd);
		fd = -1;
	}
	if (fd >= 0)
		*path = g_strdup(found);
	free(found);
	return fd < 0 ? -1 : fd;
#else
	(void)id;
	(void)path;
	return -1;
#endif
}

int kr_elf_file_open(const char *sysroot, const struct kr_module_id *id,
		     char **path, enum kr_note *why)
{
	char *undeleted;
	int fd = -1;

	*why = KR_NO_FILE;
	if (id->path[0] == '/') {
		fd = try(sysroot, id->path, id, path, why);
		if (fd < 0 && g_str_has_suffix(id->path, DELETED)) {
			undeleted = g_strndup(id->path,
					      strlen(id->path) - strlen(DELETED));
			fd = try(sysroot, undeleted, id, path, why);
			g_free(undeleted);
		}
	} else if (!strcmp(id->path, "[vdso]")) {
		fd = try_own_vdso(id, path);
	}
	if (fd < 0 && id->build_id_len)
		fd = try_build_id(sysroot, id, path, why);
	if (fd < 0 && id->build_id_len)
		fd = try_debuginfod(id, path);
	return fd;
}
