// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * Spares: spaces that are made ahead of time. A hook must not sleep and cannot
 * allocate, but a new process needs a space at once, as its first event can have a stack.
 * Each fork and each execve() takes a spare. When few are left, a task that is about to
 * return to user mode makes new ones (work.c).
 */
#include <linux/cpumask.h>
#include <linux/list.h>
#include <linux/spinlock.h>
#include "space.h"
#include "stats.h"

/* Forks and execve() calls at the same time; seen: two for each CPU. */
#define SPARES	(32 + 4 * num_online_cpus())

static DEFINE_RAW_SPINLOCK(spares_lock);
static HLIST_HEAD(spares);
static unsigned int nr_spares;

/*
 * Context: process context; preemption may be off.
 * Return: a space without an mm; NULL if there is none left.
 */
struct kw_space *kw_spare_take(void)
{
	struct kw_space *space;

	raw_spin_lock(&spares_lock);
	space = hlist_entry_safe(spares.first, struct kw_space, node);
	if (space) {
		hlist_del_init(&space->node);
		WRITE_ONCE(nr_spares, nr_spares - 1);
	}
	raw_spin_unlock(&spares_lock);
	if (!space)
		kw_count(spaces_missed);
	return space;
}

bool kw_spares_are_low(void)
{
	return READ_ONCE(nr_spares) < SPARES * 3 / 4;
}

/*
 * Make spares until there are enough, but not as many again as other tasks take meanwhile.
 * Context: process context, sleeps.
 */
void kw_spares_fill(void)
{
	unsigned int most = SPARES;
	struct kw_space *space;

	while (most-- && READ_ONCE(nr_spares) < SPARES) {
		space = kw_space_alloc();
		if (!space)
			return;
		raw_spin_lock(&spares_lock);
		hlist_add_head(&space->node, &spares);
		WRITE_ONCE(nr_spares, nr_spares + 1);
		raw_spin_unlock(&spares_lock);
	}
}

void kw_spares_free(void)
{
	struct hlist_node *next;
	struct kw_space *space;
	HLIST_HEAD(all);

	raw_spin_lock(&spares_lock);
	hlist_move_list(&spares, &all);
	WRITE_ONCE(nr_spares, 0);
	raw_spin_unlock(&spares_lock);
	hlist_for_each_entry_safe(space, next, &all, node)
		kw_space_put(space);
}
