// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * Expressions: every operator that is legal in CFI against known answers, every
 * limit, and random programs against the tests' own evaluator.
 */
#include <dwarf.h>
#include <stdlib.h>
#include "test.h"
#include "build_eh_frame.h"
#include "equation.h"
#include "expr.h"
#include "budgets.h"

#define MEMORY	0x7fff00000000ULL
#define WORDS	64

static u64 memory[WORDS];
static struct kuw_expr_regs regs;

static void reset(void)
{
	u32 i;

	memset(&regs, 0, sizeof(regs));
	for (i = 0; i < KUW_NR_REGS; i++)
		regs.r[i] = 1000 * i;
	regs.r[KUW_RSP] = MEMORY;
	regs.known = (1u << KUW_NR_REGS) - 1;
	regs.steps = KUW_MAX_EXPR_STEPS;
	regs.word = KUW_WORD;
	for (i = 0; i < WORDS; i++)
		memory[i] = 0x1122334455667700ULL + i;
	kuw_port_set_window(MEMORY, sizeof(memory), (u64)memory - MEMORY);
}

/* Evaluate bytes that are alone in their allocation. */
static u32 eval(struct prog p, const u64 *initial, u64 *value)
{
	u8 *copy = malloc(p.len ? p.len : 1);
	u32 stop;

	assert_non_null(copy);
	if (p.len)
		memcpy(copy, p.bytes, p.len);
	stop = kuw_expr_eval(copy, p.len, &regs, initial, value);
	free(copy);
	return stop;
}

static void check(struct prog p, u64 want)
{
	u64 value = ~want;

	reset();
	assert_true(kuw_expr_check(p.bytes, p.len, KUW_WORD));
	assert_int_equal(eval(p, NULL, &value), 0);
	assert_int_equal(value, want);
}

#define CHECK(want, ...)	check(PROG(__VA_ARGS__), (u64)(want))

static void test_constants(void **state)
{
	CHECK(0, DW_OP_lit0);
	CHECK(31, DW_OP_lit31);
	CHECK(0x0807060504030201, DW_OP_addr, 1, 2, 3, 4, 5, 6, 7, 8);
	CHECK(0xff, DW_OP_const1u, 0xff);
	CHECK(-1, DW_OP_const1s, 0xff);
	CHECK(0xfffe, DW_OP_const2u, 0xfe, 0xff);
	CHECK(-2, DW_OP_const2s, 0xfe, 0xff);
	CHECK(0xfffffffd, DW_OP_const4u, 0xfd, 0xff, 0xff, 0xff);
	CHECK(-3, DW_OP_const4s, 0xfd, 0xff, 0xff, 0xff);
	CHECK(0x8000000000000000, DW_OP_const8u, 0, 0, 0, 0, 0, 0, 0, 0x80);
	CHECK(0x8000000000000000, DW_OP_const8s, 0, 0, 0, 0, 0, 0, 0, 0x80);
	CHECK(624485, DW_OP_constu, 0xe5, 0x8e, 0x26);
	CHECK(-127, DW_OP_consts, 0x81, 0x7f);
}

static void test_registers(void **state)
{
	CHECK(MEMORY + 8, DW_OP_breg7, 8);
	CHECK(MEMORY - 8, DW_OP_breg7, 0x78);
	CHECK(16000, DW_OP_breg16, 0);
	CHECK(15001, DW_OP_bregx, 15, 1);
}

static void test_stack(void **state)
{
	CHECK(4, DW_OP_lit2, DW_OP_dup, DW_OP_plus);
	CHECK(2, DW_OP_lit2, DW_OP_lit3, DW_OP_drop);
	CHECK(5, DW_OP_lit5, DW_OP_lit6, DW_OP_over);
	CHECK(7, DW_OP_lit7, DW_OP_lit8, DW_OP_lit9, DW_OP_pick, 2);
	CHECK(9, DW_OP_lit7, DW_OP_lit8, DW_OP_lit9, DW_OP_pick, 0);
	CHECK(-1, DW_OP_lit2, DW_OP_lit1, DW_OP_swap, DW_OP_minus);
	/* rot: the second becomes the top, the third the second. */
	CHECK(2, DW_OP_lit1, DW_OP_lit2, DW_OP_lit3, DW_OP_rot);
	CHECK(1, DW_OP_lit1, DW_OP_lit2, DW_OP_lit3, DW_OP_rot, DW_OP_drop);
	CHECK(3, DW_OP_lit1, DW_OP_lit2, DW_OP_lit3, DW_OP_rot, DW_OP_drop,
	      DW_OP_drop);
	CHECK(3, DW_OP_nop, DW_OP_lit3, DW_OP_nop);
}

