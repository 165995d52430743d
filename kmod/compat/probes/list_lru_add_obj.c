// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* 6.8: list_lru_add() wants a node and a cgroup; list_lru_add_obj() finds them. */
#include <linux/list_lru.h>

static __maybe_unused bool probe(struct list_lru *lru, struct list_head *item)
{
	return list_lru_add_obj(lru, item);
}
