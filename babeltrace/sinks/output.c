// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* Where a sink writes. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <unistd.h>
#include "output.h"

#define GIVEN	"/dev/fd/"

/* Before the name and the bytes of a folder's file, where the folder is packed in one. */
struct packed {
	uint64_t name_length;
	uint64_t length;
};

/*
 * What a link leads to is replaced, not the link, and a link to nothing is refused. The
 * kernel follows it, as it knows whose links may be followed (fs.protected_symlinks).
 * Return: for g_free(), @path's own name if nothing is there; NULL and errno. @st: mode 0
 * if nothing is there
 */
static char *target_of(const char *path, struct stat *st)
{
	int fd = open(path, O_PATH | O_CLOEXEC);
	g_autofree char *link = g_strdup_printf("/proc/self/fd/%d", fd);
	char *target = NULL;

	*st = (struct stat){ 0 };
	if (fd < 0 && errno == ENOENT && g_file_test(path, G_FILE_TEST_IS_SYMLINK)) {
		errno = ENOENT;
		return NULL;
	}
	if (fd < 0)
		return errno == ENOENT ? g_strdup(path) : NULL;
	if (!fstat(fd, st))
		target = g_file_read_link(link, NULL);
	close(fd);
	return target;
}

bool kr_output_begin(struct kr_output *output, const char *path)
{
	struct stat st;

	*output = (struct kr_output){ .fd = STDOUT_FILENO };
	if (!path)
		return true;
	output->fd = -1;
	output->path = target_of(path, &st);
	if (!output->path)
		return false;
	if (st.st_mode && !S_ISREG(st.st_mode)) {
		g_clear_pointer(&output->path, g_free);
		output->fd = open(path, O_WRONLY | O_CLOEXEC);
		return output->fd >= 0;
	}
	output->partial = g_strdup_printf("%s.XXXXXX", output->path);
	output->fd = mkostemp(output->partial, O_CLOEXEC);
	if (output->fd >= 0)
		return true;
	g_clear_pointer(&output->partial, g_free);
	g_clear_pointer(&output->path, g_free);
	return false;
}

/* Return: whether nothing is there that would be lost. */
static bool may_become_folder(const char *path)
{
	struct stat st;
	GDir *folder;
	bool empty;

	if (lstat(path, &st))
		return errno == ENOENT;
	folder = S_ISDIR(st.st_mode) ? g_dir_open(path, 0, NULL) : NULL;
	empty = folder && !g_dir_read_name(folder);
	if (folder)
		g_dir_close(folder);
	errno = EEXIST;
	return empty;
}

bool kr_output_begin_folder(struct kr_output *output, const char *path)
{
	*output = (struct kr_output){ .fd = -1, .folder = true };
	if (!may_become_folder(path))
		return false;
	output->path = g_strdup(path);
	/* A slash at the end is no part of the name. */
	while (strlen(output->path) > 1 && g_str_has_suffix(output->path, "/"))
		output->path[strlen(output->path) - 1] = '\0';
	output->partial = g_strdup_printf("%s.XXXXXX", output->path);
	/* Its name may lead elsewhere by now, but to no folder of others without a link. */
	if (mkdtemp(output->partial)) {
		output->fd = open(output->partial,
				  O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
		if (output->fd >= 0)
			return true;
		rmdir(output->partial);
	}
	g_clear_pointer(&output->partial, g_free);
	g_clear_pointer(&output->path, g_free);
	return false;
}

bool kr_output_begin_given(struct kr_output *output, const char *path, bool folder)
{
	if (!path || !g_str_has_prefix(path, GIVEN))
		return folder ? kr_output_begin_folder(output, path) :
				kr_output_begin(output, path);
	*output = (struct kr_output){
		.fd = fcntl(atoi(path + strlen(GIVEN)), F_DUPFD_CLOEXEC, 3),
		.folder = folder, .given = true,
	};
	return output->fd >= 0;
}

static bool pack(const struct kr_output *output, const char *name, GString *text)
{
	const struct packed packed = { strlen(name), text->len };
	GString *head = g_string_new_len((const char *)&packed, sizeof(packed));
	bool done;

	g_string_append(head, name);
	done = kr_output_write(output, head) && kr_output_write(output, text);
	g_string_free(head, TRUE);
	return done;
}

static bool copy(int from, int to, uint64_t bytes)
{
	ssize_t n = 1;

	while (bytes && n > 0) {
		n = sendfile(to, from, NULL, MIN(bytes, G_MAXINT));
		if (n > 0)
			bytes -= (uint64_t)n;
	}
	return !bytes;
}

/* Make the next file. Its name stays in the folder. */
static bool unpack(const struct kr_output *output, int from, const struct packed *packed)
{
	char name[NAME_MAX + 1] = "";
	bool done = false;
	int file;

	errno = EBADMSG;
	if (packed->name_length > NAME_MAX ||
	    read(from, name, packed->name_length) != (ssize_t)packed->name_length ||
	    name[0] == '.' || strchr(name, '/'))
		return false;
	file = openat(output->fd, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (file >= 0) {
		done = copy(from, file, packed->length);
		close(file);
	}
	return done;
}

int kr_output_pack(const struct kr_output *output)
{
	static const char name[] = "packed";
	int fd = openat(output->fd, name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);

	if (fd >= 0)
		unlinkat(output->fd, name, 0);
	return fd;
}

bool kr_output_unpack(const struct kr_output *output, int from)
{
	struct packed packed;
	ssize_t n = -1;

	if (!lseek(from, 0, SEEK_SET))
		while ((n = read(from, &packed, sizeof(packed))) == sizeof(packed))
			if (!unpack(output, from, &packed))
				return false;
	return !n;
}

static bool add_file(const struct kr_output *output, const char *name, GString *text)
{
	const struct kr_output file = {
		.fd = openat(output->fd, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600),
	};
	bool done = file.fd >= 0 && kr_output_write(&file, text);

	return file.fd >= 0 && !close(file.fd) && done;
}

bool kr_output_add(const struct kr_output *output, const char *name, GString *text)
{
	return output->given ? pack(output, name, text) : add_file(output, name, text);
}

bool kr_output_write(const struct kr_output *output, GString *text)
{
	gsize done = 0;
	ssize_t n;

	while (done < text->len) {
		n = write(output->fd, text->str + done, text->len - done);
		/* Ctrl-C is babeltrace2's to handle; what was begun is finished. */
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return false;
		done += n;
	}
	g_string_truncate(text, 0);
	return true;
}

bool kr_output_end(struct kr_output *output)
{
	if (output->partial && rename(output->partial, output->path))
		return false;
	g_clear_pointer(&output->partial, g_free);
	output->given = false;
	return true;
}

/* Its files go by the descriptor: the name may lead to a folder of another user by now. */
static void remove_folder(const struct kr_output *output)
{
	int fd = openat(output->fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *folder = fd >= 0 ? fdopendir(fd) : NULL;
	const struct dirent *entry;

	while (folder && (entry = readdir(folder)))
		unlinkat(output->fd, entry->d_name, 0);
	if (folder)
		closedir(folder);
	else if (fd >= 0)
		close(fd);
	rmdir(output->partial);
}

void kr_output_drop(struct kr_output *output)
{
	if (output->partial && output->folder)
		remove_folder(output);
	else if (output->partial)
		unlink(output->partial);
	if (output->given)
		(void)!ftruncate(output->fd, 0);
	g_clear_pointer(&output->partial, g_free);
	g_clear_pointer(&output->path, g_free);
	if (output->fd > STDERR_FILENO)
		close(output->fd);
	output->fd = -1;
}
