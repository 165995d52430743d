/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* The memory budget of tables, and the eviction of idle ones. */
#ifndef KW_BUDGET_H
#define KW_BUDGET_H

#include <linux/spinlock.h>
#include <linux/types.h>

struct kw_identity;
struct kw_owner;
struct kw_table;
struct mem_cgroup;

/* For the whole cache. Nothing is allocated, read or freed under it. */
extern spinlock_t kw_cache_lock;
extern unsigned long kw_table_budget;

/*
 * Each table is charged this in addition to its own bytes. It takes less, but a file
 * without unwind information has no bytes of its own, and a user can map any number of
 * such files. So the hash and the lists have at most as many tables as the budget has
 * pages.
 */
#define KW_HEAD_COST	PAGE_SIZE

struct kw_table *kw_table_alloc(const struct kw_identity *id, struct kw_owner *owner,
				struct mem_cgroup *memcg);
bool kw_table_charge(struct kw_table *t, size_t bytes);
void kw_table_free(struct kw_table *t);
size_t kw_budget_room(const struct kw_owner *owner);
void kw_idle_add(struct kw_table *t);
void kw_idle_del(struct kw_table *t);
bool kw_idle_evict(void);
int kw_budget_init(void);
void kw_budget_exit(void);

#endif /* KW_BUDGET_H */
