// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* Multiply-shift (Dietzfelbinger et al., 1997), by a number that no trace can know. */
#include "number_hash.h"

guint kr_hash_number(gconstpointer number)
{
	static guint64 odd;

	if (!odd)
		odd = (guint64)g_random_int() << 32 | g_random_int() | 1;
	return (guint)(*(const guint64 *)number * odd >> 32);
}
