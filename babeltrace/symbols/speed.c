// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* How fast this machine is: see speed.h. */
#include <glib.h>
#include <time.h>
#include "reader_budgets.h"
#include "speed.h"

static uint64_t cpu_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

uint64_t kr_slowness(void)
{
	static uint64_t times;
	uint64_t begin = cpu_ns();
	GHashTable *strings;
	unsigned int i;

	if (times)
		return times;
	strings = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
	for (i = 0; i < KR_SPEED_STRINGS; i++)
		g_hash_table_add(strings, g_strdup_printf("%u", i));
	g_hash_table_destroy(strings);
	times = 1 + (cpu_ns() - begin) / KR_SPEED_NS;
	return times;
}
