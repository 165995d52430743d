// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* The cursor and LEB128. Every input is alone in its allocation: see ASan. */
#include <stdlib.h>
#include "test.h"
#include "build_eh_frame.h"
#include "cursor.h"

static u8 *only;

static struct kuw_cur cursor(struct prog p)
{
	free(only);
	only = malloc(p.len ? p.len : 1);
	assert_non_null(only);
	if (p.len)
		memcpy(only, p.bytes, p.len);
	return kuw_cur(only, p.len);
}

static void test_fixed(void **state)
{
	struct kuw_cur c = cursor(PROG(1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12,
				       13, 14, 15));

	assert_int_equal(kuw_left(&c), 15);
	assert_int_equal(kuw_u8(&c), 1);
	assert_int_equal(kuw_u16(&c), 0x0302);
	assert_int_equal(kuw_u32(&c), 0x07060504);
	assert_int_equal(kuw_u64(&c), 0x0f0e0d0c0b0a0908);
	assert_int_equal(kuw_left(&c), 0);
	assert_false(c.bad);
}

/* Each reader, one byte short: 0, bad, and bad for good. */
static void test_short(void **state)
{
	static const u8 bytes[8] = { 0x81, 0x82, 0x83, 0x84, 0x85, 0x86, 0x87 };
	u32 size;

	for (size = 1; size <= 8; size *= 2) {
		struct kuw_cur c = cursor((struct prog){ bytes, size - 1 });
		u64 value = 1;

		switch (size) {
		case 1: value = kuw_u8(&c); break;
		case 2: value = kuw_u16(&c); break;
		case 4: value = kuw_u32(&c); break;
		case 8: value = kuw_u64(&c); break;
		}
		assert_int_equal(value, 0);
		assert_true(c.bad);
		assert_int_equal(kuw_left(&c), 0);
		assert_int_equal(kuw_u8(&c), 0);
		assert_true(c.bad);
	}
}

static void test_bytes(void **state)
{
	struct kuw_cur c = cursor(PROG(1, 2, 3));

	assert_ptr_equal(kuw_bytes(&c, 0), only);
	assert_ptr_equal(kuw_bytes(&c, 3), only);
	assert_non_null(kuw_bytes(&c, 0));
	assert_false(c.bad);
	assert_null(kuw_bytes(&c, 1));
	assert_true(c.bad);

	c = cursor(PROG(1, 2, 3));
	assert_null(kuw_bytes(&c, ~0ULL));
	assert_true(c.bad);
}

static void test_empty(void **state)
{
	struct kuw_cur c = cursor(NO_PROG);

	assert_int_equal(kuw_left(&c), 0);
	assert_false(c.bad);
	assert_int_equal(kuw_uleb(&c), 0);
	assert_true(c.bad);
}

static void check_uleb(struct prog p, bool good, u64 want)
{
	struct kuw_cur c = cursor(p);

	assert_true(kuw_uleb(&c) == want);
	assert_int_equal(c.bad, !good);
	if (good)
		assert_int_equal(kuw_left(&c), 0);
}

static void check_sleb(struct prog p, bool good, s64 want)
{
	struct kuw_cur c = cursor(p);

	assert_true(kuw_sleb(&c) == want);
	assert_int_equal(c.bad, !good);
	if (good)
		assert_int_equal(kuw_left(&c), 0);
}

#define X9(b) b, b, b, b, b, b, b, b, b

static void test_uleb(void **state)
{
	check_uleb(PROG(0), true, 0);
	check_uleb(PROG(0x7f), true, 127);
	check_uleb(PROG(0x80, 1), true, 128);
	check_uleb(PROG(0xe5, 0x8e, 0x26), true, 624485);
	check_uleb(PROG(X9(0xff), 1), true, U64_MAX);
	/* Padding is legal, up to ten bytes. */
	check_uleb(PROG(0x80, 0), true, 0);
	check_uleb(PROG(0x81, 0x80, 0), true, 1);
	check_uleb(PROG(X9(0x80), 0), true, 0);
	check_uleb(PROG(0x81, X9(0x80), 0), false, 0);
	check_uleb(PROG(0x81, X9(0x80), X9(0x80), 0), false, 0);
	/* Bits beyond 64 are not. */
	check_uleb(PROG(X9(0xff), 2), false, 0);
	check_uleb(PROG(X9(0x80), 0x80, 1), false, 0);
	check_uleb(PROG(X9(0x80), X9(0x80), 0x40), false, 0);
	/* No end. */
	check_uleb(PROG(0x80), false, 0);
	check_uleb(PROG(X9(0xff)), false, 0);
}

static void test_sleb(void **state)
{
	check_sleb(PROG(0), true, 0);
	check_sleb(PROG(2), true, 2);
	check_sleb(PROG(0x7e), true, -2);
	check_sleb(PROG(0x3f), true, 63);
	check_sleb(PROG(0x40), true, -64);
	check_sleb(PROG(0xff, 0), true, 127);
	check_sleb(PROG(0x81, 0x7f), true, -127);
	check_sleb(PROG(0x80, 0x7f), true, -128);
	check_sleb(PROG(X9(0xff), 0), true, S64_MAX);
	check_sleb(PROG(X9(0x80), 0x7f), true, S64_MIN);
	check_sleb(PROG(X9(0xff), 0x7f), true, -1);
	/* Padding with the sign. */
	check_sleb(PROG(0xff, 0x7f), true, -1);
	check_sleb(PROG(X9(0x80), 0), true, 0);
	check_sleb(PROG(0x80, X9(0x80), 0), false, 0);
	check_sleb(PROG(0x80, X9(0x80), X9(0x80), 0), false, 0);
	check_sleb(PROG(0xff, X9(0xff), 0x7f), false, 0);
	check_sleb(PROG(0xff, X9(0xff), X9(0xff), 0x7f), false, 0);
	/* What is neither. */
	check_sleb(PROG(X9(0xff), 1), false, 0);
	check_sleb(PROG(X9(0x80), 2), false, 0);
	check_sleb(PROG(X9(0xff), 0xff, 0), false, 0);
	check_sleb(PROG(X9(0x80), 0x80, 1), false, 0);
	check_sleb(PROG(0x80), false, 0);
	check_sleb(PROG(X9(0xff)), false, 0);
}

/* What the encoder writes the decoder reads, at every power of two. */
static void test_round_trip(void **state)
{
	u32 shift, i;

	for (shift = 0; shift < 64; shift++)
		for (i = 0; i < 3; i++) {
			u64 value = (1ULL << shift) - 1 + i;
			struct buf b = { 0 };

			buf_uleb(&b, value);
			check_uleb((struct prog){ b.bytes, b.len }, true,
				   value);
			b.len = 0;
			buf_sleb(&b, (s64)value);
			check_sleb((struct prog){ b.bytes, b.len }, true,
				   (s64)value);
			b.len = 0;
			buf_sleb(&b, (s64)-value);
			check_sleb((struct prog){ b.bytes, b.len }, true,
				   (s64)-value);
			buf_free(&b);
		}
	free(only);
	only = NULL;
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(test_fixed),
	cmocka_unit_test(test_short),
	cmocka_unit_test(test_bytes),
	cmocka_unit_test(test_empty),
	cmocka_unit_test(test_uleb),
	cmocka_unit_test(test_sleb),
	cmocka_unit_test(test_round_trip),
};

TEST_MAIN(tests)
