// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * A stream's file that cannot be read, or ends within a packet, as after a full disk
 * or half a copy, makes babeltrace2 refuse the whole trace. LTTng's index says where
 * each packet ends (struct ctf_packet_index of lttng-tools, big-endian). libkunwind writes
 * no index, but the begin of its packets is always the same (libkunwind/src/stream.c). What
 * is whole is copied, the other files are linked to, and the index, which tells of more, is
 * left out.
 */
#include <errno.h>
#include <fcntl.h>
#include <glib.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <unistd.h>
#include "command.h"
#include "files.h"
#include "folders.h"
#include "reader_budgets.h"
#include "safe.h"
#include "salvage.h"

#define TMPDIR_HINT	"TMPDIR says where there is room"
/* At a time: who stops it need not wait for all of a large stream. */
#define COPY_BYTES	(16UL << 20)

#define INDEX_MAGIC	0xC1F1DCC1u

struct index_header {
	uint32_t magic;
	uint32_t major;
	uint32_t minor;
	uint32_t record_len;
};

/* The begin of each record. */
struct index_record {
	uint64_t offset;
	uint64_t packet_bits;
};

/* What libkunwind's metadata has near its begin. */
#define LIBKUNWIND	"tracer_name = \"libkunwind\""
#define NEAR		4096

#define PACKET_MAGIC	0xC1FC1FC1u

/* How libkunwind begins a packet, little-endian. */
struct packet_header {
	uint32_t magic;
	uint32_t stream;
	uint64_t begin;
	uint64_t end;
	uint64_t content_bits;
	uint64_t packet_bits;
};

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

