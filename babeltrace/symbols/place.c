// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* Making a place. */
#include <glib.h>
#include "place.h"

struct kr_place *kr_place_new(uint32_t count)
{
	struct kr_place *place = g_malloc0(sizeof(*place) +
					   count * sizeof(place->frames[0]));
	uint32_t i;

	place->count = count;
	for (i = 0; i < count; i++) {
		place->frames[i].function = "";
		place->frames[i].file = "";
	}
	return place;
}
