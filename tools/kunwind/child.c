// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* The process that becomes the command that is recorded. See child.h. */
#include <errno.h>
#include <glib.h>
#include <inttypes.h>
#include <linux/sched.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include "child.h"
#include "command.h"
#include "proc.h"

#define LAUNCHER	"kunwind-launch"

/*
 * It waits stopped. So execve() is the first system call that it makes when it goes on,
 * and the trace has no other one of its own.
 */
static void become(const struct kc_child *child, pid_t parent)
{
	sigprocmask(SIG_SETMASK, child->signals, NULL);
	prctl(PR_SET_NAME, LAUNCHER);
	/* Without a parent there is nothing to do. To a command, SIGCONT says nothing. */
	prctl(PR_SET_PDEATHSIG, SIGCONT);
	if (child->gives_way)
		dup2(STDERR_FILENO, STDOUT_FILENO);
	kc_control_pass(child->control);
	while (!*child->go) {
		if (getppid() != parent)
			_exit(KC_FAILED);
		kill(getpid(), SIGSTOP);
	}
	execv(child->path, child->command);
	fprintf(stderr, "kunwind: %s: %s\n", child->command[0], strerror(errno));
	_exit(errno == ENOENT ? 127 : 126);
}

/* As fork(), into new namespaces if that is allowed, and the kernel has them. */
static pid_t fork_apart(void)
{
	struct clone_args both = {
		.flags = CLONE_NEWUTS | CLONE_NEWTIME, .exit_signal = SIGCHLD,
	};
	long pid = syscall(SYS_clone3, &both, sizeof(both));

	if (pid < 0)
		pid = syscall(SYS_clone, CLONE_NEWUTS | SIGCHLD, NULL, NULL, NULL, NULL);
	return pid < 0 ? fork() : (pid_t)pid;
}

bool kc_child_fork(struct kc_child *child)
{
	pid_t parent = getpid();
	int status;

	child->go = mmap(NULL, sizeof(*child->go), PROT_READ | PROT_WRITE,
			 MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (child->go == MAP_FAILED) {
		kc_error(NULL, "mmap: %s", strerror(errno));
		return false;
	}
	child->pid = fork_apart();
	if (!child->pid)
		become(child, parent);
	if (child->pid > 0 && waitpid(child->pid, &status, WUNTRACED) == child->pid &&
	    WIFSTOPPED(status))
		return true;
	kc_error(NULL, "fork: %s", strerror(errno));
	return false;
}

void kc_child_let_go(const struct kc_child *child)
{
	*child->go = true;
	kill(child->pid, SIGCONT);
}

char *kc_child_filter(const struct kc_child *child)
{
	static const char *const kinds[] = { "uts", "time" };
	char *process = g_strdup_printf("%d", (int)child->pid);
	GString *filter = g_string_new(NULL);
	size_t i;

	for (i = 0; i < G_N_ELEMENTS(kinds); i++) {
		uint64_t number = kc_proc_namespace(process, kinds[i]);

		if (number && number != kc_proc_namespace("self", kinds[i]))
			g_string_append_printf(filter, "%s$ctx.%s_ns == %" PRIu64,
					       filter->len ? " || " : "", kinds[i], number);
	}
	g_free(process);
	return g_string_free(filter, !filter->len);
}
