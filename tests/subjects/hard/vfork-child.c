// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * A child of vfork() runs in its parent's memory, on its parent's stack. Around
 * the system call vfork() keeps its return address in a register: the caller of
 * the system call's entry, and of its exit in both processes, is the same.
 *
 * stack: @ask child fork_one main ... _start
 * stop: COMPLETE, all proven
 * entry vfork: ... fork_one main ... _start
 * exit vfork: ... fork_one main ... _start
 * exit vfork: ... fork_one main ... _start
 */
#include <sys/wait.h>
#include "hard.h"

FRAME static void child(void)
{
	ask();
	STAY();
}

FRAME static void fork_one(void)
{
	int status;
	pid_t pid = vfork();

	if (pid == 0) {
		child();
		_exit(0);
	}
	if (pid < 0 || waitpid(pid, &status, 0) != pid || status)
		err(1, "vfork");
}

int main(void)
{
	begin();
	fork_one();
	report();
	return 0;
}
