// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * A stream's file that cannot be read, or ends within a packet, as after a full disk
 * or half a copy, makes babeltrace2 refuse the whole trace. What is whole (packets.h) is
 * copied, the other files are linked to, and the index, which tells of more, is left out.
 */
#include <errno.h>
#include <fcntl.h>
#include <glib.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <unistd.h>
#include "command.h"
#include "files.h"
#include "folders.h"
#include "packets.h"
#include "salvage.h"

#define TMPDIR_HINT	"TMPDIR says where there is room"
/* At a time: who stops it need not wait for all of a large stream. */
#define COPY_BYTES	(16UL << 20)

/**
 * struct file - a file of a trace's folder
 * @name: its name
 * @size: its length
 * @usable: how many bytes of it can be read
 * @hidden: babeltrace2 must not open what has its name, or its index
 */
struct file {
	char *name;
	uint64_t size;
	uint64_t usable;
	bool hidden;
};

static void warn(const struct kc_salvage *how, const char *path, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
static void warn(const struct kc_salvage *how, const char *path, const char *format, ...)
{
	g_autofree char *what = NULL;
	va_list args;

	if (how->silent)
		return;
	va_start(args, format);
	what = g_strdup_vprintf(format, args);
	va_end(args);
	kc_warn(path, what);
}

static const char *reason(int err)
{
	return err == EINVAL ? "it is no regular file" : strerror(err);
}

static void warn_of_index(const struct kc_salvage *how, const char *folder, const char *name,
			  int error)
{
	char *path = g_strdup_printf("%s/index/%s.idx", folder, name);

	warn(how, path, "%s: it is left out", reason(error));
	g_free(path);
}

/* Find what of a stream's file is whole packets, and say what is missing. */
static void look_at_packets(struct kc_salvage *how, const char *folder, const char *path,
			    struct file *file, int fd)
{
	struct kc_packets packets = { .budget = &how->packets };

	kc_packets_find(&packets, folder, file->name, fd, file->size);
	file->usable = packets.whole;
	file->hidden = packets.bad_index;
	if (packets.bad_index == KC_INDEX_UNREADABLE)
		warn_of_index(how, folder, file->name, packets.error);
	else if (packets.bad_index == KC_INDEX_TOO_LONG)
		warn(how, folder, "there are too many packets: an index is left out");
	else if (packets.unknown)
		warn(how, folder, "there are too many packets to look at all");
	if (packets.lost)
		warn(how, path,
		     "the last %" PRIu64 " of its packets are not whole: their events are missing",
		     packets.lost);
	else if (file->usable < file->size)
		warn(how, path,
		     "its last %" PRIu64 " bytes are no whole packet: their events are missing",
		     file->size - file->usable);
}

/*
 * The next part of a file that is no hole, from @at on; no file system is worse than one
 * that has no holes. Return: false if there is none before @end.
 */
static bool next_data(int fd, off_t end, off_t *at, off_t *behind)
{
	off_t data = lseek(fd, *at, SEEK_DATA);

	if (data < 0 && errno == ENXIO)
		return false;
	if (data >= 0)
		*at = data;
	*behind = data < 0 ? end : lseek(fd, data, SEEK_HOLE);
	if (*behind < 0 || *behind > end)
		*behind = end;
	return *at < *behind;
}

static uint64_t data_bytes(int fd, off_t size)
{
	off_t at = 0, behind = 0;
	uint64_t bytes = 0;

	for (; next_data(fd, size, &at, &behind); at = behind)
		bytes += (uint64_t)(behind - at);
	return bytes;
}

/*
 * What becomes shorter while it is mapped ends the reader.
 * Return: what is known of the file if it has the same size as before; or NULL.
 */
static const struct kc_size *same_size(struct kc_salvage *how, const char *path, uint64_t size)
{
	const struct kc_size *before = g_hash_table_lookup(how->sizes, path);

	if (before && before->whole > size) {
		how->shorter = true;
		warn(how, path, "it has become shorter while it was read");
	}
	return before && before->whole == size ? before : NULL;
}

static void note_size(struct kc_salvage *how, const char *path, int fd, const struct file *file)
{
	const struct kc_size size = {
		.whole = file->size, .data = data_bytes(fd, (off_t)file->size),
		.usable = file->usable, .hidden = file->hidden,
	};

	/* The key of the size before is kept: others point to it. */
	g_hash_table_insert(how->sizes, g_strdup(path), g_memdup2(&size, sizeof(size)));
}

/* Look at a stream's file. What is missing was said. */
static void look_at(struct kc_salvage *how, const char *folder, const char *path,
		    struct file *file)
{
	int fd = kr_file_open_nofollow(path);
	const struct kc_size *before;
	struct stat st;

	if (fd < 0 || fstat(fd, &st)) {
		warn(how, path, "%s: its events are missing", reason(errno));
		file->hidden = true;
		if (fd >= 0)
			close(fd);
		return;
	}
	file->size = file->usable = (uint64_t)st.st_size;
	before = same_size(how, path, file->size);
	if (before) {
		file->usable = before->usable;
		file->hidden = before->hidden;
	} else {
		if (strcmp(file->name, "metadata"))
			look_at_packets(how, folder, path, file, fd);
		note_size(how, path, fd, file);
	}
	close(fd);
}

/* Copy from @at to @behind. Return: whether all of it was copied. */
static bool copy_part(int in, int out, off_t at, off_t behind, const volatile sig_atomic_t *stop)
{
	ssize_t done = lseek(out, at, SEEK_SET) < 0 ? -1 : 1;

	while (at < behind && done > 0 && !*stop) {
		errno = 0;
		done = sendfile(out, in, &at, MIN((uint64_t)(behind - at), COPY_BYTES));
	}
	return at == behind;
}

/*
 * The index, which says how much there is to copy, is the trace's: a hole stays one, as it
 * can be larger than the disk.
 * Return: whether all of it was copied; errno is 0 if the file has become shorter.
 */
static bool copy(const char *from, const char *to, off_t bytes, const volatile sig_atomic_t *stop)
{
	int in = kr_file_open_nofollow(from);
	int out = open(to, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	off_t at = 0, behind = 0;
	bool done = in >= 0 && out >= 0 && !ftruncate(out, bytes);

	for (; done && next_data(in, bytes, &at, &behind); at = behind)
		done = copy_part(in, out, at, behind, stop);
	if (done && lseek(in, 0, SEEK_END) < bytes) {
		errno = 0;
		done = false;
	}
	if (in >= 0)
		close(in);
	if (out >= 0)
		close(out);
	return done;
}

/* Copy or link to what is usable of a file. What fails is said. */
static bool provide(const char *folder, const char *name, uint64_t usable,
		    uint64_t size, const char *copies, const volatile sig_atomic_t *stop)
{
	char *from = g_build_filename(folder, name, NULL);
	char *to = g_build_filename(copies, name, NULL);
	bool done = true;

	if (usable && usable == size)
		done = !symlink(from, to);
	else if (usable)
		done = copy(from, to, (off_t)usable, stop);
	if (!done && !*stop)
		kc_error(TMPDIR_HINT, "%s: %s", to,
			 errno ? strerror(errno) : "the stream has become shorter");
	g_free(to);
	g_free(from);
	return done;
}

static void free_file(gpointer data)
{
	struct file *file = data;

	g_free(file->name);
	g_free(file);
}

static GPtrArray *look(struct kc_salvage *how, const char *folder)
{
	GPtrArray *files = g_ptr_array_new_with_free_func(free_file);
	GDir *dir = g_dir_open(folder, 0, NULL);
	const char *name;

	while (dir && !*how->stop && (name = g_dir_read_name(dir))) {
		char *path = g_build_filename(folder, name, NULL);
		struct file *file;

		/* babeltrace2 does not read what is hidden. */
		if (name[0] != '.' && !g_file_test(path, G_FILE_TEST_IS_DIR)) {
			file = g_new0(struct file, 1);
			file->name = g_strdup(name);
			look_at(how, folder, path, file);
			if (g_hash_table_contains(how->hidden, path))
				file->usable = 0;
			g_ptr_array_add(files, file);
		}
		g_free(path);
	}
	if (dir)
		g_dir_close(dir);
	return files;
}

/* Return: a folder without a link in its path, into which the reader is let; or NULL. */
static char *make_copies(const char *folder)
{
	GError *err = NULL;
	char *made = g_dir_make_tmp("kunwind-XXXXXX", &err), *real;

	if (!made) {
		kc_error(TMPDIR_HINT, "what is whole of %s cannot be copied: %s", folder,
			 err->message);
		g_error_free(err);
		return NULL;
	}
	real = kc_real_path(made);
	g_free(made);
	return real;
}

char *kc_salvage(const char *folder, struct kc_salvage *how)
{
	GPtrArray *files = look(how, folder);
	char *copies = NULL;
	bool good = true;
	guint i;

	for (i = 0; i < files->len; i++) {
		const struct file *file = g_ptr_array_index(files, i);

		good = good && file->usable == file->size && !file->hidden;
	}
	if (!good && !*how->stop)
		copies = make_copies(folder);
	for (i = 0; copies && i < files->len; i++) {
		const struct file *file = g_ptr_array_index(files, i);

		if (!provide(folder, file->name, file->usable, file->size, copies, how->stop)) {
			kc_salvage_remove(copies);
			copies = NULL;
		}
	}
	g_ptr_array_unref(files);
	return copies;
}

void kc_salvage_remove(char *folder)
{
	GDir *dir = g_dir_open(folder, 0, NULL);
	const char *name;

	while (dir && (name = g_dir_read_name(dir))) {
		char *path = g_build_filename(folder, name, NULL);

		unlink(path);
		g_free(path);
	}
	if (dir)
		g_dir_close(dir);
	rmdir(folder);
	g_free(folder);
}
