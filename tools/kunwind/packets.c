// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* Where packets end: see packets.h. */
#include <errno.h>
#include <glib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "files.h"
#include "packets.h"
#include "reader_budgets.h"

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

/* Return: the index of a stream's file, or -1. @index: what it begins with */
static int open_index(struct kc_packets *packets, const char *folder, const char *name,
		      struct index_header *index)
{
	char *path = g_strdup_printf("%s/index/%s.idx", folder, name);
	int fd = kr_file_open_nofollow(path);

	if (fd < 0 && errno != ENOENT && errno != ENOTDIR) {
		packets->bad_index = KC_INDEX_UNREADABLE;
		packets->error = errno;
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

/* Return: whether the budget allows one packet more. */
static bool spend(struct kc_packets *packets)
{
	packets->unknown = *packets->budget == KR_PACKETS;
	*packets->budget += !packets->unknown;
	return !packets->unknown;
}

static void look_at_headers(struct kc_packets *packets, int stream, uint64_t size)
{
	uint64_t end = 0, bytes;

	while ((bytes = packet_bytes(stream, end)) && bytes <= size - end && spend(packets))
		end += bytes;
	packets->whole = packets->unknown ? size : end;
}

static void look_at_index(struct kc_packets *packets, int index, off_t record_len, uint64_t size)
{
	off_t at = sizeof(struct index_header);
	uint64_t end = 0, bytes;
	struct stat st;

	/* A packet has bytes of the file. A record of none, as in a hole, ends the index. */
	while ((bytes = indexed_bytes(index, at, end)) && bytes <= size - end && spend(packets)) {
		end += bytes;
		at += record_len;
	}
	if (packets->unknown) {
		packets->bad_index = KC_INDEX_TOO_LONG;
		return;
	}
	packets->whole = end;
	if (!fstat(index, &st) && st.st_size > at)
		packets->lost = (uint64_t)(st.st_size - at) / (uint64_t)record_len;
}

void kc_packets_find(struct kc_packets *packets, const char *folder, const char *name, int fd,
		     uint64_t size)
{
	struct index_header header;
	int index = open_index(packets, folder, name, &header);

	packets->whole = size;
	if (index >= 0) {
		look_at_index(packets, index, GUINT32_FROM_BE(header.record_len), size);
		close(index);
	} else if (is_of_libkunwind(folder)) {
		look_at_headers(packets, fd, size);
	}
}
