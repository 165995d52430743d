// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * 132 functions in six frame layouts: nothing saved; one register; all of them;
 * a large frame; a frame of variable size; arguments on the stack. And one
 * that calls itself. Compiled twice; TABLE is the name of the array.
 */
#include <alloca.h>
#include "bench.h"

#define KEEP	__attribute__((noinline, noclone))
/* A value that the compiler cannot know, nor give up. */
#define OPAQUE(x)	__asm__ volatile("" : "+r"(x))

#define NEXT(depth, at, leaf, arg) \
	((depth) <= 1 ? (leaf)(arg) : \
	 TABLE[BENCH_INDEX(BENCH_NEXT(at))]((depth) - 1, BENCH_NEXT(at), \
					    leaf, arg))

#define LAYOUT_NONE(n) \
static KEEP long none_##n(long depth, long at, bench_leaf leaf, void *arg) \
{ \
	long r = NEXT(depth, at, leaf, arg); \
	OPAQUE(r); \
	return r + n; \
}

#define LAYOUT_ONE(n) \
static KEEP long one_##n(long depth, long at, bench_leaf leaf, void *arg) \
{ \
	long a = depth * n, r; \
	OPAQUE(a); \
	r = NEXT(depth, at, leaf, arg); \
	return r + a; \
}

#define LAYOUT_ALL(n) \
static KEEP long all_##n(long depth, long at, bench_leaf leaf, void *arg) \
{ \
	long a = depth + n, b = depth * n, c = depth - n, d = depth ^ n, \
	     e = depth | n, r; \
	OPAQUE(a); OPAQUE(b); OPAQUE(c); OPAQUE(d); OPAQUE(e); \
	r = NEXT(depth, at, leaf, arg); \
	return ((r + a) ^ b) + ((c ^ d) - e); \
}

#define LAYOUT_LARGE(n) \
static KEEP long large_##n(long depth, long at, bench_leaf leaf, void *arg) \
{ \
	volatile long frame[32 + n]; \
	long r; \
	frame[n] = depth; \
	r = NEXT(depth, at, leaf, arg); \
	return r + frame[n]; \
}

#define LAYOUT_VARIABLE(n) \
static KEEP long variable_##n(long depth, long at, bench_leaf leaf, void *arg) \
{ \
	long size = 16 + (at & 3) * 16, r; \
	volatile long *frame; \
	OPAQUE(size); \
	frame = alloca((size_t)size); \
	frame[0] = n; \
	r = NEXT(depth, at, leaf, arg); \
	return r + frame[0]; \
}

struct large {
	long word[6];
};

#define LAYOUT_ARGS(n) \
static KEEP long args_take_##n(struct large l, long depth, long at, \
			       bench_leaf leaf, void *arg) \
{ \
	long r = NEXT(depth, at, leaf, arg); \
	return r + l.word[n % 6]; \
} \
static KEEP long args_##n(long depth, long at, bench_leaf leaf, void *arg) \
{ \
	struct large l = { { depth, n, at, n + 1, depth, n } }; \
	long r = args_take_##n(l, depth - 1, at, leaf, arg); \
	OPAQUE(r); \
	return r; \
}

#define EACH(X) \
	X(0) X(1) X(2) X(3) X(4) X(5) X(6) X(7) X(8) X(9) X(10) X(11) X(12) \
	X(13) X(14) X(15) X(16) X(17) X(18) X(19) X(20) X(21)

EACH(LAYOUT_NONE)
EACH(LAYOUT_ONE)
EACH(LAYOUT_ALL)
EACH(LAYOUT_LARGE)
EACH(LAYOUT_VARIABLE)
EACH(LAYOUT_ARGS)

#define ENTRY(n) \
	none_##n, one_##n, all_##n, large_##n, variable_##n, args_##n,

static KEEP long recursive(long depth, long at, bench_leaf leaf, void *arg)
{
	long a = depth * at, r;

	OPAQUE(a);
	r = depth <= 1 ? leaf(arg) : recursive(depth - 1, at, leaf, arg);
	return r + a;
}

const bench_function TABLE[BENCH_FUNCTIONS + 1] = { EACH(ENTRY) recursive };
