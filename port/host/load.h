/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * What the module does between a mapping and a walk, for host programs: a file's table, and
 * the address map of a process.
 */
#ifndef HOST_LOAD_H
#define HOST_LOAD_H

#include <sys/types.h>
#include "compile.h"
#include "elf.h"
#include "map.h"
#include "rule_cache.h"
#include "table.h"

/**
 * struct host_table - the table of one file
 * @elf: what the reader found
 * @eh_frame: a copy of .eh_frame
 * @gopclntab: a copy of .gopclntab, or NULL
 * @table: the table, alone in its allocation
 * @bytes: its bytes
 * @stage: the step that was running when it failed
 * @grown: how often an area grew
 */
struct host_table {
	struct kuw_elf elf;
	u8 *eh_frame;
	u8 *gopclntab;
	struct kuw_table *table;
	u64 bytes;
	const char *stage;
	unsigned int grown;
};

/* A file's bytes, or its file descriptor, from which only the needed bytes are read. */
struct host_source {
	int fd;			/* -1: @bytes has them */
	const u8 *bytes;
	u64 size;
};

/* Return: 0 or a negative errno. Call host_table_free() in both cases. */
int host_read_elf(struct host_table *t, const struct host_source *source);
int host_compile(struct host_table *t);
int host_load_bytes(struct host_table *t, const void *bytes, u64 size);
int host_load_fd(struct host_table *t, int fd);
int host_load_file(struct host_table *t, const char *path);
void host_table_free(struct host_table *t);

/* Everything that a table knows about a file address. */
void host_rules(const struct kuw_table *table, u64 vaddr, struct kuw_rules *rules);

/**
 * struct host_space - the address map of a process, with the tables it needs
 * @map: the map
 * @tables: the tables
 * @paths: the path of each table's file
 * @nr_tables: how many tables
 * @stack_first: the first word of the process's stack: kuw_port_stack_first of its walks
 */
struct host_space {
	struct kuw_map *map;
	struct host_table *tables;
	char **paths;
	u32 nr_tables;
	u64 stack_first;
};

/* @pid: the process; 0: the caller. Return: 0 or a negative errno. */
int host_space_of(struct host_space *space, pid_t pid);
void host_space_free(struct host_space *space);

/* A cache of rules. Clear all of it before the first walk. */
struct host_cache {
	struct kuw_rule_cache cache;
	struct kuw_cache_entry entries[KUW_CACHE_ENTRIES];
};

static inline struct kuw_rule_cache *host_cache(struct host_cache *c)
{
	c->cache.entries = c->entries;
	return &c->cache;
}

#endif /* HOST_LOAD_H */
