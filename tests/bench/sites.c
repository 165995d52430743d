// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * 10,000 places that call: 100 functions of 100 calls, so that a walk meets
 * addresses that no cache of it knows. Compiled twice; SITES is the name.
 */
#include "bench.h"

#define KEEP	__attribute__((noinline, noclone))
#define CALL	leaf(arg);

#define CALLS	CALL CALL CALL CALL CALL CALL CALL CALL CALL CALL
#define CALLER(n) \
static KEEP void call_##n(bench_leaf leaf, void *arg) \
{ \
	CALLS CALLS CALLS CALLS CALLS CALLS CALLS CALLS CALLS CALLS \
}

#define TEN(X, n) \
	X(n##0) X(n##1) X(n##2) X(n##3) X(n##4) \
	X(n##5) X(n##6) X(n##7) X(n##8) X(n##9)
#define HUNDRED(X) \
	TEN(X, 1) TEN(X, 2) TEN(X, 3) TEN(X, 4) TEN(X, 5) \
	TEN(X, 6) TEN(X, 7) TEN(X, 8) TEN(X, 9) TEN(X, 10)

HUNDRED(CALLER)

#define EACH(n)	call_##n(leaf, arg);

void SITES(bench_leaf leaf, void *arg)
{
	HUNDRED(EACH)
}
