/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* The address spaces that are covered: a hash from mm to snapshot. */
#ifndef KW_SPACE_H
#define KW_SPACE_H

#include <linux/atomic.h>
#include <linux/jiffies.h>
#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/rcupdate.h>
#include <linux/refcount.h>
#include <linux/spinlock.h>
#include <linux/types.h>
#include <linux/uidgid.h>

struct kunwind_mapping;
struct kw_snapshot;
struct mm_struct;
struct task_struct;
struct vm_area_struct;

/* Addresses from @start up to @end, which is the first one that is not in it. */
struct kw_range {
	u64 start;
	u64 end;
};

/*
 * Work that a task does before it returns to user mode; see work.c. A thread needs one
 * from its mapping event to the end of its system call, so few are in use at once. If
 * there is none left, the space stays behind until another thread or a walk catches up.
 */
#define KW_SLOTS	8

/* Of a space. Claimed and given back under its lock. */
struct kw_slot {
	struct callback_head work;
	struct kw_space *space;
	/* Who is to run it, until it does; NULL: the slot is free. */
	const struct task_struct *task;
	/* What that task has mapped itself. */
	struct kw_range mapped;
};

/*
 * Mapping events whose addresses a space remembers. A thread can have two on the way, those
 * of mprotect(), before it catches up. So this is enough for twice as many threads as there
 * are slots. Beyond that a walk may say INCOMPLETE_MAP: 1 of 100,000 with 24 threads that do
 * nothing else.
 */
#define KW_LOG		(4 * KW_SLOTS)

/*
 * One covered mm. Documentation/design.md has its states.
 *
 * Made by a consumer, by an attaching tracer, or ahead of time, for hooks, which
 * cannot allocate. Read by walks and hooks under rcu_read_lock(), NMI included. The
 * hash holds one reference, and gives it up when the mm exits or when no consumer
 * covers it any more; queued work, dumps and open devices hold others. The last
 * kw_space_put() frees it after a grace period.
 */
struct kw_space {
	struct hlist_node node;
	/* The key. Not a reference: the exit_mmap() hook comes before its end. */
	const struct mm_struct *mm;
	/* Who it is in a trace; no other one ever is. */
	u64 number;
	/* The process that it was made for; a vfork() child's is its parent's. */
	pid_t pid;
	/* The real user of that process then. */
	kuid_t uid;
	/* The last dump that told of it, or that it need not be in; see dump.c. */
	atomic64_t told;
	/*
	 * The state: how many mapping events there were; the last one that @snap knows
	 * of; the last one that made something wrong that @snap says. Written under
	 * @lock, @events and @wrong under mmap_lock as well; read by walks without.
	 */
	s64 events;
	s64 known;
	s64 wrong;
	/* Replaced under @lock; NULL until the first one is taken. */
	struct kw_snapshot __rcu *snap;
	/* Where the last events were, by their number; under @lock. */
	struct kw_range log[KW_LOG];
	raw_spinlock_t lock;
	/* Who is between listing VMAs and publishing what came of it. */
	atomic_t takers;
	/* Held to announce and publish a snapshot: not for long, and never to build one. */
	struct mutex publishing;
	/*
	 * When a walk has the space's task catch up, in jiffies; 0 if nothing is missing.
	 * Written without a lock: a wrong moment costs an attempt.
	 */
	unsigned long retry_at;
	unsigned long retry_delay;
	struct kw_slot slots[KW_SLOTS];
	refcount_t refs;
	/* Consumers of this mm alone; under the hash's lock. */
	unsigned int consumers;
	struct rcu_head rcu;
};

/* What a space's snapshot is good for. */
enum kw_state {
	KW_EMPTY,	/* there is none */
	KW_WRONG,	/* something it says was replaced */
	KW_BEHIND,	/* what it says is right, but more is mapped */
	KW_CURRENT,	/* it knows of all events */
};

struct kw_space *kw_space_find(const struct mm_struct *mm);
struct kw_space *kw_space_alloc(void);
struct kw_space *kw_space_obtain(struct mm_struct *mm, pid_t pid, kuid_t uid);
struct kw_space *kw_space_obtain_spare(struct mm_struct *mm,
				       const struct task_struct *task);
void kw_space_put(struct kw_space *space);
void kw_space_exit(const struct mm_struct *mm);
struct kw_space *kw_space_hold(struct mm_struct *mm);
void kw_space_unhold(struct kw_space *space);

s64 kw_spaces_dump(void);
struct kw_space *kw_spaces_untold(s64 dump, unsigned int *bucket);
void kw_spaces_prune(void);
int kw_spaces_init(void);
void kw_spaces_exit(void);

#endif /* KW_SPACE_H */