static void test_arithmetic(void **state)
{
	CHECK(5, DW_OP_const1s, 0xfb, DW_OP_abs);
	CHECK(5, DW_OP_lit5, DW_OP_abs);
	CHECK(1ULL << 63, DW_OP_const8s, 0, 0, 0, 0, 0, 0, 0, 0x80, DW_OP_abs);
	CHECK(4, DW_OP_lit12, DW_OP_lit6, DW_OP_and);
	CHECK(-3, DW_OP_const1s, 0xf7, DW_OP_lit3, DW_OP_div);
	CHECK(-5, DW_OP_lit2, DW_OP_lit7, DW_OP_minus);
	CHECK(1, DW_OP_lit7, DW_OP_lit3, DW_OP_mod);
	CHECK(-6, DW_OP_const1s, 0xfe, DW_OP_lit3, DW_OP_mul);
	CHECK(-1, DW_OP_lit1, DW_OP_neg);
	CHECK(-2, DW_OP_lit1, DW_OP_not);
	CHECK(14, DW_OP_lit12, DW_OP_lit6, DW_OP_or);
	CHECK(18, DW_OP_lit12, DW_OP_lit6, DW_OP_plus);
	CHECK(133, DW_OP_lit5, DW_OP_plus_uconst, 0x80, 1);
	CHECK(10, DW_OP_lit12, DW_OP_lit6, DW_OP_xor);
	CHECK(48, DW_OP_lit3, DW_OP_lit4, DW_OP_shl);
	CHECK(0, DW_OP_lit3, DW_OP_const1u, 64, DW_OP_shl);
	CHECK(0x7fffffffffffffff, DW_OP_const1s, 0xff, DW_OP_lit1, DW_OP_shr);
	CHECK(0, DW_OP_const1s, 0xff, DW_OP_const1u, 64, DW_OP_shr);
	CHECK(-1, DW_OP_const1s, 0xfe, DW_OP_lit1, DW_OP_shra);
	CHECK(-1, DW_OP_const1s, 0xfe, DW_OP_const1u, 200, DW_OP_shra);
}

static void test_comparisons(void **state)
{
	static const struct {
		u8 op;
		bool less, equal, greater;
	} cases[] = {
		{ DW_OP_eq, false, true, false },
		{ DW_OP_ne, true, false, true },
		{ DW_OP_lt, true, false, false },
		{ DW_OP_le, true, true, false },
		{ DW_OP_gt, false, false, true },
		{ DW_OP_ge, false, true, true },
	};
	u32 i;

	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		/* Signed. */
		CHECK(cases[i].less, DW_OP_const1s, 0xff, DW_OP_lit1,
		      cases[i].op);
		CHECK(cases[i].equal, DW_OP_lit1, DW_OP_lit1, cases[i].op);
		CHECK(cases[i].greater, DW_OP_lit1, DW_OP_const1s, 0xff,
		      cases[i].op);
	}
}

static void test_branches(void **state)
{
	CHECK(2, DW_OP_lit2, DW_OP_skip, 1, 0, DW_OP_lit3);
	CHECK(2, DW_OP_lit2, DW_OP_lit1, DW_OP_bra, 1, 0, DW_OP_lit3);
	CHECK(3, DW_OP_lit2, DW_OP_lit0, DW_OP_bra, 1, 0, DW_OP_lit3);
	/* To the very end. */
	CHECK(2, DW_OP_lit2, DW_OP_skip, 0, 0);
	/* A loop that counts down: 5, 4, 3, 2, 1, 0. */
	CHECK(0, DW_OP_lit5, DW_OP_lit1, DW_OP_minus, DW_OP_dup, DW_OP_bra,
	      0xfa, 0xff);
}

