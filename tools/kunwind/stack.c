// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * kunwind stack: the stacks of threads that run, without stopping them. Without an argument
 * it prints its own, which shows whether module, device, library and symbols work.
 */
#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <libkunwind.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "command.h"
#include "frames.h"
#include "module.h"
#include "notes.h"

/* As many as the module gives for another thread. */
#define CAPACITY	KUNWIND_MAX_FRAMES
/* How often to ask for the stack of a thread that keeps moving between CPUs. */
#define TRIES		10

struct options {
	bool all;
	bool json;
	bool kernel;
	bool watch;
	unsigned int interval;
	const char *name;
	/* PIDs and TIDs, as the user gave them. */
	char **ids;
	size_t nr_ids;
};

/*
 * One round. Made and used by kc_stack(): what it needs, and what it has found.
 * @shown: threads whose stack was shown
 * @refused: processes that this user may not trace
 * @failed: something that was asked for by its number is not there
 */
struct round {
	const struct options *options;
	struct kunwind_handle *handle;
	struct kunwind_bt *bt;
	struct kr_notes *notes;
	/* Of the processes that see the same files as this one. */
	struct kr_modules *modules;
	json_t *processes;
	size_t shown;
	size_t refused;
	bool failed;
};

/* Return: the PID or TID that @text is; 0 if it is none. */
static pid_t number_of(const char *text)
{
	char *end;
	long number = strtol(text, &end, 10);

	return *text >= '0' && *text <= '9' && !*end && number <= INT_MAX ? number : 0;
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct options *o = state->input;
	char *end;
	long seconds;

	switch (key) {
	case 'a':
		o->all = true;
		return 0;
	case 'j':
		o->json = true;
		return 0;
	case 'k':
		o->kernel = true;
		return 0;
	case 'n':
		o->name = arg;
		return 0;
	case 'w':
		o->watch = true;
		if (!arg)
			return 0;
		seconds = strtol(arg, &end, 10);
		if (*end || seconds < 1 || seconds > 86400)
			argp_error(state, "--watch takes seconds, 1 to 86400: %s", arg);
		o->interval = seconds;
		return 0;
	case ARGP_KEY_ARG:
		if (!number_of(arg))
			argp_error(state, "'%s' is no PID or TID; -n takes names", arg);
		o->ids = &state->argv[state->next - 1];
		o->nr_ids = state->argc - state->next + 1;
		for (size_t i = 1; i < o->nr_ids; i++)
			if (!number_of(o->ids[i]))
				argp_error(state, "'%s' is no PID or TID", o->ids[i]);
		state->next = state->argc;
		return 0;
	}
	return ARGP_ERR_UNKNOWN;
}

static const struct argp_option takes[] = {
	{ "all", 'a', NULL, 0, "Show all processes that you may trace", 0 },
	{ "name", 'n', "NAME", 0, "Show the processes of that name", 0 },
	{ "kernel", 'k', NULL, 0, "Show the kernel's part of the stack, too; needs root", 0 },
	{ "watch", 'w', "SECONDS", OPTION_ARG_OPTIONAL,
	  "Show the stacks again and again, every 2 seconds", 0 },
	{ "json", 'j', NULL, 0, "Print JSON", 0 },
	{ 0 },
};

static const struct argp argp = {
	.options = takes,
	.parser = parse,
	.args_doc = "[PID|TID...]",
	.doc = "Print the user call stacks of threads, with names. The threads are not stopped, "
	       "and notice nothing. A PID stands for all threads of the process. Without an "
	       "argument, print the stack of this command itself, to see whether kunwind works."
	       "\vYou may see the processes that you may trace (ptrace(2)). The exit status is 0 "
	       "if everything that was asked for was shown.",
};

/* The first line of /proc/PID/task/TID/WHAT. Return: @text; "" if it cannot be read. */
static char *read_line(pid_t pid, pid_t tid, const char *what, char *text, size_t size)
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

/* The kernel's part of a stack. @json: an array where lines are added; NULL: they are printed. */
static void show_kernel(pid_t pid, pid_t tid, json_t *json)
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
	if (file)
		fclose(file);
}

