// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* See chosen.h. */
#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "chosen.h"
#include "command.h"
#include "proc.h"
#include "threads.h"

#define SUDO	"sudo kunwind stack shows all processes"

pid_t kc_number_of(const char *text)
{
	char *end;
	long number = strtol(text, &end, 10);

	return *text >= '0' && *text <= '9' && !*end && number <= INT_MAX ? number : 0;
}

/* Return: the process that @id is or belongs to; 0 if there is none. */
static pid_t process_of(pid_t id)
{
	char path[64], line[256];
	pid_t pid = 0;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/status", id);
	file = fopen(path, "re");
	while (file && fgets(line, sizeof(line), file))
		if (sscanf(line, "Tgid: %d", &pid) == 1)
			break;
	if (file)
		fclose(file);
	return pid;
}

/* Show what the user gave the number of. */
static void show_id(struct kc_threads *threads, pid_t id)
{
	pid_t pid = process_of(id);
	int ret = pid ? kc_threads_show(threads, pid, pid == id ? 0 : id) : -ESRCH;

	if (!ret)
		return;
	threads->failed = true;
	switch (ret) {
	case -ESRCH:
		kc_error("ps -eL lists processes and threads",
			 "there is no process or thread %d, or it is the kernel's", id);
		break;
	case -EPERM:
	case -EACCES:
		kc_error(SUDO, "you may not trace process %d", pid);
		break;
	default:
		kc_error(NULL, "process %d: %s", pid, strerror(-ret));
	}
}

/* Whether @pid is a process of the name: its own, or that of its file. */
static bool has_name(pid_t pid, const char *name)
{
	char text[4096], path[64];
	const char *base;
	ssize_t length;

	if (!strcmp(kc_proc_line(pid, pid, "comm", text, sizeof(text)), name))
		return true;
	snprintf(path, sizeof(path), "/proc/%d/exe", pid);
	length = readlink(path, text, sizeof(text) - 1);
	if (length <= 0)
		return false;
	text[length] = '\0';
	base = strrchr(text, '/');
	return !strcmp(base ? base + 1 : text, name);
}

/* Show all processes, or those of @name. */
static void show_many(struct kc_threads *threads, const char *name)
{
	struct dirent *entry;
	DIR *dir = opendir("/proc");
	bool found = false;
	size_t refused = 0;

	while (dir && (entry = readdir(dir))) {
		pid_t pid = atoi(entry->d_name);
		int ret;

		if (pid <= 0 || pid == getpid() || (name && !has_name(pid, name)))
			continue;
		found = true;
		ret = kc_threads_show(threads, pid, 0);
		if (ret == -EPERM || ret == -EACCES) {
			refused++;
		} else if (ret && ret != -ESRCH) {
			threads->failed = true;
			kc_error(NULL, "process %d: %s", pid, strerror(-ret));
		}
	}
	if (dir)
		closedir(dir);
	if (name && !found) {
		threads->failed = true;
		kc_error("pgrep -l . lists names", "there is no process %s", name);
	}
	if (refused == 1)
		kc_error(SUDO, "a process is not shown: you may not trace it");
	else if (refused)
		kc_error(SUDO, "%zu processes are not shown: you may not trace them", refused);
	/* With --all, only those that may be traced are asked for. */
	if (name && (refused || !threads->shown))
		threads->failed = true;
}

void kc_chosen_show(const struct kc_chosen *chosen, struct kc_threads *threads)
{
	size_t i;

	if (chosen->all || chosen->name)
		show_many(threads, chosen->name);
	for (i = 0; i < chosen->nr_ids; i++)
		show_id(threads, kc_number_of(chosen->ids[i]));
}
