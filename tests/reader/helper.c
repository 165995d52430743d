// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* A child of the command that may wait for ever: what it keeps, and what is left of it. */
#include <dirent.h>
#include <errno.h>
#include <glib.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>
#include "helper.h"
#include "tap.h"

/* Long for a process that has nothing to wait for. */
#define PATIENCE_MS	10000
#define ROUNDS		20

static bool leads_nowhere(int fd)
{
	char path[PATH_MAX] = "", link[64];

	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	return readlink(link, path, sizeof(path) - 1) > 0 && !strcmp(path, "/dev/null");
}

/* In the child: how many descriptors it has that lead somewhere, but @to. */
static int count_open(const void *data, int to)
{
	DIR *dir = opendir("/proc/self/fd");
	struct dirent *entry;
	uint8_t count = 0;
	int fd;

	(void)data;
	while (dir && (entry = readdir(dir))) {
		fd = atoi(entry->d_name);
		/* AddressSanitizer tells on standard error what it found. */
#ifdef __SANITIZE_ADDRESS__
		if (fd == STDERR_FILENO)
			continue;
#endif
		if (entry->d_name[0] != '.' && fd != to && fd != dirfd(dir) && !leads_nowhere(fd))
			count++;
	}
	return write(to, &count, 1) == 1 ? 7 : 1;
}

static int wait_for_ever(const void *data, int to)
{
	(void)data;
	(void)to;
	while (pause())
		;
	return 1;
}

static int talk_for_ever(const void *data, int to)
{
	static const char text[4096];
	pid_t pid = getpid();

	(void)data;
	(void)!write(to, &pid, sizeof(pid));
	while (write(to, text, sizeof(text)) > 0)
		;
	return 1;
}

/* Return: this process's children, those that have ended and were not waited for included. */
static unsigned int count_children(void)
{
	char path[64], *text = NULL;
	unsigned int count = 0;
	char *at;

	snprintf(path, sizeof(path), "/proc/self/task/%d/children", getpid());
	if (!g_file_get_contents(path, &text, NULL, NULL))
		tap_bail("%s: it cannot be read", path);
	for (at = text; (at = strchr(at, ' ')); at++)
		count++;
	g_free(text);
	return count;
}

static void test_open(void)
{
	GByteArray *said = g_byte_array_new();
	struct kc_helper helper;
	int ends[2], status;

	if (pipe(ends) || kc_helper_start(&helper, 0, count_open, NULL))
		tap_bail("cannot start: %s", strerror(errno));
	status = kc_helper_end(&helper, said, PATIENCE_MS);
	tap_ok(status == 7, "it ends with its own status");
	tap_ok(said->len == 1 && !said->data[0], "it has nothing of its parent but a pipe");
	close(ends[0]);
	close(ends[1]);
	g_byte_array_unref(said);
}

static void test_left(void)
{
	GByteArray *said = g_byte_array_new();
	unsigned int i, bad = 0;
	struct kc_helper helper;

	for (i = 0; i < ROUNDS; i++) {
		if (kc_helper_start(&helper, 0, wait_for_ever, NULL))
			tap_bail("cannot start: %s", strerror(errno));
		bad += kc_helper_end(&helper, said, 1) != -1;
	}
	tap_ok(!bad, "what does not come in time is given up");
	/* Their ends may take a moment. Each start looks at all. */
	for (i = 0; count_children() && i < PATIENCE_MS; i++) {
		usleep(1000);
		if (kc_helper_start(&helper, 0, count_open, NULL))
			tap_bail("cannot start: %s", strerror(errno));
		kc_helper_end(&helper, said, PATIENCE_MS);
	}
	tap_ok(!count_children(), "no process is left of them");
	g_byte_array_unref(said);
}

/* Return: a process that traces @pid; 0 if that is not allowed. */
static pid_t trace(pid_t pid)
{
	int ends[2];
	char done = 0;
	pid_t tracer;

	if (pipe(ends))
		tap_bail("pipe: %s", strerror(errno));
	tracer = fork();
	if (!tracer) {
		done = !ptrace(PTRACE_SEIZE, pid, NULL, NULL);
		(void)!write(ends[1], &done, 1);
		while (done && pause())
			;
		_exit(1);
	}
	close(ends[1]);
	(void)!read(ends[0], &done, 1);
	close(ends[0]);
	if (!done && tracer > 0)
		waitpid(tracer, NULL, 0);
	return done ? tracer : 0;
}

/* Until its tracer has seen it, a killed process has not ended, as one that a server holds. */
static void test_waited_for(void)
{
	const char *name = "there is no second one about a process as long as the first is there";
	GByteArray *said = g_byte_array_new();
	struct kc_helper helper, other;
	pid_t tracer;

	if (kc_helper_start(&helper, 1, wait_for_ever, NULL))
		tap_bail("cannot start: %s", strerror(errno));
	tracer = trace(helper.pid);
	kc_helper_end(&helper, said, 1);
	if (tracer) {
		usleep(10000);
		tap_ok(kc_helper_start(&other, 1, count_open, NULL) == -EBUSY, "%s", name);
		kill(tracer, SIGKILL);
		waitpid(tracer, NULL, 0);
	} else {
		tap_skip(name, "no process may trace another one here");
	}
	/* Its end may take a moment: until then it is there. */
	while (kc_helper_start(&other, 1, count_open, NULL) == -EBUSY)
		;
	tap_ok(kc_helper_end(&other, said, PATIENCE_MS) == 7,
	       "when an earlier one has ended there is a new one about the same process");
	g_byte_array_unref(said);
}

/* Its parent is killed while it has more to say than a pipe takes. */
static void test_orphan(void)
{
	struct pollfd ready = { .events = POLLIN };
	struct kc_helper helper;
	int ends[2];
	unsigned int waited_ms = 0;
	pid_t parent, child = 0;
	char end;

	/* The child is this process's when its parent has gone. */
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	if (pipe(ends))
		tap_bail("pipe: %s", strerror(errno));
	parent = fork();
	if (!parent) {
		if (!kc_helper_start(&helper, 0, talk_for_ever, NULL) &&
		    read(helper.from, &child, sizeof(child)) == sizeof(child) &&
		    write(ends[1], &child, sizeof(child)) == sizeof(child))
			for (;;)
				pause();
		_exit(1);
	}
	close(ends[1]);
	ready.fd = ends[0];
	if (parent < 0 || read(ends[0], &child, sizeof(child)) != sizeof(child))
		tap_bail("no helper: %s", strerror(errno));
	kill(parent, SIGKILL);
	waitpid(parent, NULL, 0);
	tap_ok(poll(&ready, 1, PATIENCE_MS) == 1 && !read(ends[0], &end, 1),
	       "it does not keep what its parent had open");
	while (!waitpid(child, NULL, WNOHANG) && waited_ms++ < PATIENCE_MS)
		usleep(1000);
	tap_ok(waitpid(child, NULL, WNOHANG) < 0, "it ends with its parent if it has more to say");
	close(ends[0]);
}

int main(void)
{
	test_open();
	test_left();
	test_waited_for();
	test_orphan();
	return tap_done();
}
