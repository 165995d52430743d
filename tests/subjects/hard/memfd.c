// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * A program that runs from a memfd: a file without a name.
 *
 * stack: @ask work main ... _start
 * stop: COMPLETE, all proven
 */
#include <sys/sendfile.h>
#include "hard.h"

FRAME static void work(void)
{
	ask();
	STAY();
}

int main(int argc, char **argv)
{
	char *again[] = { argv[0], "again", NULL };
	int self, memory;

	if (argc == 1) {
		self = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
		memory = memfd_create("program", MFD_CLOEXEC);
		while (sendfile(memory, self, NULL, 1 << 20) > 0)
			;
		fexecve(memory, again, environ);
		err(1, "fexecve");
	}
	begin();
	work();
	report();
	return 0;
}