static void test_memory(void **state)
{
	CHECK(0x1122334455667700, DW_OP_breg7, 0, DW_OP_deref);
	/* Across two words. */
	CHECK(0x6677011122334455, DW_OP_breg7, 3, DW_OP_deref);
	CHECK(0x01, DW_OP_breg7, 8, DW_OP_deref_size, 1);
	CHECK(0x0111, DW_OP_breg7, 7, DW_OP_deref_size, 2);
	CHECK(0x55667701, DW_OP_breg7, 8, DW_OP_deref_size, 4);
	CHECK(0x112233445566, DW_OP_breg7, 2, DW_OP_deref_size, 6);
	CHECK(0x1122334455667701, DW_OP_breg7, 8, DW_OP_deref_size, 8);
	/* The last byte there is. */
	CHECK(0x11, DW_OP_breg7, 0xff, 0x03, DW_OP_deref_size, 1);
}

/* The forms that occur in real files. */
static void test_real(void **state)
{
	reset();
	CHECK(MEMORY + 8, DW_OP_breg7, 8, DW_OP_breg16, 0, DW_OP_lit15,
	      DW_OP_and, DW_OP_lit11, DW_OP_ge, DW_OP_lit3, DW_OP_shl,
	      DW_OP_plus);
	CHECK(0x1122334455667702 + 8, DW_OP_breg7, 16, DW_OP_deref,
	      DW_OP_plus_uconst, 8);
}

static void check_stop(struct prog p, u32 want)
{
	u64 value;

	reset();
	assert_string_equal(stop_name(eval(p, NULL, &value)), stop_name(want));
}

#define STOP(name, ...)	check_stop(PROG(__VA_ARGS__), KUNWIND_STOP_##name)

static void test_faults(void **state)
{
	u64 value;

	/* Every operator with too few values. */
	STOP(EXPR_BAD, DW_OP_nop);
	STOP(EXPR_BAD, DW_OP_dup);
	STOP(EXPR_BAD, DW_OP_drop);
	STOP(EXPR_BAD, DW_OP_deref);
	STOP(EXPR_BAD, DW_OP_abs);
	STOP(EXPR_BAD, DW_OP_plus_uconst, 1);
	STOP(EXPR_BAD, DW_OP_bra, 0, 0);
	STOP(EXPR_BAD, DW_OP_lit1, DW_OP_plus);
	STOP(EXPR_BAD, DW_OP_lit1, DW_OP_over);
	STOP(EXPR_BAD, DW_OP_lit1, DW_OP_swap);
	STOP(EXPR_BAD, DW_OP_lit1, DW_OP_lit1, DW_OP_rot);
	STOP(EXPR_BAD, DW_OP_lit1, DW_OP_pick, 1);
	STOP(EXPR_BAD, DW_OP_lit1, DW_OP_drop);
	check_stop(NO_PROG, KUNWIND_STOP_EXPR_BAD);

	STOP(EXPR_BAD, DW_OP_lit1, DW_OP_lit0, DW_OP_div);
	STOP(EXPR_BAD, DW_OP_lit1, DW_OP_lit0, DW_OP_mod);
	/* The one quotient that does not fit must not trap. */
	reset();
	eval(PROG(DW_OP_const8u, 0, 0, 0, 0, 0, 0, 0, 0x80, DW_OP_const1s, 0xff,
		  DW_OP_div), NULL, &value);
	eval(PROG(DW_OP_const8u, 0, 0, 0, 0, 0, 0, 0, 0x80, DW_OP_const1s, 0xff,
		  DW_OP_mod), NULL, &value);
}

static void test_jumps_out(void **state)
{
	STOP(EXPR_BAD, DW_OP_lit1, DW_OP_skip, 1, 0);
	STOP(EXPR_BAD, DW_OP_lit1, DW_OP_skip, 0xfb, 0xff);
	STOP(EXPR_BAD, DW_OP_lit1, DW_OP_skip, 0xff, 0x7f);
	STOP(EXPR_BAD, DW_OP_lit1, DW_OP_skip, 0, 0x80);
	STOP(EXPR_BAD, DW_OP_lit1, DW_OP_lit1, DW_OP_bra, 1, 0);
	/* Into the operand of the jump itself: 0xfe is no operator. */
	STOP(EXPR_BAD, DW_OP_skip, 0xfe, 0xff);
}

