// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * A process calls its file by the number that it has in its own PID namespace, and puts it
 * into /tmp of its own root. Only while it lives, its root can be found. The copy has the
 * number that the trace has.
 */
#include <fcntl.h>
#include <glib.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include "command.h"
#include "files.h"
#include "jit_names.h"
#include "reader_budgets.h"

#define TMP	"/tmp"

/* How long all files may take, in ms: a process can put /tmp on a server that never answers. */
#define PATIENCE_MS	5000

/**
 * struct keeper - where copies go
 * @folder: the folder
 * @begin: when the recording began
 * @bytes: of what was copied
 */
struct keeper {
	const char *folder;
	time_t begin;
	uint64_t bytes;
};

static bool write_copy(const char *folder, int pid, const char *text, size_t length)
{
	char *to = g_strdup_printf("%s/perf-%d.map", folder, pid);
	bool done = (!mkdir(folder, 0700) || g_file_test(folder, G_FILE_TEST_IS_DIR)) &&
		    g_file_set_contents_full(to, text, (gssize)length,
					     G_FILE_SET_CONTENTS_CONSISTENT, 0600, NULL);

	g_free(to);
	return done;
}

/*
 * Copy the file at @path below @root, unless it is from before @since: then it is of an
 * earlier process with the same number. Everybody can write to /tmp, so it counts only if
 * it is @owner's.
 */
static void copy(struct keeper *keeper, int pid, const char *root, const char *path,
		 time_t since, uid_t owner)
{
	int fd = kr_file_open(root, path);
	size_t length;
	struct stat st;
	char *text;

	if (fd < 0)
		return;
	if (!fstat(fd, &st) && st.st_mtime >= since && st.st_uid == owner) {
		text = kr_file_read_open(fd, MIN(KR_JIT_BYTES,
						 KR_JIT_ALL_BYTES - keeper->bytes),
					 &length);
		if (text && write_copy(keeper->folder, pid, text, length))
			keeper->bytes += length;
		g_free(text);
	}
	close(fd);
}

/* Return: the number of a process in its own namespace; 0 if that is not known. */
static int own_number(int pid)
{
	char *path = g_strdup_printf("/proc/%d/status", pid), *text = NULL, *line, *end;
	int number = 0;

	if (g_file_get_contents(path, &text, NULL, NULL)) {
		/* The numbers in all namespaces, the innermost last. */
		line = strstr(text, "\nNSpid:");
		end = line ? strchr(line + 1, '\n') : NULL;
		if (end) {
			*end = '\0';
			number = atoi(strrchr(line, '\t') ?: "");
		}
	}
	g_free(text);
	g_free(path);
	return number;
}

/* Return: when a process began; that of a later one if it has gone. */
static time_t start_of(int pid)
{
	char *path = g_strdup_printf("/proc/%d/stat", pid), *text = NULL, *name_end;
	unsigned long long ticks;
	struct timespec up;
	time_t start = G_MAXINT64;

	clock_gettime(CLOCK_BOOTTIME, &up);
	if (g_file_get_contents(path, &text, NULL, NULL)) {
		/* The name can have any characters. */
		name_end = strrchr(text, ')');
		if (name_end && sscanf(name_end, ") %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u "
				       "%*u %*u %*d %*d %*d %*d %*d %*d %llu", &ticks) == 1)
			start = time(NULL) - up.tv_sec +
				(time_t)(ticks / (unsigned long)sysconf(_SC_CLK_TCK)) - 1;
	}
	g_free(text);
	g_free(path);
	return start;
}

static void keep_of_living(int pid, struct keeper *keeper)
{
	char *root = g_strdup_printf("/proc/%d/root", pid);
	char *path = g_strdup_printf(TMP "/perf-%d.map", own_number(pid));
	char *process = g_strdup_printf("/proc/%d", pid);
	struct stat st;

	if (!stat(process, &st))
		copy(keeper, pid, root, path, start_of(pid), st.st_uid);
	g_free(process);
	g_free(path);
	g_free(root);
}

/* Call @each with the numbers in the names of a directory. */
static void for_each(const char *path, const char *before, const char *after,
		     void (*each)(int number, struct keeper *keeper),
		     struct keeper *keeper)
{
	GDir *dir = g_dir_open(path, 0, NULL);
	const char *name;
	char *end;
	long number;

	while (dir && (name = g_dir_read_name(dir))) {
		if (!g_str_has_prefix(name, before))
			continue;
		number = strtol(name + strlen(before), &end, 10);
		if (end > name + strlen(before) && !strcmp(end, after) && number > 0 &&
		    number <= G_MAXINT)
			each((int)number, keeper);
	}
	if (dir)
		g_dir_close(dir);
}

static void keep_of_dead(int pid, struct keeper *keeper)
{
	char *process = g_strdup_printf("/proc/%d", pid);
	char *path = g_strdup_printf(TMP "/perf-%d.map", pid);

	if (access(process, F_OK))
		copy(keeper, pid, NULL, path, keeper->begin, geteuid());
	g_free(path);
	g_free(process);
}

static void keep_all(const char *folder, time_t begin)
{
	char *own = g_build_filename(folder, KC_JIT_NAMES, NULL);
	struct keeper keeper = { .folder = own, .begin = begin };

	/* First those that no other user can hold up. */
	for_each(TMP, "perf-", ".map", keep_of_dead, &keeper);
	for_each("/proc", "", "", keep_of_living, &keeper);
	g_free(own);
}

/* A child does it, as no process can end its own wait for a file server. */
void kc_keep_jit_names(const char *folder, time_t begin)
{
	unsigned int waited_ms = 0;
	pid_t pid = fork();

	if (!pid) {
		keep_all(folder, begin);
		_exit(0);
	}
	while (pid > 0 && !waitpid(pid, NULL, WNOHANG)) {
		if (waited_ms++ == PATIENCE_MS) {
			kill(pid, SIGKILL);
			kc_error(NULL, "a process's " TMP " does not answer: names of compiled code may be missing");
			return;
		}
		g_usleep(1000);
	}
}
