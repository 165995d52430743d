// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* 6.7: the kernel allocates shrinkers, and a module registers one when it is ready. */
#include <linux/mm.h>
#include <linux/shrinker.h>

static __maybe_unused struct shrinker *probe(void)
{
	return shrinker_alloc(0, "probe");
}
