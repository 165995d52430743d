// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* See jitdump.h. The numbers are those of the machine that wrote them: x86, little-endian. */
#include <glib.h>
#include <string.h>
#include "jitdump.h"
#include "secret_hash.h"

#define MAGIC	0x4a695444u

enum {
	JIT_CODE_LOAD = 0,
	JIT_CODE_MOVE = 1,
};

/* All members of both structs have their natural alignment: there is no padding. */
struct file_header {
	uint32_t magic;
	uint32_t version;
	uint32_t total_size;
	uint32_t elf_mach;
	uint32_t pad;
	uint32_t pid;
	uint64_t timestamp;
	uint64_t flags;
};

struct record {
	uint32_t id;
	uint32_t total_size;
	uint64_t timestamp;
};

/* Before the name. */
struct load {
	struct record record;
	uint32_t pid;
	uint32_t tid;
	uint64_t vma;
	uint64_t code_addr;
	uint64_t code_size;
	uint64_t code_index;
};

struct move {
	struct record record;
	uint32_t pid;
	uint32_t tid;
	uint64_t vma;
	uint64_t old_code_addr;
	uint64_t new_code_addr;
	uint64_t code_size;
	uint64_t code_index;
};

struct reader {
	/* The name in the file of each code_index. */
	GHashTable *names;
	kr_jitdump_each *each;
	void *data;
};

static void read_load(struct reader *reader, const char *bytes, size_t size)
{
	struct load load;
	const char *name = bytes + sizeof(load);

	if (size < sizeof(load) || !memchr(name, '\0', size - sizeof(load)))
		return;
	memcpy(&load, bytes, sizeof(load));
	g_hash_table_replace(reader->names,
			     g_memdup2(&load.code_index, sizeof(load.code_index)),
			     (gpointer)name);
	reader->each(reader->data, load.code_addr, load.code_size, name);
}

static void read_move(struct reader *reader, const char *bytes, size_t size)
{
	struct move move;
	const char *name;

	if (size < sizeof(move))
		return;
	memcpy(&move, bytes, sizeof(move));
	name = g_hash_table_lookup(reader->names, &move.code_index);
	if (name)
		reader->each(reader->data, move.new_code_addr, move.code_size, name);
}

void kr_jitdump_read(const char *bytes, size_t length, kr_jitdump_each *each, void *data)
{
	struct reader reader = { .each = each, .data = data };
	struct file_header header;
	struct record record;
	size_t at;

	if (length < sizeof(header))
		return;
	memcpy(&header, bytes, sizeof(header));
	if (header.magic != MAGIC || header.total_size < sizeof(header))
		return;
	reader.names = g_hash_table_new_full(kr_hash_number, g_int64_equal, g_free, NULL);
	for (at = header.total_size; at < length && length - at >= sizeof(record);
	     at += record.total_size) {
		memcpy(&record, bytes + at, sizeof(record));
		if (record.total_size < sizeof(record) || record.total_size > length - at)
			break;
		if (record.id == JIT_CODE_LOAD)
			read_load(&reader, bytes + at, record.total_size);
		else if (record.id == JIT_CODE_MOVE)
			read_move(&reader, bytes + at, record.total_size);
	}
	g_hash_table_destroy(reader.names);
}