static void show_thread(struct round *r, pid_t pid, pid_t tid, struct kc_maps *maps, json_t *threads)
{
	uint32_t stop = kunwind_backtrace_stop(r->bt);
	bool on_cpu = kunwind_backtrace_state(r->bt) == KUNWIND_THREAD_ON_CPU;
	char name[64];
	json_t *json, *kernel;

	read_line(pid, tid, "comm", name, sizeof(name));
	r->shown++;
	if (threads) {
		json = json_object();
		json_object_set_new(json, "tid", json_integer(tid));
		json_object_set_new(json, "name", kc_json_text(name));
		json_object_set_new(json, "running", json_boolean(on_cpu));
		if (r->options->kernel) {
			kernel = json_array();
			show_kernel(pid, tid, kernel);
			json_object_set_new(json, "kernel", kernel);
		}
		json_object_set_new(json, "frames", kc_frames_json(r->bt, maps));
		json_object_set_new(json, "proven",
				    json_integer(kunwind_backtrace_proven(r->bt)));
		json_object_set_new(json, "stop", json_string(kunwind_stop_name(stop)));
		json_array_append_new(threads, json);
		return;
	}
	printf("  thread %d ", tid);
	kc_put(name);
	puts(on_cpu ? ", running" : "");
	if (r->options->kernel)
		show_kernel(pid, tid, NULL);
	kc_frames_print(r->bt, maps);
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
static json_t *begin_process(struct round *r, pid_t pid)
{
	json_t *json, *threads;
	char name[64];

	read_line(pid, pid, "comm", name, sizeof(name));
	if (!r->processes) {
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
	json_array_append_new(r->processes, json);
	return threads;
}

/* Take and show a thread. Return: 0; a negative errno. */
static int take_thread(struct round *r, pid_t pid, int pidfd, pid_t tid, struct kc_maps *maps,
		       bool *begun, json_t **threads)
{
	int ret, tries = TRIES;

	do {
		ret = kunwind_backtrace_thread(r->handle, pidfd, tid, r->bt);
	} while (ret == -EAGAIN && --tries);
	if (ret < 0)
		return ret;
	if (!*begun)
		*threads = begin_process(r, pid);
	*begun = true;
	show_thread(r, pid, tid, maps, *threads);
	return 0;
}

/* Show @only, or all threads if it is 0. Return: 0; a negative errno if there are none. */
static int show_process(struct round *r, pid_t pid, pid_t only)
{
	struct kr_modules *modules = r->modules;
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
		modules = kr_modules_new(root, false, -1, r->notes);
	}
	maps = kc_maps_new(pid, root, modules);
	snprintf(path, sizeof(path), "/proc/%d/task", pid);
	dir = opendir(path);
	if (!maps || !dir)
		ret = errno == EACCES || errno == EPERM ? -EPERM : -ESRCH;
	while (maps && dir && (entry = readdir(dir))) {
		pid_t tid = atoi(entry->d_name);

		if (tid <= 0 || (only && tid != only))
			continue;
		each = take_thread(r, pid, pidfd, tid, maps, &begun, &threads);
		/* A thread that has ended meanwhile is no failure. */
		if (!each || each == -ESRCH)
			continue;
		ret = each;
		if (each != -EAGAIN)
			break;
		kc_error(NULL, "thread %d keeps moving between CPUs, or starts a program: its stack is missing", tid);
		r->failed = true;
	}
	if (dir)
		closedir(dir);
	kc_maps_free(maps);
	if (modules != r->modules)
		kr_modules_free(modules);
	close(pidfd);
	return begun ? 0 : ret;
}

/* Show what the user gave the number of. */
static void show_id(struct round *r, pid_t id)
{
	pid_t pid = process_of(id);
	int ret = pid ? show_process(r, pid, pid == id ? 0 : id) : -ESRCH;

	if (!ret)
		return;
	r->failed = true;
	switch (ret) {
	case -ESRCH:
		kc_error("ps -eL lists processes and threads",
			 "there is no process or thread %d, or it is the kernel's", id);
		break;
	case -EPERM:
	case -EACCES:
		kc_error("sudo kunwind stack shows all processes",
			 "you may not trace process %d", pid);
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

	if (!strcmp(read_line(pid, pid, "comm", text, sizeof(text)), name))
		return true;
	snprintf(path, sizeof(path), "/proc/%d/exe", pid);
	length = readlink(path, text, sizeof(text) - 1);
	if (length <= 0)
		return false;
	text[length] = '\0';
	base = strrchr(text, '/');
	return !strcmp(base ? base + 1 : text, name);
}

/* Show all processes, or those of a name. */
static void show_many(struct round *r)
{
	const char *name = r->options->name;
	struct dirent *entry;
	DIR *dir = opendir("/proc");
	bool found = false;

	while (dir && (entry = readdir(dir))) {
		pid_t pid = atoi(entry->d_name);
		int ret;

		if (pid <= 0 || pid == getpid() || (name && !has_name(pid, name)))
			continue;
		found = true;
		ret = show_process(r, pid, 0);
		if (ret == -EPERM || ret == -EACCES)
			r->refused++;
		else if (ret && ret != -ESRCH)
			kc_error(NULL, "process %d: %s", pid, strerror(-ret));
	}
	if (dir)
		closedir(dir);
	if (name && !found) {
		r->failed = true;
		kc_error("pgrep -l . lists names", "there is no process %s", name);
	}
	if (r->refused)
		kc_error("sudo kunwind stack shows all processes",
			 "%zu processes are not shown: you may not trace them", r->refused);
	if (name && found && !r->shown)
		r->failed = true;
}

/* Without a build ID, their inodes say that these are the files that are mapped. */
static void say_notes(struct kr_notes *notes)
{
	kr_notes_forget(notes, KR_UNCHECKED);
	kr_notes_say(notes, NULL, -1);
}

static int run_round(struct round *r)
{
	int status;
	size_t i;

	kc_maps_begin();
	/* A file may have been written anew since the last round. */
	r->modules = kr_modules_new(NULL, false, -1, r->notes);
	r->shown = 0;
	r->refused = 0;
	r->failed = false;
	r->processes = r->options->json ? json_array() : NULL;
	if (r->options->all || r->options->name)
		show_many(r);
	for (i = 0; i < r->options->nr_ids; i++)
		show_id(r, number_of(r->options->ids[i]));
	status = r->failed ? KC_FAILED : 0;
	if (r->processes)
		status = kc_print_json(r->processes) ?: status;
	kr_modules_free(r->modules);
	say_notes(r->notes);
	return status;
}

/* Ctrl-C ends --watch when the round is shown. */
static volatile sig_atomic_t is_ended;

static void end_soon(int number)
{
	(void)number;
	is_ended = true;
}

static const struct sigaction ending = { .sa_handler = end_soon };

static int show_others(const struct options *options, struct kunwind_handle *handle,
		       struct kunwind_bt *bt)
{
	struct round r = { .options = options, .handle = handle, .bt = bt };
	int status;

	r.notes = kr_notes_new();
	if (options->watch) {
		sigaction(SIGINT, &ending, NULL);
		sigaction(SIGTERM, &ending, NULL);
	}
	status = run_round(&r);
	while (options->watch && !is_ended && !fflush(stdout)) {
		sleep(options->interval);
		if (is_ended)
			break;
		/* Home, and clear: only on a terminal. */
		if (isatty(STDOUT_FILENO) && !options->json)
			fputs("\033[H\033[2J", stdout);
		status = run_round(&r);
	}
	kr_notes_free(r.notes);
	return status;
}

/* Its own stack. */
static int show_own(struct kunwind_handle *handle, struct kunwind_bt *bt, bool as_json)
{
	struct kr_notes *notes = kr_notes_new();
	struct kr_modules *modules = kr_modules_new(NULL, false, -1, notes);
	struct kc_maps *maps = kc_maps_new(getpid(), "", modules);
	int ret = maps ? kunwind_backtrace(handle, bt) : -ENOMEM, status;
	uint32_t stop = kunwind_backtrace_stop(bt);
	json_t *json;

	status = stop == KUNWIND_STOP_COMPLETE ? 0 : KC_FAILED;
	if (ret < 0) {
		kc_error(NULL, "cannot take the stack: %s", strerror(-ret));
	} else if (as_json) {
		json = json_object();
		json_object_set_new(json, "frames", kc_frames_json(bt, maps));
		json_object_set_new(json, "proven",
				    json_integer(kunwind_backtrace_proven(bt)));
		json_object_set_new(json, "stop", json_string(kunwind_stop_name(stop)));
		status = kc_print_json(json) ?: status;
	} else {
		kc_frames_print(bt, maps);
		printf("%" PRIu32 " frames, %" PRIu32 " of them proven; %s: %s\n",
		       kunwind_backtrace_count(bt), kunwind_backtrace_proven(bt),
		       kunwind_stop_name(stop), kunwind_stop_text(stop));
	}
	say_notes(notes);
	kc_maps_free(maps);
	kr_modules_free(modules);
	kr_notes_free(notes);
	return status;
}

int kc_stack(int argc, char **argv)
{
	struct options options = { .interval = 2 };
	struct kunwind_handle *handle;
	struct kunwind_bt *bt;
	int ret, status;

	kc_parse(&argp, argc, argv, 0, &options);
	if (!kc_module_is_loaded())
		return KC_FAILED;
	ret = kunwind_open(&handle);
	if (ret < 0) {
		kc_error("its mode must be 0666: ls -l /dev/kunwind",
			 "/dev/kunwind: %s", strerror(-ret));
		return KC_FAILED;
	}
	bt = kunwind_backtrace_new(CAPACITY);
	if (!bt) {
		kc_error(NULL, "%s", strerror(errno));
		kunwind_close(handle);
		return KC_FAILED;
	}
	if (options.all || options.name || options.nr_ids)
		status = show_others(&options, handle, bt);
	else
		status = show_own(handle, bt, options.json);
	kunwind_backtrace_free(bt);
	kunwind_close(handle);
	return status;
}
