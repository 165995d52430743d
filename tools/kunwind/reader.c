// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* Starting the reader, and answering it. */
#include <errno.h>
#include <fcntl.h>
#include <glib.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>
#include "command.h"
#include "keeper.h"
#include "parent.h"
#include "reader.h"
#include "reader_budgets.h"
#include "sandbox.h"
#include "speed.h"

static volatile sig_atomic_t running;

void kc_reader_interrupt(void)
{
	if (running)
		kill(running, KC_READER_SIGNAL);
}

/* babeltrace2 keeps each stream open: a machine of 500 CPUs has 1,500. */
static void raise_descriptors(void)
{
	struct rlimit most;

	if (getrlimit(RLIMIT_NOFILE, &most))
		return;
	most.rlim_cur = most.rlim_max;
	(void)setrlimit(RLIMIT_NOFILE, &most);
}

static uint64_t metadata_seconds(const struct kc_reader *reader)
{
	return kr_slowness() * (KR_METADATA_S + reader->metadata / KR_METADATA_BYTES_PER_S);
}

static uint64_t all_seconds(const struct kc_reader *reader)
{
	return metadata_seconds(reader) + kr_slowness() * KR_READER_S +
	       reader->bytes / KR_READER_BYTES_PER_S;
}

/* What comes at the hard limit of time is no SIGXCPU, so that limit is behind the other. */
static void limit(const struct kc_reader *reader, uint64_t seconds)
{
	const uint64_t bytes = (KR_READER_BYTES + KR_READER_PER_BYTE * reader->bytes) /
			       (reader->tries ? KR_TRIES_SHARE : 1);
	const struct kr_limits now = { bytes, seconds };
	const struct kr_limits ever = { bytes, all_seconds(reader) + 1 };

	kr_sandbox_limit(&now, &ever);
}

void kc_reader_begin_streams(const struct kc_reader *reader)
{
	limit(reader, all_seconds(reader));
}

static void set_signals(void)
{
	static const int of_terminals[] = { SIGHUP, SIGINT, SIGTERM };
	size_t i;

	for (i = 0; i < G_N_ELEMENTS(of_terminals); i++)
		signal(of_terminals[i], SIG_IGN);
}

/* What else is open, such as what the recorder has, is not for the reader. */
static void close_others(const struct kc_reader *reader)
{
	unsigned int from = STDERR_FILENO + 1, next;
	int nothing = open("/dev/null", O_RDONLY | O_CLOEXEC);
	size_t i;

	(void)dup2(nothing, STDIN_FILENO);
	do {
		next = ~0U;
		for (i = 0; i < KC_READER_KEEPS; i++)
			if (reader->keeps[i] >= (int)from)
				next = MIN(next, (unsigned int)reader->keeps[i]);
		if (reader->parent_socket >= (int)from)
			next = MIN(next, (unsigned int)reader->parent_socket);
		if (next > from)
			(void)close_range(from, next == ~0U ? next : next - 1, 0);
		from = next + 1;
	} while (next != ~0U);
}

/* Return: whether this process has nothing left that a trace could take. */
static bool enclose(const struct kc_reader *reader, pid_t parent)
{
	/* The end of the parent is told by a signal that root's change of the user keeps. */
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		return false;
	set_signals();
	raise_descriptors();
	close_others(reader);
	/* It reads a file, and does so once. */
	tzset();
	limit(reader, metadata_seconds(reader));
	return kr_sandbox_enter(reader->readable);
}

static void run(const struct kc_reader *reader, pid_t parent,
		int (*work)(const struct kc_reader *reader, void *data), void *data)
{
	int status = KC_FAILED;

	if (enclose(reader, parent))
		status = work(reader, data);
	else
		kc_error(NULL, "the reader of traces cannot give up its privileges");
	/* What else is at the end of a program is the parent's to do. */
	_exit(fflush(stdout) && !status ? KC_FAILED : status);
}

/* Answer it until it ends, or is to end. Return: as waitpid() says it. */
static int serve(const struct kc_reader *reader, pid_t pid, int socket, struct kr_keeper *keeper)
{
	int status = -1;

	while (kr_parent_serve(socket, keeper, reader->sysroot) && (!reader->stop || !*reader->stop))
		;
	/* Without answers, it comes to the end of its stack, where it sees that it is to end. */
	close(socket);
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	return status;
}

int kc_reader_run(struct kc_reader *reader,
		  int (*work)(const struct kc_reader *reader, void *data), void *data)
{
	pid_t pid, parent = getpid();
	struct kr_keeper *keeper;
	int ends[2], status;

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends))
		return -1;
	fflush(stdout);
	(void)kr_slowness();
	reader->parent_socket = ends[1];
	pid = fork();
	if (!pid)
		run(reader, parent, work, data);
	close(ends[1]);
	if (pid < 0) {
		close(ends[0]);
		return -1;
	}
	running = pid;
	keeper = kr_keeper_new(reader->sysroot, reader->sysroot, reader->stop);
	status = serve(reader, pid, ends[0], keeper);
	running = 0;
	kr_keeper_free(keeper);
	return status;
}

void kc_reader_say_died(const char *what, int number)
{
	if (number == SIGXCPU)
		kc_error(NULL, "reading %s took too long", what);
	else
		kc_error(NULL, "reading %s took too much memory, or failed badly (%s)", what,
			 strsignal(number));
}