/* The owner of the trace chose the path: keep escapes from the terminal. */
static void warn(const struct kc_salvage *how, const char *path, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
static void warn(const struct kc_salvage *how, const char *path, const char *format, ...)
{
	GString *line = g_string_new("kunwind: warning: ");
	va_list args;

	kr_safe_append(line, path);
	g_string_append(line, ": ");
	va_start(args, format);
	g_string_append_vprintf(line, format, args);
	va_end(args);
	if (!how->silent)
		fprintf(stderr, "%s\n", line->str);
	g_string_free(line, TRUE);
}

static const char *reason(int err)
{
	return err == EINVAL ? "it is no regular file" : strerror(err);
}

/* Return: the index of a stream's file, or -1. @index: what it begins with */
static int open_index(const struct kc_salvage *how, const char *folder, struct file *file,
		      struct index_header *index)
{
	char *path = g_strdup_printf("%s/index/%s.idx", folder, file->name);
	int fd = kr_file_open_nofollow(path);

	if (fd < 0 && errno != ENOENT && errno != ENOTDIR) {
		warn(how, path, "%s: it is left out", reason(errno));
		file->hidden = true;
	}
	g_free(path);
	if (fd >= 0 && pread(fd, index, sizeof(*index), 0) == sizeof(*index) &&
	    GUINT32_FROM_BE(index->magic) == INDEX_MAGIC &&
	    GUINT32_FROM_BE(index->record_len) >= sizeof(struct index_record))
		return fd;
	if (fd >= 0)
		close(fd);
	return -1;
}

/* Return: the bytes of the packet at @offset that the record at @at is of; 0 if it is of none. */
static uint64_t indexed_bytes(int index, off_t at, uint64_t offset)
{
	struct index_record record;

	if (pread(index, &record, sizeof(record), at) != sizeof(record) ||
	    GUINT64_FROM_BE(record.offset) != offset)
		return 0;
	return GUINT64_FROM_BE(record.packet_bits) / 8;
}

static bool is_of_libkunwind(const char *folder)
{
	char *path = g_build_filename(folder, "metadata", NULL), text[NEAR + 1] = "";
	int fd = kr_file_open_nofollow(path);
	bool is = fd >= 0 && pread(fd, text, NEAR, 0) > 0 && strstr(text, LIBKUNWIND);

	if (fd >= 0)
		close(fd);
	g_free(path);
	return is;
}

/* Return: the bytes of libkunwind's packet at @offset; 0 if there is none. */
static uint64_t packet_bytes(int stream, uint64_t offset)
{
	struct packet_header header;
	uint64_t bytes;

	if (pread(stream, &header, sizeof(header), (off_t)offset) != sizeof(header) ||
	    GUINT32_FROM_LE(header.magic) != PACKET_MAGIC)
		return 0;
	bytes = GUINT64_FROM_LE(header.packet_bits) / 8;
	return bytes > sizeof(header) ? bytes : 0;
}

/* Return: how many bytes of a stream of libkunwind are whole packets. */
static uint64_t whole_by_headers(struct kc_salvage *how, const char *folder,
				 const struct file *file, int stream)
{
	uint64_t end = 0, bytes;

	while ((bytes = packet_bytes(stream, end)) && bytes <= file->size - end) {
		if (how->packets == KR_PACKETS) {
			warn(how, folder, "there are too many packets to look at all");
			return file->size;
		}
		how->packets++;
		end += bytes;
	}
	return end;
}

/*
 * Return: how many bytes of a file are whole packets by its index.
 * @lost: how many more packets there were
 */
static uint64_t whole_by_index(struct kc_salvage *how, const char *folder, struct file *file,
			       int index, off_t record_len, uint64_t *lost)
{
	off_t at = sizeof(struct index_header);
	uint64_t end = 0, bytes;
	struct stat st;

	/* A packet has bytes of the file. A record of none, as in a hole, ends the index. */
	while ((bytes = indexed_bytes(index, at, end)) && bytes <= file->size - end) {
		if (how->packets == KR_PACKETS) {
			warn(how, folder, "there are too many packets: an index is left out");
			file->hidden = true;
			return file->size;
		}
		how->packets++;
		end += bytes;
		at += record_len;
	}
	if (!fstat(index, &st) && st.st_size > at)
		*lost = (uint64_t)(st.st_size - at) / (uint64_t)record_len;
	return end;
}

/* Return: how many bytes of a file are whole packets; all if that is not known. @lost: likewise */
static uint64_t whole_bytes(struct kc_salvage *how, const char *folder, struct file *file,
			    int stream, uint64_t *lost)
{
	struct index_header header;
	int index = open_index(how, folder, file, &header);
	uint64_t whole;

	if (index < 0)
		return is_of_libkunwind(folder) ?
		       whole_by_headers(how, folder, file, stream) : file->size;
	whole = whole_by_index(how, folder, file, index, GUINT32_FROM_BE(header.record_len), lost);
	close(index);
	return whole;
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

static void warn_of_lost(const struct kc_salvage *how, const char *path,
			 const struct file *file, uint64_t lost)
{
	if (lost)
		warn(how, path,
		     "the last %" PRIu64 " of its packets are not whole: their events are missing",
		     lost);
	else if (file->usable < file->size)
		warn(how, path,
		     "its last %" PRIu64 " bytes are no whole packet: their events are missing",
		     file->size - file->usable);
}

/* Look at a stream's file. What is missing was said. */
static void look_at(struct kc_salvage *how, const char *folder, const char *path,
		    struct file *file)
{
	int fd = kr_file_open_nofollow(path);
	const struct kc_size *before;
	uint64_t lost = 0;
	struct stat st;

	if (fd < 0 || fstat(fd, &st)) {
		warn(how, path, "%s: its events are missing", reason(errno));
		file->hidden = true;
		return;
	}
	file->size = file->usable = (uint64_t)st.st_size;
	before = same_size(how, path, file->size);
	if (before) {
		file->usable = before->usable;
		file->hidden = before->hidden;
	} else {
		if (strcmp(file->name, "metadata"))
			file->usable = whole_bytes(how, folder, file, fd, &lost);
		warn_of_lost(how, path, file, lost);
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
