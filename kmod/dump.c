// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * All mappings of all covered spaces, for a trace that begins.
 *
 * A child that is forked meanwhile shares its parent's snapshot, and its
 * kunwind_fork says so. If the parent has not been told of by then, the reader
 * knows nothing of the child either: space->told is inherited, and the child has its
 * turn in the next round. Children of those that were told of need none, so that
 * rounds soon end.
 */
#include <linux/err.h>
#include <linux/export.h>
#include <linux/jiffies.h>
#include <linux/mm.h>
#include <linux/mutex.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>
#include <linux/sched/signal.h>
#include <linux/spinlock.h>
#include <kunwind/kunwind.h>
#include "snapshot.h"
#include "space.h"

/* How long, in all, to wait for tasks that are taking a snapshot. */
#define PATIENCE	(2 * HZ)
/* Each but the first has only who was forked during the one before. */
#define MAX_ROUNDS	16

static DEFINE_MUTEX(dump_lock);

struct teller {
	kunwind_tell_fn tell;
	void *data;
	s64 number;
	unsigned long deadline;
};

/*
 * Tell of the first mapping behind *@at. It is told while no hook can take it out of
 * what is published, so that the hook's kunwind_unmap comes behind it in the trace.
 * Return: whether there was one.
 */
static bool tell_next(struct kw_space *space, const struct teller *t, u64 *at)
{
	const struct kw_snapshot *snap;
	struct kunwind_mapping m;
	bool found;
	u32 i;

	raw_spin_lock(&space->snap_lock);
	snap = rcu_dereference_protected(space->snap,
					 lockdep_is_held(&space->snap_lock));
	i = snap ? kw_snapshot_behind(snap, *at) : 0;
	found = snap && i < snap->map.count;
	if (found) {
		kw_space_describe(space, snap, i, &m);
		t->tell(&m, t->data);
		*at = m.end;
	}
	raw_spin_unlock(&space->snap_lock);
	return found;
}

/*
 * With the space's lock nothing new is announced meanwhile, which what is told here
 * would replace in the reader's eyes. A task that holds it for long waits for a
 * file, and announces something only then.
 */
static int tell_space(struct kw_space *space, const struct teller *t)
{
	u64 at = 0;
	int locked;

	locked = kw_space_lock(space, t->deadline);
	if (locked == -EINTR)
		return locked;
	while (tell_next(space, t, &at))
		cond_resched();
	/* Whoever is forked from now on need not be told of. */
	atomic64_set_release(&space->told, t->number);
	if (!locked)
		kw_space_unlock(space);
	return 0;
}

/* Return: how many spaces were told of, or a negative errno. */
static int tell_round(const struct teller *t)
{
	struct kw_space **spaces;
	int count, i, ret = 0;

	spaces = kw_spaces_untold(t->number, &count);
	if (IS_ERR(spaces))
		return PTR_ERR(spaces);
	for (i = 0; i < count; i++) {
		if (!ret)
			ret = tell_space(spaces[i], t);
		kw_space_put(spaces[i]);
	}
	kvfree(spaces);
	return ret ? ret : count;
}

int kunwind_for_each_mapping(kunwind_tell_fn tell, void *data)
{
	struct teller t = {
		.tell = tell,
		.data = data,
		.deadline = jiffies + PATIENCE,
	};
	int round, ret;

	if (mutex_lock_killable(&dump_lock))
		return -EINTR;
	t.number = kw_spaces_dump();
	for (round = 0; round < MAX_ROUNDS; round++) {
		ret = tell_round(&t);
		if (ret <= 0)
			break;
	}
	mutex_unlock(&dump_lock);
	return ret > 0 ? -EAGAIN : ret;
}
EXPORT_SYMBOL_GPL(kunwind_for_each_mapping);
