// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* 6.4: a reference to a cgroup that may be going, or to none. */
#include <linux/memcontrol.h>

static __maybe_unused bool probe(struct mem_cgroup *memcg)
{
	return mem_cgroup_tryget(memcg);
}
