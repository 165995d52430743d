// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * A program that removes its own file before anybody looks at it: what is mapped
 * is still there.
 *
 * stack: @ask work main ... _start
 * stop: COMPLETE, all proven
 */
#include "hard.h"

FRAME static void work(void)
{
	ask();
	STAY();
}

int main(void)
{
	char path[4096];
	ssize_t size = readlink("/proc/self/exe", path, sizeof(path) - 1);

	if (size < 0)
		err(1, "/proc/self/exe");
	path[size] = 0;
	if (unlink(path))
		err(1, "%s", path);
	begin();
	work();
	report();
	return 0;
}
