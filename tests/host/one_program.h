/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* For tests that walk one made-up program at a time. */
#ifndef HOST_ONE_PROGRAM_H
#define HOST_ONE_PROGRAM_H

#include "made_program.h"

static struct synth *s;

/* Also the teardown of each test. */
static int drop(void **state)
{
	(void)state;
	if (s)
		synth_free(s);
	s = NULL;
	kuw_port_elsewhere = NULL;
	return 0;
}

static void begin(enum program_function f)
{
	drop(NULL);
	s = program_new(f);
}

#endif /* HOST_ONE_PROGRAM_H */
