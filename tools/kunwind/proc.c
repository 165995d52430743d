// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* Files of /proc that several parts of the command read. */
#include <glib.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include "proc.h"

bool kc_proc_stat(int pid, struct kc_proc_stat *stat)
{
	char *path = g_strdup_printf("/proc/%d/stat", pid), *text = NULL, *name_end = NULL;
	bool found;

	/* The name can have any characters. */
	if (g_file_get_contents(path, &text, NULL, NULL))
		name_end = strrchr(text, ')');
	found = name_end && sscanf(name_end, ") %*c %d %*d %*d %*d %*d %*u %*u %*u %*u %*u "
				   "%*u %*u %*d %*d %*d %*d %*d %*d %llu", &stat->parent,
				   &stat->start) == 2;
	g_free(text);
	g_free(path);
	return found;
}

uint64_t kc_proc_namespace(const char *process, const char *kind)
{
	char *path = g_strdup_printf("/proc/%s/ns/%s", process, kind);
	struct stat st = { 0 };

	(void)stat(path, &st);
	g_free(path);
	return st.st_ino;
}

char *kc_proc_line(int pid, int tid, const char *what, char *text, int size)
{
	char path[96];
	FILE *file;

	text[0] = '\0';
	snprintf(path, sizeof(path), "/proc/%d/task/%d/%s", pid, tid, what);
	file = fopen(path, "re");
	if (file && fgets(text, size, file))
		text[strcspn(text, "\n")] = '\0';
	if (file)
		fclose(file);
	return text;
}
