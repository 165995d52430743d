// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * A process calls its files by the number that it has in its own PID namespace, and puts them
 * into /tmp of its own root, or where it works. Only while it lives, these can be found. The
 * copies have the number that the trace has.
 */
#include <errno.h>
#include <fcntl.h>
#include <glib.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "command.h"
#include "files.h"
#include "helper.h"
#include "jit_names.h"
#include "proc.h"
#include "reader_budgets.h"

#define TMP	"/tmp"

/* How names of files begin and end: see jit.h. */
static const struct kind {
	const char *before;
	const char *after;
} kinds[] = { { "perf-", ".map" }, { "jit-", ".dump" } };

/**
 * struct keeper - where copies go
 * @folder: the folder
 * @begin: when the recording began
 * @bytes: of what was copied
 * @too_large: a process whose file was not; 0: none
 */
struct keeper {
	const char *folder;
	time_t begin;
	uint64_t bytes;
	int too_large;
};

static char *path_of(const char *folder, const struct kind *kind, int pid)
{
	return g_strdup_printf("%s/%s%d%s", folder, kind->before, pid, kind->after);
}

static bool write_copy(const char *folder, const struct kind *kind, int pid,
		       const char *text, size_t length)
{
	char *to = path_of(folder, kind, pid);
	bool done = (!mkdir(folder, 0700) || g_file_test(folder, G_FILE_TEST_IS_DIR)) &&
		    g_file_set_contents_full(to, text, (gssize)length,
					     G_FILE_SET_CONTENTS_CONSISTENT, 0600, NULL);

	g_free(to);
	return done;
}

/*
 * Copy the file of process @number in @folder below @root, unless it is from before @since:
 * then it is of an earlier process with the same number. Everybody can write to /tmp, so it
 * counts only if it is @owner's.
 */
static void copy(struct keeper *keeper, const struct kind *kind, int pid, const char *root,
		 const char *folder, int number, time_t since, uid_t owner)
{
	char *path = path_of(folder, kind, number);
	int fd = kr_file_open(root, path);
	size_t length;
	struct stat st;
	char *text;

	g_free(path);
	if (fd < 0)
		return;
	if (!fstat(fd, &st) && st.st_mtime >= since && st.st_uid == owner) {
		text = kr_file_read_open(fd, MIN(KR_JIT_BYTES,
						 KR_JIT_ALL_BYTES - keeper->bytes),
					 &length);
		if (text && write_copy(keeper->folder, kind, pid, text, length))
			keeper->bytes += length;
		if (!text && errno == EFBIG)
			keeper->too_large = pid;
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
	struct kc_proc_stat stat;
	struct timespec up;

	clock_gettime(CLOCK_BOOTTIME, &up);
	if (!kc_proc_stat(pid, &stat))
		return G_MAXINT64;
	return time(NULL) - up.tv_sec +
	       (time_t)(stat.start / (unsigned long)sysconf(_SC_CLK_TCK)) - 1;
}

static void keep_of_living(int pid, const struct kind *kind, struct keeper *keeper)
{
	char *process = g_strdup_printf("/proc/%d", pid);
	char *root = g_strdup_printf("%s/root", process);
	char *works = g_strdup_printf("%s/cwd", process);
	int number = own_number(pid);
	struct stat st;
	time_t start;

	if (!stat(process, &st)) {
		start = start_of(pid);
		copy(keeper, kind, pid, works, "", number, start, st.st_uid);
		copy(keeper, kind, pid, root, TMP, number, start, st.st_uid);
	}
	g_free(works);
	g_free(root);
	g_free(process);
}

static void keep_of_dead(const char *folder, int pid, const struct kind *kind,
			 struct keeper *keeper)
{
	char *process = g_strdup_printf("/proc/%d", pid);

	/* A link in @folder can lead anywhere, so none leads out of it. */
	if (access(process, F_OK))
		copy(keeper, kind, pid, folder, "", pid, keeper->begin, geteuid());
	g_free(process);
}

/* Return: the number in a name that has nothing else between the two; 0 if there is none. */
static int number_in(const char *name, const char *before, const char *after)
{
	const char *digits = name + strlen(before);
	char *end;
	long number;

	if (!g_str_has_prefix(name, before) || !g_ascii_isdigit(*digits))
		return 0;
	number = strtol(digits, &end, 10);
	return strcmp(end, after) || number > G_MAXINT ? 0 : (int)number;
}

static void keep_in(const char *folder, struct keeper *keeper)
{
	GDir *dir = g_dir_open(folder, 0, NULL);
	const char *name;
	size_t i;
	int pid;

	while (dir && (name = g_dir_read_name(dir))) {
		for (i = 0; i < G_N_ELEMENTS(kinds); i++) {
			pid = number_in(name, kinds[i].before, kinds[i].after);
			if (pid)
				keep_of_dead(folder, pid, &kinds[i], keeper);
		}
	}
	if (dir)
		g_dir_close(dir);
}

static void keep_of_all_living(struct keeper *keeper)
{
	GDir *dir = g_dir_open("/proc", 0, NULL);
	const char *name;
	size_t i;
	int pid;

	while (dir && (name = g_dir_read_name(dir))) {
		pid = number_in(name, "", "");
		for (i = 0; pid && i < G_N_ELEMENTS(kinds); i++)
			keep_of_living(pid, &kinds[i], keeper);
	}
	if (dir)
		g_dir_close(dir);
}

/* Where copies go, and when the recording began. */
struct asked {
	const char *folder;
	time_t begin;
};

/* In the child: it says which process had too much, if one had. */
static int keep_all(const void *data, int to)
{
	const struct asked *asked = data;
	char *own = g_build_filename(asked->folder, KC_JIT_NAMES, NULL);
	char *here = g_get_current_dir();
	struct keeper keeper = { .folder = own, .begin = asked->begin };
	bool said = true;

	/* First those that no other user can hold up. A command worked where this one does. */
	keep_in(TMP, &keeper);
	keep_in(here, &keeper);
	keep_of_all_living(&keeper);
	if (keeper.too_large)
		said = write(to, &keeper.too_large, sizeof(keeper.too_large)) > 0;
	g_free(here);
	g_free(own);
	return !said;
}

void kc_keep_jit_names(const char *folder, time_t begin)
{
	const struct asked asked = { folder, begin };
	GByteArray *said = g_byte_array_new();
	struct kc_helper helper;
	int too_large, err = kc_helper_start(&helper, 0, keep_all, &asked);

	if (err)
		kc_error(NULL, "names of compiled code are missing: %s", strerror(-err));
	else if (kc_helper_end(&helper, said, KR_JIT_MS))
		kc_error(NULL, "a process's " TMP " does not answer: names of compiled code may be missing");
	if (said->len == sizeof(too_large)) {
		memcpy(&too_large, said->data, sizeof(too_large));
		kc_error(NULL, "names of compiled code are missing, of process %d at least: a process may have %d MB of them, and all processes %d MB",
			 too_large, (int)(KR_JIT_BYTES >> 20), (int)(KR_JIT_ALL_BYTES >> 20));
	}
	g_byte_array_unref(said);
}
