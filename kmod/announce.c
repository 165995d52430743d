// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * Announce the difference between two snapshots, as the events kunwind_map and
 * kunwind_unmap. These cost per mapping, not per stack.
 *
 * The reader of a trace takes a kunwind_map as a replacement for what it knew of these
 * addresses. New mappings are announced before the snapshot is published, and gone
 * ones after that. So the reader knows every mapping that a walk can find.
 */
#include <linux/minmax.h>
#include <linux/sched.h>
#include "coverage.h"
#include "snapshot.h"

#define CREATE_TRACE_POINTS
#include <kunwind/trace.h>

/* Whether a reader who knows mapping @i of @old knows all of mapping @j of @snap. */
static bool is_known(const struct kw_snapshot *old, u32 i,
		     const struct kw_snapshot *snap, u32 j)
{
	const struct kuw_mapping *was = &old->map.mappings[i];
	const struct kuw_mapping *is = &snap->map.mappings[j];

	return was->start <= is->start && is->end <= was->end &&
	       old->origins[i].off + (is->start - was->start) ==
			snap->origins[j].off &&
	       kw_origin_equal(&old->origins[i], &snap->origins[j]);
}

/*
 * Announce mapping @j of @snap, unless it was replaced since: with the space's lock held, a hook's
 * kunwind_unmap cannot come before. If the reader @knew it in @old, only if a hook has announced a
 * kunwind_unmap of a part of it since.
 */
static void announce(struct kw_space *space, const struct kw_snapshot *old, bool knew,
		     const struct kw_snapshot *snap, u32 j)
{
	struct kunwind_mapping m;

	kw_space_describe(space, snap, j, &m);
	raw_spin_lock(&space->lock);
	if ((!knew || kw_space_changed(space, old->version, m.start, m.end)) &&
	    !kw_space_changed(space, snap->version, m.start, m.end))
		trace_kunwind_map(&m);
	raw_spin_unlock(&space->lock);
}

/*
 * Announce what is in @snap and not in @old, which may be NULL.
 * Context: process context, sleeps.
 */
void kw_announce_maps(struct kw_space *space, const struct kw_snapshot *old,
		      const struct kw_snapshot *snap)
{
	u32 count = old ? old->map.count : 0, i = 0, j;

	if (!trace_kunwind_map_enabled())
		return;
	for (j = 0; j < snap->map.count; j++) {
		while (i < count && old->map.mappings[i].end <=
				    snap->map.mappings[j].start)
			i++;
		announce(space, old, i < count && is_known(old, i, snap, j), snap, j);
		cond_resched();
	}
}

/*
 * Announce the addresses that @old has and @snap has not. Either may be NULL.
 * Context: process context, sleeps.
 */
void kw_announce_unmaps(const struct kw_space *space, const struct kw_snapshot *old,
			const struct kw_snapshot *snap)
{
	u32 count = old ? old->map.count : 0, i, j = 0;
	u32 stay = snap ? snap->map.count : 0;

	if (!trace_kunwind_unmap_enabled())
		return;
	for (i = 0; i < count; i++) {
		u64 at = old->map.mappings[i].start;
		u64 end = old->map.mappings[i].end;

		while (at < end) {
			const struct kuw_mapping *m = NULL;
			u64 gap = end;

			while (j < stay && snap->map.mappings[j].end <= at)
				j++;
			if (j < stay)
				m = &snap->map.mappings[j];
			if (m)
				gap = clamp(m->start, at, end);
			if (at < gap)
				trace_kunwind_unmap(space->number, at, gap);
			at = m ? max(gap, min(m->end, end)) : end;
			cond_resched();
		}
	}
}
