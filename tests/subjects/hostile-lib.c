// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* The library that hostile.c damages: it calls back, and one frame is its own. */
int call_back(void (*f)(void *), void *arg);

int call_back(void (*f)(void *), void *arg)
{
	volatile char frame[40];

	frame[0] = 1;
	f(arg);
	return frame[0];
}
