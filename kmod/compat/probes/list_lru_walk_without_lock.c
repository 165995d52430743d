// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* 6.13: the callback of a walk is no longer given the list's lock. */
#include <linux/list_lru.h>

enum lru_status probe(struct list_head *item, struct list_lru_one *list, void *data);
static list_lru_walk_cb callback __maybe_unused = probe;
