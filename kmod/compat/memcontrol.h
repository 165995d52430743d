/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* Memory cgroups. */
#ifndef KW_COMPAT_MEMCONTROL_H
#define KW_COMPAT_MEMCONTROL_H

#include <linux/memcontrol.h>
#include "found.h"

/* Before 6.4, only the css has it. Without cgroups there is nothing to hold. */
#ifndef KW_HAVE_mem_cgroup_tryget
static inline bool mem_cgroup_tryget(struct mem_cgroup *memcg)
{
#ifdef CONFIG_MEMCG
	return !memcg || css_tryget(&memcg->css);
#else
	return true;
#endif
}
#endif

#endif /* KW_COMPAT_MEMCONTROL_H */
