// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* Which file is meant: see right_file.h. */
#include <elfutils/libdwelf.h>
#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>
#include "elf_file.h"
#include "reader_budgets.h"
#include "right_file.h"
#include "wire.h"

static bool has_id(Elf *elf, GBytes *id)
{
	gsize wanted_length;
	gconstpointer wanted = g_bytes_get_data(id, &wanted_length);
	const void *found;
	ssize_t length = dwelf_elf_gnu_build_id(elf, &found);

	return length > 0 && (gsize)length == wanted_length &&
	       !memcmp(found, wanted, wanted_length);
}

enum kr_match kr_right_file(int fd, GBytes *id, uint64_t dev, uint64_t inode)
{
	enum kr_match result = KR_NO_ELF;
	struct stat st;
	Elf *elf;

	if (fstat(fd, &st))
		return KR_NO_ELF;
	elf = elf_begin(fd, ELF_C_READ_MMAP, NULL);
	if (elf && elf_kind(elf) == ELF_K_ELF) {
		if (g_bytes_get_size(id))
			result = has_id(elf, id) ? KR_MATCHES : KR_DIFFERS;
		else
			result = st.st_dev == dev && st.st_ino == inode ?
				 KR_SAME_INODE : KR_OTHER_INODE;
	}
	elf_end(elf);
	return result;
}

/* Of a file whose size was looked at. */
static uint32_t crc_of(int fd)
{
	unsigned char bytes[1 << 16];
	uLong crc = crc32(0, NULL, 0);
	off_t at = 0;
	ssize_t n;

	while ((n = pread(fd, bytes, sizeof(bytes), at)) > 0) {
		crc = crc32(crc, bytes, (uInt)n);
		at += n;
	}
	return (uint32_t)crc;
}

/* Return: whether a file has the debug information that was looked for. */
static bool is_wanted(int fd, GBytes *id, const uint32_t *crc)
{
	bool is = false;
	Elf *elf;

	if (!g_bytes_get_size(id))
		return crc && kr_elf_file_bytes(fd) <= KR_FILE_BYTES && crc_of(fd) == *crc;
	elf = elf_begin(fd, ELF_C_READ_MMAP, NULL);
	is = elf && has_id(elf, id);
	elf_end(elf);
	return is;
}

int kr_right_debug(int keeper, const char *name, GBytes *id, const uint32_t *crc)
{
	gboolean more = true;
	enum kr_wire kind;
	GVariant *said;
	guint32 nth;
	int fd = -1;

	for (nth = 0; more; nth++) {
		kr_wire_send(keeper, KR_FIND,
			     g_variant_new("(@ay@ayu)",
					   g_variant_new_bytestring(name),
					   kr_wire_bytes(g_bytes_get_data(id, NULL),
							 g_bytes_get_size(id)), nth), -1);
		said = kr_wire_receive(keeper, &kind, &fd);
		if (!said || kind != KR_FOUND)
			_exit(1);
		g_variant_get(said, KR_FOUND_TYPE, &more);
		g_variant_unref(said);
		if (fd >= 0 && is_wanted(fd, id, crc))
			return fd;
		if (fd >= 0)
			close(fd);
	}
	return -1;
}
