/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* Lists of what can be reclaimed, as 6.13 and later have them. */
#ifndef KW_COMPAT_LIST_LRU_H
#define KW_COMPAT_LIST_LRU_H

#include <linux/list_lru.h>
#include "found.h"

/* Before 6.8, these find the node and the cgroup of an object themselves. */
#ifndef KW_HAVE_list_lru_add_obj
#define list_lru_add_obj	list_lru_add
#define list_lru_del_obj	list_lru_del
#endif

/* Before 6.13, a callback has one argument more. */
#ifndef KW_HAVE_list_lru_walk_without_lock
struct kw_lru_walk {
	enum lru_status (*isolate)(struct list_head *item, struct list_lru_one *list,
				   void *data);
	void *data;
};

static enum lru_status kw_lru_isolate(struct list_head *item, struct list_lru_one *list,
				      spinlock_t *lock, void *data)
{
	const struct kw_lru_walk *walk = data;

	return walk->isolate(item, list, walk->data);
}

#define list_lru_shrink_walk(lru, sc, callback, argument)			\
({										\
	struct kw_lru_walk kw_walk = { .isolate = (callback), .data = (argument) }; \
										\
	list_lru_shrink_walk((lru), (sc), kw_lru_isolate, &kw_walk);		\
})
#endif

#endif /* KW_COMPAT_LIST_LRU_H */
