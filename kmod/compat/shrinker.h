/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* Shrinkers, as 6.7 and later have them. */
#ifndef KW_COMPAT_SHRINKER_H
#define KW_COMPAT_SHRINKER_H

#include <linux/shrinker.h>
#include "found.h"

#ifndef KW_HAVE_shrinker_alloc
#include <linux/slab.h>

/* Until the caller has set its functions: reclaim can call these as soon as it is registered. */
static unsigned long kw_shrinker_no_objects(struct shrinker *s, struct shrink_control *sc)
{
	return SHRINK_EMPTY;
}

static unsigned long kw_shrinker_no_scan(struct shrinker *s, struct shrink_control *sc)
{
	return SHRINK_STOP;
}

/*
 * A module cannot prepare a shrinker without registering it. A list_lru needs its number, so
 * it is registered here.
 */
static struct shrinker *shrinker_alloc(unsigned int flags, const char *name)
{
	struct shrinker *s = kzalloc(sizeof(*s), GFP_KERNEL);

	if (!s)
		return NULL;
	s->flags = flags;
	s->seeks = DEFAULT_SEEKS;
	s->count_objects = kw_shrinker_no_objects;
	s->scan_objects = kw_shrinker_no_scan;
	if (!register_shrinker(s, "%s", name))
		return s;
	kfree(s);
	return NULL;
}

static void shrinker_register(struct shrinker *s)
{
}

static void shrinker_free(struct shrinker *s)
{
	unregister_shrinker(s);
	kfree(s);
}
#endif

#endif /* KW_COMPAT_SHRINKER_H */
