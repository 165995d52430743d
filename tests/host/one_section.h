/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* For tests that compile one made-up .eh_frame at a time. */
#ifndef HOST_ONE_SECTION_H
#define HOST_ONE_SECTION_H

#include "synth.h"

static struct host_table table;
static struct buf eh;
static const struct cie_spec usual;

/* The teardown of each test. */
static int drop(void **state)
{
	(void)state;
	host_table_free(&table);
	buf_free(&eh);
	return 0;
}

#endif /* HOST_ONE_SECTION_H */
