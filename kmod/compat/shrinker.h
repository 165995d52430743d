/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* Shrinkers, as 6.7 and later have them. */
#ifndef KW_COMPAT_SHRINKER_H
#define KW_COMPAT_SHRINKER_H

#include <linux/shrinker.h>
#include "found.h"

#ifndef KW_HAVE_shrinker_alloc
#include <linux/slab.h>

/*
 * Until the caller has set its functions: reclaim can call this as soon as it is registered. It
 * scans nothing of what has no objects.
 */
static unsigned long kw_shrinker_none(struct shrinker *s, struct shrink_control *sc)
{
	return 0;
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
	s->count_objects = kw_shrinker_none;
	s->scan_objects = kw_shrinker_none;
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