static void test_memory_faults(void **state)
{
	STOP(STACK_FAULT, DW_OP_breg7, 0x78, DW_OP_deref);
	/* The second of two words. */
	STOP(STACK_FAULT, DW_OP_breg7, 0xf9, 0x03, DW_OP_deref);
	STOP(STACK_FAULT, DW_OP_lit0, DW_OP_deref);
	STOP(STACK_FAULT, DW_OP_const1s, 0xff, DW_OP_deref);
	STOP(STACK_FAULT, DW_OP_const1s, 0xf9, DW_OP_deref);
}

static void test_deref_sizes(void **state)
{
	assert_true(kuw_expr_check((const u8[]){ DW_OP_deref_size, 8 }, 2, KUW_WORD));
	assert_false(kuw_expr_check((const u8[]){ DW_OP_deref_size, 0 }, 2, KUW_WORD));
	assert_false(kuw_expr_check((const u8[]){ DW_OP_deref_size, 9 }, 2, KUW_WORD));
	STOP(EXPR_BAD, DW_OP_breg7, 0, DW_OP_deref_size, 0);
	STOP(EXPR_BAD, DW_OP_breg7, 0, DW_OP_deref_size, 9);
	STOP(EXPR_BAD, DW_OP_breg7, 0, DW_OP_deref_size, 255);
}

static void test_unknown_register(void **state)
{
	u64 value;

	reset();
	regs.known &= ~(1u << 3);
	assert_stop(eval(PROG(DW_OP_breg3, 0), NULL, &value), REG_UNKNOWN);
	assert_true(regs.unknown);
	/* One that there is not. */
	STOP(EXPR_BAD, DW_OP_breg17, 0);
	STOP(EXPR_BAD, DW_OP_breg31, 0);
	STOP(EXPR_BAD, DW_OP_bregx, 17, 0);
	STOP(EXPR_BAD, DW_OP_bregx, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff,
	     0xff, 0xff, 1, 0);
}

static void test_stack_limit(void **state)
{
	u8 bytes[KUW_EXPR_STACK + 1];
	u64 value, initial = 7;

	memset(bytes, DW_OP_lit1, sizeof(bytes));
	reset();
	assert_int_equal(eval((struct prog){ bytes, KUW_EXPR_STACK }, NULL, &value), 0);
	check_stop((struct prog){ bytes, KUW_EXPR_STACK + 1 },
		   KUNWIND_STOP_EXPR_BAD);
	/* The initial value counts. */
	reset();
	assert_stop(eval((struct prog){ bytes, KUW_EXPR_STACK }, &initial,
			 &value), EXPR_BAD);
	bytes[KUW_EXPR_STACK] = DW_OP_dup;
	check_stop((struct prog){ bytes, KUW_EXPR_STACK + 1 },
		   KUNWIND_STOP_EXPR_BAD);
}

static void test_budget(void **state)
{
	u64 value;

	STOP(EXPR_BUDGET, DW_OP_lit1, DW_OP_skip, 0xfd, 0xff);
	assert_int_equal(regs.steps, 0);
	/* It is the walk's, not the expression's. */
	reset();
	regs.steps = 3;
	assert_int_equal(eval(PROG(DW_OP_lit1, DW_OP_lit2), NULL, &value), 0);
	assert_int_equal(regs.steps, 1);
	assert_stop(eval(PROG(DW_OP_lit1, DW_OP_lit2), NULL, &value),
		    EXPR_BUDGET);
}

static void test_initial(void **state)
{
	u64 value, initial = 0x100;

	reset();
	assert_int_equal(eval(PROG(DW_OP_plus_uconst, 8), &initial, &value), 0);
	assert_int_equal(value, 0x108);
}

