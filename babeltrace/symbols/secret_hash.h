/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * Hashes of what others choose. Of g_int64_hash() and g_str_hash(), they choose as many
 * values as they like that are the same: each look-up would compare with all of these.
 */
#ifndef KR_SECRET_HASH_H
#define KR_SECRET_HASH_H

#include <glib.h>
#include <stddef.h>

/* @number: uint64_t. Compare them by g_int64_equal(). */
guint kr_hash_number(gconstpointer number);

/* Of two hashes, or of two numbers. */
guint kr_hash_two(guint a, guint b);

guint kr_hash_bytes(const void *bytes, size_t length);

/* For g_str_equal(). */
guint kr_hash_string(gconstpointer string);

#endif /* KR_SECRET_HASH_H */
