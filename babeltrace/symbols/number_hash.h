/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* A hash of numbers that others choose: g_int64_hash() has the low half alone. */
#ifndef KR_NUMBER_HASH_H
#define KR_NUMBER_HASH_H

#include <glib.h>

/* @number: uint64_t. Compare them by g_int64_equal(). */
guint kr_hash_number(gconstpointer number);

#endif /* KR_NUMBER_HASH_H */
