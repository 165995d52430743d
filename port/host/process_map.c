// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* Make the address map of a process, from its /proc/PID/maps. */
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include "load.h"

struct line {
	u64 start, end, off;
	char path[4096];
};

/* The vDSO is not a file: read its bytes from the process. */
static int load_vdso(struct host_table *t, pid_t pid, const struct line *l)
{
	u64 size = l->end - l->start;
	u8 *bytes = malloc(size);
	char name[64];
	int fd, ret = -EIO;

	snprintf(name, sizeof(name), "/proc/%d/mem", pid);
	fd = open(name, O_RDONLY | O_CLOEXEC);
	if (bytes && fd >= 0 &&
	    pread(fd, bytes, size, (off_t)l->start) == (ssize_t)size)
		ret = host_load_bytes(t, bytes, size);
	if (fd >= 0)
		close(fd);
	free(bytes);
	return ret;
}

static int load(struct host_table *t, pid_t pid, const struct line *l)
{
	char name[128];

	if (!strcmp(l->path, "[vdso]"))
		return load_vdso(t, pid, l);
	/* This needs privilege, and is right for deleted and replaced files, too. */
	snprintf(name, sizeof(name), "/proc/%d/map_files/%" PRIx64 "-%" PRIx64,
		 pid, (uint64_t)l->start, (uint64_t)l->end);
	if (!access(name, R_OK))
		return host_load_file(t, name);
	return host_load_file(t, l->path);
}

/* Return: the table of a path, loaded once, or NULL if it has none. */
static const struct kuw_table *table_of(struct host_space *space, pid_t pid,
					const struct line *l)
{
	u32 i, n = space->nr_tables;
	void *p;

	for (i = 0; i < n; i++)
		if (!strcmp(space->paths[i], l->path))
			return space->tables[i].table;

	p = realloc(space->tables, (n + 1) * sizeof(*space->tables));
	if (!p)
		return NULL;
	space->tables = p;
	p = realloc(space->paths, (n + 1) * sizeof(*space->paths));
	if (!p)
		return NULL;
	space->paths = p;
	space->paths[n] = strdup(l->path);
	if (!space->paths[n])
		return NULL;
	space->nr_tables++;
	load(&space->tables[n], pid, l);
	return space->tables[n].table;
}

static void describe(struct host_space *space, pid_t pid, const struct line *l,
		     struct kuw_mapping *m)
{
	m->start = l->start;
	m->end = l->end;
	if (!strcmp(l->path, "[uprobes]")) {
		m->kind = KUW_MAPPING_URETPROBE;
		return;
	}
	m->table = table_of(space, pid, l);
	if (m->table && kuw_table_bias(m->table, l->start, l->end - l->start,
				       l->off, &m->bias))
		return;
	m->table = NULL;
	m->kind = KUW_MAPPING_NO_TABLE;
}

/* Return: where the stack of a process starts, or 0 (proc(5), /proc/PID/stat, field 28). */
static u64 stack_first(pid_t pid)
{
	char name[64], text[1024];
	uint64_t first = 0;
	const char *at;
	size_t len;
	FILE *stat;
	int field;

	snprintf(name, sizeof(name), "/proc/%d/stat", pid);
	stat = fopen(name, "re");
	if (!stat)
		return 0;
	len = fread(text, 1, sizeof(text) - 1, stat);
	fclose(stat);
	text[len] = 0;
	/* The program's name, field 2, may have spaces in it. */
	at = strrchr(text, ')');
	for (field = 2; at && field < 28; field++)
		at = strchr(at + 1, ' ');
	if (at)
		sscanf(at, " %" SCNu64, &first);
	return first;
}

/* Return: whether it is a file or the kernel's. Heaps and stacks, which have names, are neither. */
static bool has_code(const struct line *l)
{
	return l->path[0] == '/' || !strcmp(l->path, "[vdso]") || !strcmp(l->path, "[uprobes]");
}

int host_space_of(struct host_space *space, pid_t pid)
{
	struct line l;
	char name[64], perms[8], text[4400];
	u32 room = 0;
	FILE *maps;
	int ret = 0;

	memset(space, 0, sizeof(*space));
	if (!pid)
		pid = getpid();
	space->stack_first = stack_first(pid);
	snprintf(name, sizeof(name), "/proc/%d/maps", pid);
	maps = fopen(name, "re");
	if (!maps)
		return -errno;
	while (fgets(text, sizeof(text), maps)) {
		u32 n = space->map ? space->map->count : 0;
		uint64_t start, end, off;

		l.path[0] = 0;
		if (sscanf(text, "%" SCNx64 "-%" SCNx64 " %7s %" SCNx64
			   " %*s %*s %4095[^\n]", &start, &end, perms, &off,
			   l.path) < 4)
			continue;
		l.start = start;
		l.end = end;
		l.off = off;
		/* Leave out anonymous memory, as the module does. */
		if (perms[2] != 'x' || !has_code(&l))
			continue;
		if (n == room) {
			void *p;

			room = room ? 2 * room : 64;
			p = realloc(space->map, sizeof(*space->map) +
				    room * sizeof(space->map->mappings[0]));
			if (!p) {
				ret = -ENOMEM;
				break;
			}
			space->map = p;
			memset(&space->map->mappings[n], 0, (room - n) *
			       sizeof(space->map->mappings[0]));
			space->map->count = n;
			space->map->incomplete = false;
			space->map->number = 1;
		}
		describe(space, pid, &l, &space->map->mappings[n]);
		space->map->count++;
	}
	fclose(maps);
	if (!ret && !space->map)
		ret = -ENODATA;
	return ret;
}

void host_space_free(struct host_space *space)
{
	u32 i;

	for (i = 0; i < space->nr_tables; i++) {
		host_table_free(&space->tables[i]);
		free(space->paths[i]);
	}
	free(space->tables);
	free(space->paths);
	free(space->map);
	memset(space, 0, sizeof(*space));
}
