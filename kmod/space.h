/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* The covered address spaces: a hash from mm to snapshot. */
#ifndef KW_SPACE_H
#define KW_SPACE_H

#include <linux/atomic.h>
#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/rcupdate.h>
#include <linux/refcount.h>
#include <linux/spinlock.h>
#include <linux/types.h>
#include <linux/uidgid.h>

struct kw_snapshot;
struct mm_struct;
struct task_struct;

/* Addresses from @start on, up to but without @end. */
struct kw_range {
	u64 start;
	u64 end;
};

/*
 * Slots for work that a task does before it returns to user mode; see work.c. A thread
 * needs a slot from its mapping event to the end of its system call, so few are in use at
 * once. If none is left, the space stays behind until another thread catches up, for its
 * own event or because a walk asks it to.
 */
#define KW_SLOTS	8

/*
 * Part of a space. Claimed under the space's lock. Given back under it, too, or without it
 * where the work was not queued.
 */
struct kw_slot {
	struct callback_head work;
	struct kw_space *space;
	/* The task that will run the work; NULL if the slot is free. */
	const struct task_struct *task;
	/* The addresses where that task has mapped something itself. */
	struct kw_range mapped;
};

/*
 * How many mapping events a space remembers: two for each thread that has a slot, because a
 * thread can cause two (mprotect() does) before it catches up. A walk cannot read one more, whose
 * place a hook may be writing.
 */
#define KW_LOG		(2 * KW_SLOTS + 1)

/*
 * One covered mm. Documentation/design.md has its states.
 *
 * Made by open() of the device, by a request for a thread of another process, by an attaching
 * tracer, or ahead of time for hooks, which cannot allocate. Walks read it with preemption
 * off, and hooks under rcu_read_lock(), in NMIs, too. The hash holds one reference, and gives
 * it up when the mm exits or when no consumer covers it any more. Queued work, dumps and open
 * devices hold others. The last kw_space_put() frees it after a grace period.
 */
struct kw_space {
	struct hlist_node node;
	/* The key, without a reference: exit_mmap() removes the space before the mm goes. */
	const struct mm_struct *mm;
	/* Its unique name in traces. */
	u64 number;
	/* The process that it was made for. A vfork() child shares its parent's space. */
	pid_t pid;
	/* The real user of that process, when a hook or a tracer last asked for the space. */
	kuid_t uid;
	/* The last dump that has reported it, or that need not report it; see dump.c. */
	atomic64_t told;
	/*
	 * The state. @events: the number of the last mapping event; @wrong: that of the last one
	 * that replaced something that @snap has. Written under @lock, and under mmap_lock, too,
	 * except in a child of fork() that has not run yet, and at exit. Walks read them without a
	 * lock.
	 */
	s64 events;
	s64 wrong;
	/* Replaced under @lock; NULL until the first one is published, and after exit_mmap(). */
	struct kw_snapshot __rcu *snap;
	/*
	 * Where the last events were, by their number. Written under @lock. Walks read it
	 * without a lock, and then check that it was not overwritten.
	 */
	struct kw_range log[KW_LOG];
	/* Which task caused the last event, or NULL. It may be gone. Written under @lock. */
	const struct task_struct *mapper;
	raw_spinlock_t lock;
	/* How many tasks are taking a snapshot that is not published yet. */
	atomic_t takers;
	/* Held to announce and publish a snapshot: briefly, and never to build one. */
	struct mutex publishing;
	/*
	 * From when on a walk makes its task catch up, in jiffies; 0 if nothing is missing.
	 * Written without a lock: a race costs one attempt at the wrong moment.
	 */
	unsigned long retry_at;
	unsigned long retry_delay;
	struct kw_slot slots[KW_SLOTS];
	refcount_t refs;
	/* How many consumers cover only this mm; under the hash's lock. */
	unsigned int consumers;
	struct rcu_head rcu;
};

/* How far walks can use a space's snapshot. */
enum kw_state {
	KW_EMPTY,	/* there is no snapshot */
	KW_WRONG,	/* something that it has was replaced */
	KW_BEHIND,	/* all that it has is right, but more may be mapped */
	KW_CURRENT,	/* it knows of all events */
};

struct kw_space *kw_space_find(const struct mm_struct *mm);
struct kw_space *kw_space_alloc(void);
struct kw_space *kw_space_obtain(struct mm_struct *mm, pid_t pid, kuid_t uid, bool spare);
void kw_space_put(struct kw_space *space);
void kw_space_exit(const struct mm_struct *mm);
struct kw_space *kw_space_hold(struct mm_struct *mm, pid_t pid, kuid_t uid);
void kw_space_unhold(struct kw_space *space);

s64 kw_spaces_dump(void);
struct kw_space *kw_spaces_untold(s64 dump, unsigned int *bucket);
void kw_spaces_settle(void);
void kw_spaces_prune(void);
void kw_spaces_init(void);

/* spares.c: spaces that are made ahead of time */
struct kw_space *kw_spare_take(void);
bool kw_spares_are_low(void);
void kw_spares_fill(void);
void kw_spares_free(void);

#endif /* KW_SPACE_H */
