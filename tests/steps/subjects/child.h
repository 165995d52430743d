/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* A child that shares its parent's stack until it ends. */
#ifndef SUBJECTS_CHILD_H
#define SUBJECTS_CHILD_H

#include <sys/wait.h>
#include <unistd.h>

static __attribute__((noinline)) int child(void)
{
	int status = 0;
	pid_t pid = vfork();

	if (!pid)
		_exit(3);
	waitpid(pid, &status, 0);
	return WEXITSTATUS(status);
}

#endif /* SUBJECTS_CHILD_H */
