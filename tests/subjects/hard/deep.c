// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * 400 and 600 frames are whole; of 2,000 the innermost 1,024 come, and the reason
 * says that there are more.
 *
 * stack: @ask bottom fold*400 main ... _start
 * stop: COMPLETE, all proven
 * stack: @ask bottom fold*600 main ... _start
 * stop: COMPLETE, all proven
 * stack: @ask bottom fold*1022
 * stop: MAX_FRAMES, all proven
 */
#include "hard.h"

FRAME static void bottom(void)
{
	ask();
	STAY();
}

FRAME static void fold(int layers)
{
	if (layers > 1)
		fold(layers - 1);
	else
		bottom();
	STAY();
}

int main(void)
{
	begin();
	fold(400);
	fold(600);
	fold(2000);
	report();
	return 0;
}
