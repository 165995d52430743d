// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* The symbolizer's process: see child.h. */
#include <glib.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>
#include "child.h"
#include "reader_budgets.h"
#include "sandbox.h"
#include "symbolizer.h"

static void survive(int number)
{
	(void)number;
}

/* Ctrl-C is for the parent, which finishes what it has begun. A second one ends both. */
static void set_signals(void)
{
	static const int ending[] = { SIGHUP, SIGINT, SIGTERM };
	const struct sigaction once = {
		.sa_handler = survive, .sa_flags = SA_RESETHAND | SA_RESTART,
	};
	struct sigaction before;
	sigset_t none;
	size_t i;

	for (i = 1; i < NSIG; i++)
		if (!sigaction((int)i, NULL, &before) && before.sa_handler != SIG_IGN)
			signal((int)i, SIG_DFL);
	for (i = 0; i < G_N_ELEMENTS(ending); i++)
		if (!sigaction(ending[i], NULL, &before) && before.sa_handler != SIG_IGN)
			sigaction(ending[i], &once, NULL);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
}

static void run(int socket, bool of_main_thread)
{
	/* That signal comes when the thread ends: that of others may be before the parent's. */
	if (of_main_thread)
		prctl(PR_SET_PDEATHSIG, SIGKILL);
	set_signals();
	kr_symbolizer_run(kr_sandbox_keep(socket));
}

pid_t kr_child_start(int *socket)
{
	const struct timeval patience = { .tv_sec = KR_MESSAGE_S };
	bool of_main_thread = gettid() == getpid();
	int ends[2];
	pid_t pid;

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends))
		return -1;
	pid = fork();
	if (!pid)
		run(ends[1], of_main_thread);
	close(ends[1]);
	if (pid < 0) {
		close(ends[0]);
		return -1;
	}
	(void)setsockopt(ends[0], SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
	(void)setsockopt(ends[0], SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof(patience));
	*socket = ends[0];
	return pid;
}

/* The host of a plugin may have waited for it: then there is nothing to wait for. */
void kr_child_end(pid_t pid, int socket)
{
	unsigned int waited_ms = 0;

	close(socket);
	if (!waitpid(pid, NULL, WNOHANG))
		kill(pid, SIGKILL);
	/* One that does not end now has nothing but the answer to wait for. */
	while (!waitpid(pid, NULL, WNOHANG) && waited_ms++ < KR_END_MS)
		g_usleep(1000);
}