/* What is not legal in CFI is refused when the table is made. */
static void test_check(void **state)
{
	static const u8 legal[] = {
		DW_OP_deref, DW_OP_dup, DW_OP_drop, DW_OP_over, DW_OP_swap,
		DW_OP_rot, DW_OP_abs, DW_OP_and, DW_OP_div, DW_OP_minus,
		DW_OP_mod, DW_OP_mul, DW_OP_neg, DW_OP_not, DW_OP_or,
		DW_OP_plus, DW_OP_shl, DW_OP_shr, DW_OP_shra, DW_OP_xor,
		DW_OP_eq, DW_OP_ge, DW_OP_gt, DW_OP_le, DW_OP_lt, DW_OP_ne,
		DW_OP_nop,
	};
	u32 op;

	for (op = 0; op < 256; op++) {
		const u8 byte = op;
		bool want = memchr(legal, (int)op, sizeof(legal)) ||
			(op >= DW_OP_lit0 && op <= DW_OP_lit31);

		assert_int_equal(kuw_expr_check(&byte, 1, KUW_WORD), want);
	}
	assert_false(kuw_expr_check((const u8 *)"", 0, KUW_WORD));
}

static void test_check_operands(void **state)
{
	static const struct {
		u8 op, operands;
	} cases[] = {
		{ DW_OP_addr, 8 }, { DW_OP_const1u, 1 }, { DW_OP_const1s, 1 },
		{ DW_OP_const2u, 2 }, { DW_OP_const2s, 2 },
		{ DW_OP_const4u, 4 }, { DW_OP_const4s, 4 },
		{ DW_OP_const8u, 8 }, { DW_OP_const8s, 8 },
		{ DW_OP_constu, 1 }, { DW_OP_consts, 1 }, { DW_OP_pick, 1 },
		{ DW_OP_plus_uconst, 1 }, { DW_OP_skip, 2 }, { DW_OP_bra, 2 },
		{ DW_OP_breg0, 1 }, { DW_OP_breg16, 1 }, { DW_OP_bregx, 2 },
		{ DW_OP_deref_size, 1 },
	};
	u32 i;

	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		u8 bytes[9] = { cases[i].op, 1 };
		u8 *copy = malloc(cases[i].operands);

		assert_true(kuw_expr_check(bytes, cases[i].operands + 1, KUW_WORD));
		/* One byte short. */
		memcpy(copy, bytes, cases[i].operands);
		assert_false(kuw_expr_check(copy, cases[i].operands, KUW_WORD));
		free(copy);
	}
}

static void test_check_length(void **state)
{
	u8 *bytes = malloc(KUW_MAX_EXPR_BYTES + 1);

	memset(bytes, DW_OP_nop, KUW_MAX_EXPR_BYTES + 1);
	assert_true(kuw_expr_check(bytes, KUW_MAX_EXPR_BYTES, KUW_WORD));
	assert_false(kuw_expr_check(bytes, KUW_MAX_EXPR_BYTES + 1, KUW_WORD));
	free(bytes);
}

static void check_i386(struct prog p, u32 want)
{
	u64 value = ~(u64)want;

	reset();
	regs.word = KUW_I386_WORD;
	assert_true(kuw_expr_check(p.bytes, p.len, KUW_I386_WORD));
	assert_int_equal(eval(p, NULL, &value), 0);
	assert_int_equal((u32)value, want);
}

#define CHECK_I386(want, ...)	check_i386(PROG(__VA_ARGS__), want)
#define MINUS(n)		DW_OP_const4s, 0x100 - (n), 0xff, 0xff, 0xff

/* Values have 32 bits, and are signed where DWARF says so. */
static void test_i386(void **state)
{
	CHECK_I386(0x04030201, DW_OP_addr, 1, 2, 3, 4);
	CHECK_I386(1, DW_OP_const4u, 0xff, 0xff, 0xff, 0xff, DW_OP_plus_uconst, 1, DW_OP_lit0,
		   DW_OP_eq);
	CHECK_I386(1, DW_OP_const4u, 0, 0, 0, 0x40, DW_OP_lit4, DW_OP_mul, DW_OP_lit0, DW_OP_eq);
	CHECK_I386(1, DW_OP_const4u, 0, 0, 0, 0x80, DW_OP_lit0, DW_OP_lt);
	CHECK_I386(0xc0000000, DW_OP_const4u, 0, 0, 0, 0x80, DW_OP_lit2, DW_OP_div);
	CHECK_I386(0x80000000, DW_OP_const4u, 0, 0, 0, 0x80, MINUS(1), DW_OP_div);
	CHECK_I386(0xfffffffe % 7, MINUS(2), DW_OP_lit7, DW_OP_mod);
	CHECK_I386(3, MINUS(2), MINUS(5), DW_OP_mod);
	CHECK_I386(0x7fffffff, MINUS(2), DW_OP_lit1, DW_OP_shr);
	CHECK_I386(0, MINUS(2), DW_OP_const1u, 32, DW_OP_shr);
	CHECK_I386(0xffffffff, MINUS(2), DW_OP_lit1, DW_OP_shra);
	CHECK_I386(0xffffffff, MINUS(2), DW_OP_const1u, 40, DW_OP_shra);
	CHECK_I386(0x80000000, DW_OP_lit1, DW_OP_lit31, DW_OP_shl);
	CHECK_I386(0, DW_OP_lit1, MINUS(1), DW_OP_shl);
}

