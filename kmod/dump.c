// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * A dump reports all mappings of all covered spaces, for a trace that starts.
 *
 * A child that is forked during the dump shares its parent's snapshot. The event
 * kunwind_fork tells the reader of the trace. If the parent has not been reported by
 * then, the reader does not know the child's mappings either. So the child inherits
 * space->told, and the next round reports it. Children of reported parents need no
 * report, so rounds soon end.
 */
#include <linux/export.h>
#include <linux/jiffies.h>
#include <linux/mutex.h>
#include <linux/sched.h>
#include <linux/sched/signal.h>
#include <linux/spinlock.h>
#include <kunwind/kunwind.h>
#include "coverage.h"
#include "snapshot.h"
#include "times.h"

static DEFINE_MUTEX(dump_lock);

struct teller {
	kunwind_tell_fn tell;
	void *data;
	s64 number;
	unsigned long deadline;
};

/*
 * Report the first mapping that ends after *@at. With the space's lock held, no hook can
 * note that the mapping was replaced. So the hook's kunwind_unmap follows it in the trace.
 * Return: whether there was one.
 */
static bool tell_next(struct kw_space *space, const struct teller *t, u64 *at)
{
	const struct kw_snapshot *snap;
	struct kunwind_mapping m;
	bool found;
	u32 i;

	raw_spin_lock(&space->lock);
	snap = kw_space_published(space);
	i = snap ? kuw_map_behind(&snap->map, *at) : 0;
	found = snap && i < snap->map.count;
	if (found) {
		kw_space_describe(space, snap, i, &m);
		*at = m.end;
		/* If it was replaced, the reader has had its kunwind_unmap already. */
		if (!kw_space_changed(space, snap->version, m.start, m.end))
			t->tell(&m, t->data);
	}
	raw_spin_unlock(&space->lock);
	return found;
}

/*
 * Report all mappings of @space, under its publishing mutex: a report of an old mapping
 * must not follow the announcement of a new one, as the reader would take the old one.
 * Announcing takes microseconds, but the task may be stopped in the middle. So after the
 * deadline go on without the mutex.
 */
static int tell_space(struct kw_space *space, const struct teller *t)
{
	bool locked;
	u64 at = 0;

	while (!(locked = mutex_trylock(&space->publishing)) &&
	       time_before(jiffies, t->deadline)) {
		schedule_timeout_killable(1);
		if (fatal_signal_pending(current))
			return -EINTR;
	}
	while (!fatal_signal_pending(current) && tell_next(space, t, &at))
		cond_resched();
	/* Children that are forked from now on need no report. */
	atomic64_set_release(&space->told, t->number);
	if (locked)
		mutex_unlock(&space->publishing);
	return fatal_signal_pending(current) ? -EINTR : 0;
}

/* Return: how many spaces were reported, or a negative errno. */
static int tell_round(const struct teller *t)
{
	struct kw_space *space;
	unsigned int bucket = 0;
	int count = 0, ret = 0;

	while (!ret && (space = kw_spaces_untold(t->number, &bucket))) {
		ret = tell_space(space, t);
		kw_space_put(space);
		count++;
	}
	return ret ? ret : count;
}

int kunwind_for_each_mapping(kunwind_tell_fn tell, void *data)
{
	struct teller t = {
		.tell = tell,
		.data = data,
	};
	int round, ret;

	if (mutex_lock_killable(&dump_lock))
		return -EINTR;
	/* Not before: another dump may have taken long. */
	t.deadline = jiffies + KW_DUMP_PATIENCE;
	t.number = kw_spaces_dump();
	for (round = 0; round < KW_DUMP_ROUNDS; round++) {
		ret = tell_round(&t);
		if (ret <= 0)
			break;
	}
	mutex_unlock(&dump_lock);
	return ret > 0 ? -EAGAIN : ret;
}
EXPORT_SYMBOL_GPL(kunwind_for_each_mapping);
