// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* What kunwind stack shows of a process: the stacks of its threads. */
#include <dirent.h>
#include <errno.h>
#include <jansson.h>
#include <libkunwind.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "command.h"
#include "frames.h"
#include "module.h"
#include "proc.h"
#include "threads.h"

/* How often to ask for the stack of a thread that keeps moving between CPUs. */
#define TRIES		10

/* The kernel's part of a stack. @json: an array where lines are added; NULL: they are printed. */
static void show_kernel(struct kc_threads *t, pid_t pid, pid_t tid, json_t *json)
{
	char path[96], line[256];
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/stack", pid, tid);
	file = fopen(path, "re");
	while (file && fgets(line, sizeof(line), file)) {
		const char *text = line + (strncmp(line, "[<0>] ", 6) ? 0 : 6);

		line[strcspn(line, "\n")] = '\0';
		if (json)
			json_array_append_new(json, kc_json_text(text));
		else
			printf("    [kernel]  %s\n", text);
	}
	/* The file of another user's process cannot be opened, and one's own not be read. */
	if ((!file || ferror(file)) && (errno == EACCES || errno == EPERM))
		t->kernel_refused = true;
	if (file)
		fclose(file);
}

static void show_thread(struct kc_threads *t, pid_t pid, pid_t tid, struct kc_maps *maps, json_t *threads)
{
	uint32_t stop = kunwind_backtrace_stop(t->bt);
	bool on_cpu = kunwind_backtrace_state(t->bt) == KUNWIND_THREAD_ON_CPU;
	char name[64];
	json_t *json, *kernel;

	kc_proc_line(pid, tid, "comm", name, sizeof(name));
	t->shown++;
	if (threads) {
		json = json_object();
		json_object_set_new(json, "tid", json_integer(tid));
		json_object_set_new(json, "name", kc_json_text(name));
		json_object_set_new(json, "running", json_boolean(on_cpu));
		if (t->kernel) {
			kernel = json_array();
			show_kernel(t, pid, tid, kernel);
			json_object_set_new(json, "kernel", kernel);
		}
		json_object_set_new(json, "frames", kc_frames_json(t->bt, maps));
		json_object_set_new(json, "proven",
				    json_integer(kunwind_backtrace_proven(t->bt)));
		json_object_set_new(json, "stop", json_string(kunwind_stop_name(stop)));
		json_array_append_new(threads, json);
		return;
	}
	printf("  thread %d ", tid);
	kc_put(name);
	puts(on_cpu ? ", running" : "");
	if (t->kernel)
		show_kernel(t, pid, tid, NULL);
	kc_frames_print(t->bt, maps);
	if (stop != KUNWIND_STOP_COMPLETE)
		printf("    not complete: %s: %s\n", kunwind_stop_name(stop),
		       kunwind_stop_text(stop));
}

/* Whether @pid sees other files than this process at the same paths. */
static bool is_elsewhere(pid_t pid)
{
	struct stat own, other;
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/ns/mnt", pid);
	return !stat(path, &other) && !stat("/proc/self/ns/mnt", &own) &&
	       (own.st_ino != other.st_ino || own.st_dev != other.st_dev);
}

/* The header of a process, before its first thread. Return: its threads in JSON, or NULL. */
static json_t *begin_process(struct kc_threads *t, pid_t pid)
{
	json_t *json, *threads;
	char name[64];

	kc_proc_line(pid, pid, "comm", name, sizeof(name));
	if (!t->processes) {
		printf("process %d ", pid);
		kc_put(name);
		putchar('\n');
		return NULL;
	}
	json = json_object();
	threads = json_array();
	json_object_set_new(json, "pid", json_integer(pid));
	json_object_set_new(json, "name", kc_json_text(name));
	json_object_set_new(json, "threads", threads);
	json_array_append_new(t->processes, json);
	return threads;
}

/* Take and show a thread. Return: 0; a negative errno. */
static int take_thread(struct kc_threads *t, pid_t pid, int pidfd, pid_t tid, struct kc_maps *maps,
		       bool *begun, json_t **threads)
{
	int ret, tries = TRIES;

	do {
		ret = kunwind_backtrace_thread(t->handle, pidfd, tid, t->bt);
	} while (ret == -EAGAIN && --tries);
	if (ret < 0)
		return ret;
	if (!*begun)
		*threads = begin_process(t, pid);
	*begun = true;
	show_thread(t, pid, tid, maps, *threads);
	return 0;
}

/* Return: why files of a process cannot be read, as a negative errno. */
static int failure(int err)
{
	/* A process that has ended has no files, or cannot be read. */
	return err == ENOENT ? -ESRCH : err == EACCES ? -EPERM : -err;
}

int kc_threads_show(struct kc_threads *t, pid_t pid, pid_t only)
{
	struct kr_modules *modules = t->modules;
	int pidfd = syscall(SYS_pidfd_open, pid, 0), ret = -ESRCH, each;
	struct kc_maps *maps;
	json_t *threads = NULL;
	char path[64], root[64] = "";
	struct dirent *entry;
	bool begun = false;
	DIR *dir;

	if (pidfd < 0)
		return -errno;
	if (is_elsewhere(pid)) {
		snprintf(root, sizeof(root), "/proc/%d/root", pid);
		modules = kr_modules_new(root, false, -1, t->notes);
	}
	snprintf(path, sizeof(path), "/proc/%d/task", pid);
	maps = kc_maps_new(pid, root, modules);
	dir = maps ? opendir(path) : NULL;
	if (!dir)
		ret = failure(errno);
	while (maps && dir && (entry = readdir(dir))) {
		pid_t tid = atoi(entry->d_name);

		if (tid <= 0 || (only && tid != only))
			continue;
		each = take_thread(t, pid, pidfd, tid, maps, &begun, &threads);
		/* A thread that has ended meanwhile is no failure. */
		if (!each || each == -ESRCH)
			continue;
		ret = each;
		if (each != -EAGAIN)
			break;
		kc_error(NULL, "thread %d keeps moving between CPUs, or starts a program: its stack is missing", tid);
		t->failed = true;
	}
	if (dir)
		closedir(dir);
	kc_maps_free(maps);
	if (modules != t->modules)
		kr_modules_free(modules);
	close(pidfd);
	if (!begun)
		return ret;
	if (ret != -ESRCH && ret != -EAGAIN) {
		kc_error(NULL, "process %d: stacks of threads are missing: %s", pid, strerror(-ret));
		t->failed = true;
	}
	return 0;
}
