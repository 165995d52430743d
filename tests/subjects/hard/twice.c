// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * One file mapped at three places at once: its own text is mapped twice more, and
 * called there. Each place has the same table, and a bias of its own.
 *
 * stack: @ask here call main ... _start
 * stop: COMPLETE, all proven
 * stack: @ask here call call call main ... _start
 * stop: COMPLETE, all proven
 */
#include "hard.h"

typedef void callee(void **what);

FRAME static void here(void **what)
{
	(void)what;
	ask();
	STAY();
}

/* Position-independent: it calls only what it is given, the next one with the rest. */
FRAME static void call(void **what)
{
	((callee *)*what)(what + 1);
	STAY();
}

/* Where the executable segment of this program, which has @address, is mapped again. */
static char *again(const void *address)
{
	unsigned long start, end, off;
	char line[4096], *at = NULL;
	FILE *maps = fopen("/proc/self/maps", "re");
	int self = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);

	while (maps && fgets(line, sizeof(line), maps)) {
		if (sscanf(line, "%lx-%lx %*s %lx", &start, &end, &off) != 3 ||
		    (unsigned long)address - start >= end - start)
			continue;
		at = mmap(NULL, end - start, PROT_READ | PROT_EXEC, MAP_PRIVATE,
			  self, off);
		if (at == MAP_FAILED)
			err(1, "mmap");
		at += (unsigned long)address - start;
		break;
	}
	fclose(maps);
	close(self);
	return at;
}

int main(void)
{
	void *once[] = { here }, *thrice[] = { NULL, NULL, here };

	begin();
	thrice[0] = again(call);
	thrice[1] = again(call);
	call(once);
	call(thrice);
	report();
	return 0;
}