/* What expressions say that need no evaluator; and what does not say it, by one byte or operator. */
static void test_simplify(void **state)
{
	const struct {
		struct prog prog;
		struct kuw_loc loc;	/* how: KUW_EXPR if it stays one */
	} cases[] = {
#define STAYS(...)	{ PROG(__VA_ARGS__), { .how = KUW_EXPR } }
#define IS(way, r, o, a, ...) \
	{ PROG(__VA_ARGS__), { .how = KUW_##way, .reg = (r), .off = (o), .arg = (a) } }
		IS(REG, 3, 8, 0, DW_OP_breg3, 8),
		IS(REG, 15, -8, 0, DW_OP_breg15, 0x78),
		IS(REG, 7, 0x7fffffff, 0, DW_OP_breg7, 0xff, 0xff, 0xff, 0xff, 7),
		STAYS(DW_OP_breg7, 0x80, 0x80, 0x80, 0x80, 8),
		STAYS(DW_OP_lit8),
		STAYS(DW_OP_nop),
		IS(MEM, 6, -16, 0, DW_OP_breg6, 0x70, DW_OP_deref),
		STAYS(DW_OP_breg6, 0x70, DW_OP_dup),
		STAYS(DW_OP_breg6, 0x70, DW_OP_deref_size, 4),
		STAYS(DW_OP_breg6, 0x70, DW_OP_plus_uconst, 8),
		IS(MEM, 6, 0, 255, DW_OP_breg6, 0, DW_OP_deref, DW_OP_plus_uconst, 0xff, 1),
		STAYS(DW_OP_breg6, 0, DW_OP_deref, DW_OP_plus_uconst, 0x80, 2),
		STAYS(DW_OP_breg6, 0, DW_OP_deref, DW_OP_lit8),
		STAYS(DW_OP_breg6, 0, DW_OP_deref, DW_OP_plus_uconst, 8, DW_OP_nop),
	};
	struct kuw_loc loc;
	u32 i;

	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		loc = (struct kuw_loc){ .how = KUW_EXPR };
		assert_int_equal(kuw_expr_simplify(cases[i].prog.bytes, cases[i].prog.len,
						   KUW_WORD, &loc),
				 cases[i].loc.how != KUW_EXPR);
		assert_int_equal(loc.how, cases[i].loc.how);
		assert_int_equal(loc.reg, cases[i].loc.reg);
		assert_int_equal(loc.off, cases[i].loc.off);
		assert_int_equal(loc.arg, cases[i].loc.arg);
	}
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(test_constants),
	cmocka_unit_test(test_registers),
	cmocka_unit_test(test_stack),
	cmocka_unit_test(test_arithmetic),
	cmocka_unit_test(test_comparisons),
	cmocka_unit_test(test_branches),
	cmocka_unit_test(test_memory),
	cmocka_unit_test(test_real),
	cmocka_unit_test(test_faults),
	cmocka_unit_test(test_jumps_out),
	cmocka_unit_test(test_memory_faults),
	cmocka_unit_test(test_deref_sizes),
	cmocka_unit_test(test_unknown_register),
	cmocka_unit_test(test_stack_limit),
	cmocka_unit_test(test_budget),
	cmocka_unit_test(test_initial),
	cmocka_unit_test(test_i386),
	cmocka_unit_test(test_simplify),
	cmocka_unit_test(test_check),
	cmocka_unit_test(test_check_operands),
	cmocka_unit_test(test_check_length),
};

TEST_MAIN(tests)
