// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * Numbers: multiply-shift (Dietzfelbinger et al., 1997). Bytes: a polynomial of pieces in a
 * field of integers (Carter and Wegman, 1979), then the same. No trace can know the numbers
 * that both multiply by.
 */
#include <stdint.h>
#include <string.h>
#include "secret_hash.h"

/*
 * 2^61 - 1. Modulo a power of two, there are strings whose polynomials are the same for each
 * factor, as those of the sequence of Thue and Morse.
 */
#define PRIME		((UINT64_C(1) << 61) - 1)

/* A piece is less than the prime. */
#define PIECE_BYTES	7

static uint64_t random_number(void)
{
	return (uint64_t)g_random_int() << 32 | g_random_int();
}

guint kr_hash_number(gconstpointer number)
{
	static uint64_t odd;

	if (!odd)
		odd = random_number() | 1;
	return (guint)(*(const uint64_t *)number * odd >> 32);
}

guint kr_hash_two(guint a, guint b)
{
	const uint64_t both = (uint64_t)a << 32 | b;

	return kr_hash_number(&both);
}

/* The remainder may be the prime, or a bit more. */
static uint64_t multiply(uint64_t hash, uint64_t factor)
{
	unsigned __int128 product = (unsigned __int128)hash * factor;

	return (uint64_t)(product & PRIME) + (uint64_t)(product >> 61);
}

guint kr_hash_bytes(const void *bytes, size_t length)
{
	static uint64_t factor;
	const uint8_t *at = bytes;
	uint64_t hash = length, piece;
	size_t n;

	if (!factor)
		factor = 1 + random_number() % (PRIME - 1);
	for (; length; length -= n, at += n) {
		n = MIN(length, PIECE_BYTES);
		piece = 0;
		memcpy(&piece, at, n);
		hash = multiply(hash, factor) + piece;
	}
	return kr_hash_number(&hash);
}

guint kr_hash_string(gconstpointer string)
{
	return kr_hash_bytes(string, strlen(string));
}
