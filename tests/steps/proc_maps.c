// SPDX-License-Identifier: GPL-2.0-only OR MIT
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include "proc_maps.h"

/* Return: the lines of executable mappings, or NULL. */
static char *executable_lines(pid_t pid)
{
	char name[64], *line = NULL, *text = NULL;
	size_t room = 0, len = 0;
	FILE *from, *to;

	snprintf(name, sizeof(name), "/proc/%d/maps", pid);
	from = fopen(name, "re");
	if (!from)
		return NULL;
	to = open_memstream(&text, &len);
	while (to && getline(&line, &room, from) > 0) {
		const char *perms = strchr(line, ' ');

		if (perms && perms[3] == 'x')
			fputs(line, to);
	}
	if (to)
		fclose(to);
	fclose(from);
	free(line);
	return text;
}

int maps_update(struct maps *m, pid_t pid)
{
	char *text = executable_lines(pid);
	int ret;

	if (!text)
		return -ESRCH;
	if (m->text && !strcmp(m->text, text)) {
		free(text);
		return 0;
	}
	free(m->text);
	m->text = text;
	host_space_free(&m->space);
	ret = host_space_of(&m->space, pid);
	if (ret)
		return ret;
	m->space.map->number = ++m->number;
	kuw_port_stack_first = m->space.stack_first;
	return 1;
}

bool maps_find(pid_t pid, u64 addr, u64 *lo, u64 *hi)
{
	char name[64], *line = NULL;
	bool found = false;
	size_t room = 0;
	FILE *from;

	snprintf(name, sizeof(name), "/proc/%d/maps", pid);
	from = fopen(name, "re");
	if (!from)
		return false;
	while (!found && getline(&line, &room, from) > 0)
		found = sscanf(line, "%" SCNx64 "-%" SCNx64, (uint64_t *)lo,
			       (uint64_t *)hi) == 2 &&
			addr >= *lo && addr < *hi;
	fclose(from);
	free(line);
	return found;
}

void maps_free(struct maps *m)
{
	host_space_free(&m->space);
	free(m->text);
	memset(m, 0, sizeof(*m));
}
