// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * The program's text with a page in its middle that has other rights: three
 * mappings of one segment, of which the last begins in the middle of the file.
 *
 * stack: @ask early late main ... _start
 * stop: COMPLETE, all proven
 * stack: @ask early late main ... _start
 * stop: COMPLETE, all proven
 */
#include "hard.h"

FRAME __attribute__((section(".text.1"), aligned(4096))) static void early(void)
{
	ask();
	STAY();
}

FRAME __attribute__((section(".text.2"), aligned(4096))) static void middle(void)
{
	STAY();
}

FRAME __attribute__((section(".text.3"), aligned(4096))) static void late(void)
{
	early();
	STAY();
}

int main(void)
{
	begin();
	middle();
	if (mprotect(middle, 4096, PROT_READ))
		err(1, "mprotect");
	late();
	if (mprotect(middle, 4096, PROT_READ | PROT_WRITE | PROT_EXEC))
		err(1, "mprotect");
	late();
	report();
	return 0;
}
