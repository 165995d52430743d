// SPDX-License-Identifier: GPL-2.0-only OR MIT
#include <fcntl.h>
#include <glib.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "command.h"
#include "fuzz_reader.h"

static char folder[] = "/dev/shm/fuzz-XXXXXX";

/* The command's own are in its main file. */
void kc_error(const char *next, const char *format, ...)
{
	(void)next;
	must(!format);
}

void kc_warn(const char *path, const char *what)
{
	must(path && what);
}

static void remove_below(const char *path)
{
	GDir *dir = g_dir_open(path, 0, NULL);
	const char *name;

	while (dir && (name = g_dir_read_name(dir))) {
		char *below = g_build_filename(path, name, NULL);

		if (unlink(below))
			remove_below(below);
		g_free(below);
	}
	if (dir)
		g_dir_close(dir);
	rmdir(path);
}

static void remove_folder(void)
{
	remove_below(folder);
}

const char *fuzz_folder(void)
{
	static bool made;

	if (!made) {
		must(mkdtemp(folder));
		atexit(remove_folder);
	}
	made = true;
	return folder;
}

void fuzz_write(const char *name, const u8 *data, size_t size)
{
	char *path = g_build_filename(fuzz_folder(), name, NULL);
	char *parent = g_path_get_dirname(path);
	int fd;

	(void)mkdir(parent, 0700);
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	must(fd >= 0 && write(fd, data, size) == (ssize_t)size);
	close(fd);
	g_free(parent);
	g_free(path);
}

size_t fuzz_part(const u8 **data, size_t *size, const u8 **part)
{
	static const u8 mark[] = { 0xff, 0xff };
	const u8 *end = *size ? memmem(*data, *size, mark, sizeof(mark)) : NULL;
	size_t length = end ? (size_t)(end - *data) : *size;
	size_t used = end ? length + sizeof(mark) : length;

	*part = *data;
	*data += used;
	*size -= used;
	return length;
}
