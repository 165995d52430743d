// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* Walks over made-up stacks: the frames, and the reason why they end. */
#include <dwarf.h>
#include "test.h"
#include "one_program.h"
#include "budgets.h"

static void test_plain(void **state)
{
	begin(P_RSP);
	program_push(s, 0, P_RA(P_RSP), P_RA(P_START));
	program_check(s, COMPLETE, P_RA(P_RSP), P_RA(P_RSP), P_RA(P_START));
	assert_int_equal(s->result.proven, 3);
}

static void test_outermost(void **state)
{
	begin(P_START);
	program_check(s, COMPLETE, P_RA(P_START));
}

/* The frame pointer is saved by one function and needed by another. */
static void test_frame_pointer(void **state)
{
	begin(P_PUSHED);
	program_push(s, 0, SYNTH_SP(10), P_RA(P_RSP), P_RA(P_RBP));
	program_push(s, 10, SYNTH_SP(20), P_RA(P_RBP));
	program_push(s, 20, 0, P_RA(P_START));
	program_check(s, COMPLETE, P_RA(P_PUSHED), P_RA(P_RSP), P_RA(P_RBP),
		      P_RA(P_RBP), P_RA(P_START));
	assert_int_equal(s->result.proven, 5);
}

/* A call at the end of a function: its return address is in the next one. */
static void test_noreturn(void **state)
{
	begin(P_RSP);
	program_push(s, 0, P_BEGIN(P_RSP + 1), P_RA(P_START));
	program_check(s, COMPLETE, P_RA(P_RSP), P_BEGIN(P_RSP + 1),
		      P_RA(P_START));
}

/* But the innermost frame's ip is where it is. */
static void test_first_instruction(void **state)
{
	begin(P_RSP);
	s->regs.ip = P_BEGIN(P_PUSHED);
	program_push(s, 0, 0, P_RA(P_START));
	program_check(s, COMPLETE, P_BEGIN(P_PUSHED), P_RA(P_START));
}

static void test_plt(void **state)
{
	u32 low;

	for (low = 0; low < 16; low++) {
		begin(P_PLT);
		s->regs.ip = P_BEGIN(P_PLT) + 0x20 + low;
		if (low >= 11)
			program_push(s, 0, 5, P_RA(P_START));
		else
			program_push(s, 0, P_RA(P_START));
		program_check(s, COMPLETE, s->regs.ip, P_RA(P_START));
	}
}

static void test_realigned(void **state)
{
	begin(P_REALIGNED);
	s->regs.r[6] = SYNTH_SP(8);
	program_push(s, 7, SYNTH_SP(21), SYNTH_SP(30));
	program_push(s, 20, P_RA(P_RBP));
	program_push(s, 30, 0, P_RA(P_START));
	program_check(s, COMPLETE, P_RA(P_REALIGNED), P_RA(P_RBP),
		      P_RA(P_START));
}

/* Such a function has popped rbp, and its CFI does not say so. */
static void test_given_back(void **state)
{
	begin(P_GIVEN_BACK);
	s->regs.r[6] = SYNTH_SP(5);
	program_push(s, 0, P_RA(P_RBP));
	program_push(s, 5, SYNTH_SP(20), P_RA(P_RBP));
	program_push(s, 20, 0, P_RA(P_START));
	program_check(s, COMPLETE, P_RA(P_GIVEN_BACK), P_RA(P_RBP), P_RA(P_RBP), P_RA(P_START));
	assert_int_equal(s->result.proven, 4);
	/* It has not yet: rbp points at what it has saved, below its CFA. */
	begin(P_GIVEN_BACK);
	s->regs.r[7] = SYNTH_SP(8);
	s->regs.r[6] = SYNTH_SP(7);
	program_push(s, 7, SYNTH_SP(20), P_RA(P_RBP));
	program_push(s, 20, 0, P_RA(P_START));
	program_check(s, COMPLETE, P_RA(P_GIVEN_BACK), P_RA(P_RBP), P_RA(P_START));
	/* Nor has a function that a call left. */
	begin(P_RSP);
	s->regs.r[6] = SYNTH_SP(5);
	program_push(s, 0, P_RA(P_GIVEN_BACK), P_RA(P_RBP));
	program_push(s, 5, SYNTH_SP(20), P_RA(P_RBP));
	program_push(s, 20, 0, P_RA(P_START));
	program_check(s, COMPLETE, P_RA(P_RSP), P_RA(P_GIVEN_BACK), P_RA(P_RBP), P_RA(P_START));
}

static void test_r10(void **state)
{
	begin(P_R10);
	s->regs.r[10] = SYNTH_SP(5);
	program_push(s, 4, P_RA(P_START));
	program_check(s, COMPLETE, P_RA(P_R10), P_RA(P_START));
	/* In a caller its value is lost: nobody saves it. */
	begin(P_RSP);
	s->regs.r[10] = SYNTH_SP(5);
	program_push(s, 0, P_RA(P_R10));
	program_push(s, 4, P_RA(P_START));
	program_check(s, REG_UNKNOWN, P_RA(P_RSP), P_RA(P_R10));
}

/* A register that is saved two calls below the frame that needs it. */
static void test_callee_saved(void **state)
{
	begin(P_RSP);
	program_push(s, 0, P_RA(P_SAVES));
	program_push(s, 5, 12, SYNTH_SP(7), SYNTH_SP(20), P_RA(P_RSP),
		     P_RA(P_RBX));
	program_push(s, 21, P_RA(P_START));
	program_check(s, COMPLETE, P_RA(P_RSP), P_RA(P_SAVES), P_RA(P_RSP),
		      P_RA(P_RBX), P_RA(P_START));
	assert_int_equal(s->result.proven, 5);
	/* Not saved at all: it still has its value. */
	begin(P_RSP);
	s->regs.r[3] = SYNTH_SP(20);
	program_push(s, 0, P_RA(P_RBX));
	program_push(s, 21, P_RA(P_START));
	program_check(s, COMPLETE, P_RA(P_RSP), P_RA(P_RBX), P_RA(P_START));
}

static void test_ra_in_register(void **state)
{
	begin(P_RA_IN_RAX);
	s->regs.r[0] = P_RA(P_START);
	program_check(s, COMPLETE, P_RA(P_RA_IN_RAX), P_RA(P_START));
	/* A call clobbers rax. */
	begin(P_RSP);
	s->regs.r[0] = P_RA(P_START);
	program_push(s, 0, P_RA(P_RA_IN_RAX));
	program_check(s, REG_UNKNOWN, P_RA(P_RSP), P_RA(P_RA_IN_RAX));
}

static void test_expression(void **state)
{
	begin(P_EXPR);
	program_push(s, 0, P_RA(P_EXPR), P_RA(P_START));
	program_check(s, COMPLETE, P_RA(P_EXPR), P_RA(P_EXPR), P_RA(P_START));
}

static void test_value(void **state)
{
	begin(P_VALUE);
	program_push(s, 0, P_RA(P_RBP), 0, 0, 7, P_RA(P_START));
	program_check(s, COMPLETE, P_RA(P_VALUE), P_RA(P_RBP), P_RA(P_START));
}

/* rbp is lost, which matters only to frames that need it. */
static void test_lost_rbp(void **state)
{
	begin(P_LOSES_RBP);
	program_push(s, 0, P_RA(P_RSP), P_RA(P_START));
	program_check(s, COMPLETE, P_RA(P_LOSES_RBP), P_RA(P_RSP),
		      P_RA(P_START));
	begin(P_LOSES_RBP);
	s->regs.r[6] = SYNTH_SP(10);
	program_push(s, 0, P_RA(P_RBP));
	program_push(s, 10, 0, P_RA(P_START));
	program_check(s, REG_UNKNOWN, P_RA(P_LOSES_RBP), P_RA(P_RBP));
}

/* rsp is lost, which nobody can do without. */
static void test_lost_rsp(void **state)
{
	begin(P_LOSES_RSP);
	program_push(s, 0, P_RA(P_RSP), P_RA(P_START));
	program_check(s, REG_UNKNOWN, P_RA(P_LOSES_RSP), P_RA(P_RSP));
	begin(P_RSP);
	program_push(s, 0, P_RA(P_LOSES_RSP), P_RA(P_RBX), P_RA(P_START));
	program_check(s, REG_UNKNOWN, P_RA(P_RSP), P_RA(P_LOSES_RSP), P_RA(P_RBX));
}

static void test_cfa(void **state)
{
	begin(P_RSP);
	program_push(s, 0, P_RA(P_BACK), P_RA(P_START));
	program_check(s, CFA_BACK, P_RA(P_RSP), P_RA(P_BACK));
	program_push(s, 0, P_RA(P_STILL));
	program_check(s, CFA_BACK, P_RA(P_RSP), P_RA(P_STILL));
	begin(P_ODD);
	program_check(s, CFA_BAD, P_RA(P_ODD));
	/* The stack pointer itself. */
	begin(P_RSP);
	s->regs.r[7]++;
	program_check(s, CFA_BAD, P_RA(P_RSP));
	/* The frame pointer: misaligned, in the kernel, wrapped. */
	begin(P_RBP);
	s->regs.r[7] = SYNTH_SP(10);
	s->regs.r[6] = SYNTH_SP(20) + 4;
	program_check(s, CFA_BAD, P_RA(P_RBP));
	s->regs.r[6] = 0xffff800000000000;
	program_check(s, STACK_FAULT, P_RA(P_RBP));
	s->regs.r[6] = -16ULL;
	program_check(s, STACK_FAULT, P_RA(P_RBP));
}

/*
 * A function that was interrupted behind the pop of its return address, or whose FDE
 * describes a call that it will make: the return address is in the red zone, or a value.
 */
static void test_red_zone(void **state)
{
	begin(P_STILL);
	s->regs.r[7] = SYNTH_SP(4);
	program_push(s, 3, P_RA(P_RSP), P_RA(P_START));
	program_check(s, COMPLETE, P_RA(P_STILL), P_RA(P_RSP), P_RA(P_START));
	assert_int_equal(s->result.proven, 3);
	begin(P_BACK);
	s->regs.r[7] = SYNTH_SP(4);
	program_push(s, 2, P_RA(P_RSP), P_RA(P_START));
	program_check(s, COMPLETE, P_RA(P_BACK), P_RA(P_RSP), P_RA(P_START));
	/* Once: its caller has called. */
	program_push(s, 2, P_RA(P_BACK));
	program_check(s, CFA_BACK, P_RA(P_BACK), P_RA(P_BACK));
}

/*
 * Text that lies on the stack, where it can be read: one function, whose CFA is
 * rsp+8, and as many bytes without an FDE.
 */
#define TEXT_AT		1500
#define TEXT_LEN	0x100
#define TEXT_IP(off)	(SYNTH_SP(TEXT_AT) + (off))

/* @eh_frame tells of it; it is freed. */
static void begin_text_by(struct buf *eh_frame)
{
	struct kuw_mapping *m;

	drop(NULL);
	s = synth_new(eh_frame);
	buf_free(eh_frame);
	m = &s->map->mappings[0];
	m->bias = TEXT_IP(0) - BUILD_TEXT;
	m->start = TEXT_IP(0);
	m->end = TEXT_IP(2 * TEXT_LEN);
}

static void begin_text_of(struct prog prog)
{
	struct buf b = { 0 };

	build_one(&b, BUILD_TEXT, TEXT_LEN, prog);
	begin_text_by(&b);
	s->regs.ip = TEXT_IP(8);
}

static void begin_text(void)
{
	begin_text_of(PROG(DW_CFA_nop));
}

/* As glibc 2.19's _L_lock_*: CFA = rsp-128, RA = rip+13. Below that nothing is kept. */
static void test_red_zone_end(void **state)
{
	begin_text_of(PROG(DW_CFA_def_cfa_sf, 7, 16,
			   DW_CFA_val_expression, 16, 2, DW_OP_breg16, 13));
	s->regs.r[7] = SYNTH_SP(40);
	s->regs.r[6] = 0;
	program_check(s, CFA_BACK, TEXT_IP(8), TEXT_IP(21));
	s->regs.ip = TEXT_IP(TEXT_LEN - 12);
	program_check(s, UNPROVEN, TEXT_IP(TEXT_LEN - 12), TEXT_IP(TEXT_LEN + 1));
	begin_text_of(PROG(DW_CFA_def_cfa_sf, 7, 17,
			   DW_CFA_val_expression, 16, 2, DW_OP_breg16, 13));
	s->regs.r[7] = SYNTH_SP(40);
	program_check(s, CFA_BACK, TEXT_IP(8));
}

/* Code that runs on another stack, which lies below: rbp or another register leads there. */
static void test_other_stack(void **state)
{
	/* At once, and behind frames that the loop follows. */
	begin(P_RBP);
	s->regs.r[7] = SYNTH_SP(100);
	s->regs.r[6] = SYNTH_SP(10);
	program_push(s, 10, SYNTH_SP(20), P_RA(P_RSP), P_RA(P_RBP));
	program_push(s, 20, 0, P_RA(P_START));
	program_check(s, COMPLETE, P_RA(P_RBP), P_RA(P_RSP), P_RA(P_RBP), P_RA(P_START));
	assert_int_equal(s->result.proven, 4);
	s->regs.ip = P_RA(P_RSP);
	program_push(s, 100, P_RA(P_RSP), P_RA(P_RBP));
	program_check(s, COMPLETE, P_RA(P_RSP), P_RA(P_RSP), P_RA(P_RBP), P_RA(P_RSP),
		      P_RA(P_RBP), P_RA(P_START));
	/* A register that needs the way of all registers. */
	s->regs.r[3] = SYNTH_SP(30);
	program_push(s, 101, P_RA(P_RBX));
	program_push(s, 31, P_RA(P_START));
	program_check(s, COMPLETE, P_RA(P_RSP), P_RA(P_RSP), P_RA(P_RBX), P_RA(P_START));
	/* An expression. */
	begin(P_REALIGNED);
	s->regs.r[7] = SYNTH_SP(100);
	s->regs.r[6] = SYNTH_SP(110);
	program_push(s, 109, SYNTH_SP(21), SYNTH_SP(30));
	program_push(s, 20, P_RA(P_RBP));
	program_push(s, 30, 0, P_RA(P_START));
	program_check(s, COMPLETE, P_RA(P_REALIGNED), P_RA(P_RBP), P_RA(P_START));
}

/* Up and down for ever: so many times. */
static void test_other_stacks(void **state)
{
	begin(P_RBP);
	s->regs.r[6] = SYNTH_SP(10);
	program_push(s, 10, SYNTH_SP(20), P_RA(P_RBP));
	program_push(s, 20, SYNTH_SP(30), P_RA(P_RBP));
	program_push(s, 30, SYNTH_SP(10), P_RA(P_RBP));
	synth_walk(s, KUNWIND_MAX_FRAMES);
	assert_stop(s->result.stop, CFA_BACK);
	assert_int_equal(s->result.count, 1 + 3 * (KUW_MAX_STACK_SWITCHES + 1));
}

/* The stack pointer need not move where the return address was popped. */
static void test_popped(void **state)
{
	begin(P_POPPED);
	s->regs.r[0] = P_RA(P_RSP);
	program_push(s, 0, P_RA(P_START));
	program_check(s, COMPLETE, P_RA(P_POPPED), P_RA(P_RSP), P_RA(P_START));
	/* A frame that has made a call has not: it could be its own caller. */
	begin(P_SAVES);
	program_push(s, 7, P_RA(P_POPPED));
	program_check(s, CFA_BACK, P_RA(P_SAVES), P_RA(P_POPPED));
}

/* The CFA is no place on the stack: where the stack pointer goes counts. */
static void test_leaves(void **state)
{
	begin(P_LEAVES);
	s->regs.r[1] = P_RA(P_RSP);
	s->regs.r[5] = SYNTH_SP(0) - 64;
	s->regs.r[7] = SYNTH_SP(4);
	s->regs.r[8] = SYNTH_SP(10);
	program_push(s, 10, P_RA(P_START));
	program_check(s, COMPLETE, P_RA(P_LEAVES), P_RA(P_RSP), P_RA(P_START));
	/* It is there already. */
	s->regs.r[7] = SYNTH_SP(10);
	program_check(s, COMPLETE, P_RA(P_LEAVES), P_RA(P_RSP), P_RA(P_START));
	/* It is another stack. */
	s->regs.r[8] = SYNTH_SP(3);
	program_push(s, 3, P_RA(P_START));
	program_check(s, COMPLETE, P_RA(P_LEAVES), P_RA(P_RSP), P_RA(P_START));
	s->regs.r[5]++;
	program_check(s, CFA_BAD, P_RA(P_LEAVES));
}

/* Return: the kind of the rule after the first row of a function. */
static u32 kind_in(const struct kuw_table *table, u32 function)
{
	return kuw_rule_kind(kuw_table_find(table, P_RA(function) - P_BEGIN(0)));
}

/* Rules that just fit into four bytes, and those that do not. */
static void test_room(void **state)
{
	begin(P_RSP);
	program_push(s, 0, P_RA(P_LARGE));
	program_push(s, 65536 - 16, SYNTH_SP(65540));
	program_push(s, 65536 - 1, P_RA(P_RBP));
	program_push(s, 65540, 0, P_RA(P_LARGER));
	program_push(s, 65542 + 65535, P_RA(P_FAR));
	program_push(s, 131096 - 17, SYNTH_SP(131100));
	program_push(s, 131096 - 1, P_RA(P_RBP));
	program_push(s, 131100, 0, P_RA(P_ABOVE), P_RA(P_RBP));
	program_push(s, 131103 + 1, SYNTH_SP(131110));
	program_push(s, 131110, 0, P_RA(P_START));
	program_check(s, COMPLETE, P_RA(P_RSP), P_RA(P_LARGE), P_RA(P_RBP),
		      P_RA(P_LARGER), P_RA(P_FAR), P_RA(P_RBP), P_RA(P_ABOVE),
		      P_RA(P_RBP), P_RA(P_START));
	assert_int_equal(kind_in(s->table.table, P_LARGE), KUW_KIND_RSP);
	assert_int_equal(kind_in(s->table.table, P_LARGER), KUW_KIND_FULL);
	assert_int_equal(kind_in(s->table.table, P_FAR), KUW_KIND_FULL);
	assert_int_equal(kind_in(s->table.table, P_ABOVE), KUW_KIND_RSP);
	assert_int_equal(kind_in(s->table.table, P_START), KUW_KIND_END);
}

/* What the cache has of another map is never used, whichever epoch comes next. */
static void test_other_maps(void **state)
{
	struct kuw_rule_cache *cache;
	u32 i;

	begin(P_RSP);
	cache = host_cache(&s->cache);
	program_push(s, 0, P_RA(P_RSP), P_RA(P_START));
	/* The walk's epoch is 1, which is that of the first walk after all others, too. */
	program_check(s, COMPLETE, P_RA(P_RSP), P_RA(P_RSP), P_RA(P_START));
	assert_int_equal(cache->epochs, 1);
	/* Where the second frame was looked up: its entry is still there. */
	s->regs.ip = P_RA(P_RSP) - 1;
	s->regs.r[7] = SYNTH_SP(1);
	assert_true(kuw_cache_at(cache->entries, SYNTH_SP(1))->pc == s->regs.ip);
	s->map->count = 0;
	cache->epochs = ~0u - 1;
	for (i = 0; i < 3; i++)
		program_check(s, NO_MAPPING, P_RA(P_RSP) - 1, P_RA(P_START));
	assert_int_equal(cache->epochs, 2);
	/* Nor does the cache remember the first map's epoch, which is another map's now. */
	s->map->number = 0;
	program_check(s, NO_MAPPING, P_RA(P_RSP) - 1, P_RA(P_START));
	assert_int_equal(cache->epochs, 3);
}

/* Maps that take turns find their entries again, until another map takes their place. */
static void test_turns(void **state)
{
	begin(P_RSP);
	program_push(s, 0, P_RA(P_RSP), P_RA(P_START));
	program_check(s, COMPLETE, P_RA(P_RSP), P_RA(P_RSP), P_RA(P_START));
	/* From the second frame on, which has a place of its own. No walk finds a table any more. */
	s->regs.ip = P_RA(P_RSP) - 1;
	s->regs.r[7] = SYNTH_SP(1);
	s->map->count = 0;
	program_check(s, NO_MAPPING, P_RA(P_RSP) - 1, P_RA(P_START));
	s->map->number = 0;
	program_check(s, COMPLETE, P_RA(P_RSP) - 1, P_RA(P_START));
	s->map->number = KUW_CACHE_MAPS;
	program_check(s, NO_MAPPING, P_RA(P_RSP) - 1, P_RA(P_START));
	s->map->number = 0;
	program_check(s, NO_MAPPING, P_RA(P_RSP) - 1, P_RA(P_START));
}

/*
 * Frames of other functions at the same place of the cache, over and over: an entry holds
 * for its address alone. Stacks that are 32 KiB apart have the same places.
 */
static void test_same_place(void **state)
{
	static const struct {
		u32 function;
		u32 words;
	} second[] = { { P_RSP, 1 }, { P_PUSHED, 2 }, { P_SAVES, 8 } };
	u32 i, at, function;

	begin(P_RSP);
	for (i = 0; i < 100; i++) {
		at = i % 7 * (KUW_CACHE_BYTES / 8);
		function = second[i % 3].function;
		s->regs.r[7] = SYNTH_SP(at);
		program_push(s, at, P_RA(function));
		program_push(s, at + second[i % 3].words, P_RA(P_START));
		kuw_port_set_window(SYNTH_STACK, sizeof(s->stack),
				    (u64)s->stack - SYNTH_STACK);
		kuw_walk(s->map, host_cache(&s->cache), &s->regs, s->frames, 64,
			 &s->result);
		assert_stop(s->result.stop, COMPLETE);
		assert_int_equal(s->result.count, 3);
		assert_true(s->frames[1] == P_RA(function));
		assert_true(s->frames[2] == P_RA(P_START));
	}
}

/*
 * Stacks of a few functions that call each other and themselves in any order: the
 * cache has each place from an earlier one.
 */
static void test_orders(void **state)
{
	u64 frames[64], words[64];
	struct kuw_result result;
	u32 seed = 1, n, i, function;

	begin(P_RSP);
	kuw_port_set_window(SYNTH_STACK, sizeof(s->stack),
			    (u64)s->stack - SYNTH_STACK);
	for (n = 0; n < 500; n++) {
		function = 0;
		for (i = 0; i < ARRAY_SIZE(words) - 2; i++) {
			seed = seed * 1103515245 + 12345;
			/* The same again, or one of three others. */
			if (seed >> 16 & 1)
				function = seed >> 17 & 3;
			words[i] = P_RA(P_RSP) + function;
		}
		words[i] = P_RA(P_START);
		program_words(s, 0, words, i + 1);
		kuw_walk(s->map, host_cache(&s->cache), &s->regs, frames,
			 ARRAY_SIZE(frames), &result);
		assert_stop(result.stop, COMPLETE);
		assert_int_equal(result.count, i + 2);
		assert_true(frames[0] == s->regs.ip);
		assert_memory_equal(frames + 1, words, 8 * (i + 1));
	}
}

/* A frame pointer that leads back to itself. */
static void test_loop(void **state)
{
	begin(P_RBP);
	s->regs.r[6] = SYNTH_SP(10);
	program_push(s, 10, SYNTH_SP(10), P_RA(P_RBP));
	program_check(s, CFA_BACK, P_RA(P_RBP), P_RA(P_RBP));
}

static void test_bad_ra(void **state)
{
	static const u64 bad[] = {
		0, 1, 2, KUW_LEAST_ADDRESS - 1, 1ULL << 47, 0xffffffff81000000, ~0ULL,
		KUW_PORT_USER_END, KUW_PORT_USER_END + 1,
	};
	u32 i;

	for (i = 0; i < ARRAY_SIZE(bad); i++) {
		begin(P_RSP);
		program_push(s, 0, bad[i]);
		program_check(s, RA_BAD, P_RA(P_RSP));
	}
	/* Nothing is mapped there, as far as is known. */
	begin(P_RSP);
	program_push(s, 0, KUW_LEAST_ADDRESS);
	program_check(s, NO_MAPPING, P_RA(P_RSP), KUW_LEAST_ADDRESS);
}

/* rbx and r12 to r15, in DWARF's numbers. */
static const u8 preserved[] = { 3, 12, 13, 14, 15 };

static void zero_registers(void)
{
	u32 i;

	for (i = 0; i < ARRAY_SIZE(preserved); i++)
		s->regs.r[preserved[i]] = 0;
}

/* A fiber's first function has a null where a return address would be, where its stack starts. */
static void test_null_ra(void **state)
{
	const u32 top = KUW_PAGE / 8;
	u32 i;

	begin(P_RSP);
	zero_registers();
	/* A function has written zeros beyond its variables: they are in these registers, too. */
	program_push(s, 0, P_RA(P_RSP), 0);
	program_check(s, RA_BAD, P_RA(P_RSP), P_RA(P_RSP));
	s->regs.r[7] = SYNTH_SP(top - 2);
	program_push(s, top - 2, P_RA(P_RSP), 0);
	program_check(s, COMPLETE, P_RA(P_RSP), P_RA(P_RSP));
	assert_int_equal(s->result.proven, 2);
	/* Elsewhere, where unwind information is wrong, the null is a variable. */
	for (i = 0; i < ARRAY_SIZE(preserved); i++) {
		zero_registers();
		s->regs.r[preserved[i]] = 1;
		program_check(s, RA_BAD, P_RA(P_RSP), P_RA(P_RSP));
	}
	/* It has realigned its stack, so its rule is not plain. */
	begin(P_RSP);
	zero_registers();
	s->regs.r[6] = SYNTH_SP(10);
	program_push(s, 0, P_RA(P_REALIGNED));
	program_push(s, 9, SYNTH_SP(top), 0);
	program_push(s, top - 1, 0);
	program_check(s, COMPLETE, P_RA(P_RSP), P_RA(P_REALIGNED));
	assert_int_equal(s->result.proven, 2);
	/* It says where else its return address is: no call has pushed that. */
	begin(P_RSP);
	s->regs.r[3] = SYNTH_SP(30);
	s->regs.r[7] = SYNTH_SP(top - 2);
	program_push(s, top - 2, P_RA(P_RA_EXPR), 1);
	program_push(s, 31, 0);
	program_check(s, RA_BAD, P_RA(P_RSP), P_RA(P_RA_EXPR));
	/* An interrupted function need not have CFI for each of its instructions. */
	begin(P_RSP);
	zero_registers();
	s->regs.r[7] = SYNTH_SP(top - 1);
	program_push(s, top - 1, 0);
	program_check(s, RA_BAD, P_RA(P_RSP));
	/* Nor is a guess a proof of where it leads. */
	begin(P_RSP);
	zero_registers();
	s->regs.r[6] = SYNTH_SP(top - 3);
	program_push(s, 0, P_RA(P_NO_FDE));
	program_push(s, top - 3, SYNTH_SP(top), P_RA(P_RSP), 0);
	program_check(s, RA_BAD, P_RA(P_RSP), P_RA(P_NO_FDE), P_RA(P_RSP));
	/* Nor is where a function leads that may be about to go on in a handler. */
	begin(P_EH_RETURN);
	zero_registers();
	s->regs.r[7] = SYNTH_SP(top - 4);
	program_push(s, top - 4, 1, 2, P_RA(P_RSP), 0);
	program_check(s, RA_BAD, P_RA(P_EH_RETURN), P_RA(P_RSP));
	/* No other address that is bad is one that a maker of stacks leaves. */
	begin(P_RSP);
	zero_registers();
	program_push(s, 0, P_RA(P_RSP), ~0ULL);
	program_check(s, RA_BAD, P_RA(P_RSP), P_RA(P_RSP));
}

static void test_faults(void **state)
{
	/* The return address is just outside. */
	begin(P_RSP);
	s->regs.r[7] = SYNTH_SP(SYNTH_WORDS);
	program_check(s, STACK_FAULT, P_RA(P_RSP));
	/* The saved rbp is. It is lost, as any other register: only a frame that needs it ends. */
	begin(P_PUSHED);
	s->regs.r[7] = SYNTH_SP(-1);
	program_push(s, 0, P_RA(P_RSP), P_RA(P_START));
	program_check(s, COMPLETE, P_RA(P_PUSHED), P_RA(P_RSP), P_RA(P_START));
	program_push(s, 0, P_RA(P_RSP), P_RA(P_RBP));
	program_check(s, REG_UNKNOWN, P_RA(P_PUSHED), P_RA(P_RSP), P_RA(P_RBP));
	begin(P_RSP);
	s->regs.r[7] = 0;
	program_check(s, STACK_FAULT, P_RA(P_RSP));
	begin(P_RSP);
	s->regs.r[7] = ~7ULL;
	synth_walk(s, 10);
	assert_int_equal(s->result.count, 1);
}

static void test_expression_faults(void **state)
{
	begin(P_ENDLESS);
	program_check(s, EXPR_BUDGET, P_RA(P_ENDLESS));
	begin(P_DIVIDES);
	program_check(s, EXPR_BAD, P_RA(P_DIVIDES));
	begin(P_REALIGNED);
	s->regs.r[6] = SYNTH_SP(-1);
	program_check(s, STACK_FAULT, P_RA(P_REALIGNED));
}

static void test_nowhere(void **state)
{
	const u64 far = 0x400000;

	begin(P_RSP);
	program_push(s, 0, far);
	program_check(s, NO_MAPPING, P_RA(P_RSP), far);
	s->map->incomplete = true;
	program_check(s, INCOMPLETE_MAP, P_RA(P_RSP), far);

	begin(P_RSP);
	s->map->mappings[0].kind = KUW_MAPPING_NO_TABLE;
	s->map->mappings[0].table = NULL;
	program_check(s, NO_TABLE, P_RA(P_RSP));

	begin(P_RSP);
	program_push(s, 0, P_RA(P_NO_FDE));
	program_check(s, NO_RULE, P_RA(P_RSP), P_RA(P_NO_FDE));

	/* Beyond the table's last row, but mapped. */
	begin(P_RSP);
	program_push(s, 0, P_BEGIN(P_NR) + 0x10);
	program_check(s, NO_RULE, P_RA(P_RSP), P_BEGIN(P_NR) + 0x10);

	/* In a mapping of its own, far behind the last row. */
	begin(P_RSP);
	s->map->count = 2;
	s->map->mappings[1] = s->map->mappings[0];
	s->map->mappings[1].start = SYNTH_IP(1ULL << 30);
	s->map->mappings[1].end = SYNTH_IP(1ULL << 30) + 0x1000;
	program_push(s, 0, SYNTH_IP(1ULL << 30) + 0x10);
	program_check(s, NO_RULE, P_RA(P_RSP), SYNTH_IP(1ULL << 30) + 0x10);

	begin(P_RSP);
	s->map->count = 0;
	program_check(s, NO_MAPPING, P_RA(P_RSP));
}

/*
 * psABI 3.4.1: the outermost frame has a frame pointer of 0. So has any other without
 * frame pointers, if it keeps a number there.
 */
static void test_null_frame_pointer(void **state)
{
	begin(P_PUSHED);
	program_push(s, 0, 0, P_RA(P_NO_FDE), P_RA(P_RSP), P_RA(P_START));
	program_check(s, UNPROVEN, P_RA(P_PUSHED), P_RA(P_NO_FDE));
	assert_int_equal(s->result.proven, 2);
	/* A file without a table. */
	s->map->count = 2;
	s->stack[1] = 0x400010;
	s->map->mappings[1] = s->map->mappings[0];
	s->map->mappings[0] = (struct kuw_mapping){
		.start = 0x400000, .end = 0x401000, .kind = KUW_MAPPING_NO_TABLE,
	};
	program_check(s, UNPROVEN, P_RA(P_PUSHED), 0x400010);
}

static void map_trampoline(u64 at)
{
	s->map->count = 2;
	s->map->mappings[1] = (struct kuw_mapping){
		.start = at, .end = at + 0x1000, .kind = KUW_MAPPING_URETPROBE,
	};
}

/*
 * Code without an FDE is the outermost frame if no address of code lies between its stack
 * pointer and the process's first word.
 */
static void test_first_word(void **state)
{
	const u32 first = 20;
	u32 at;

	begin(P_RSP);
	s->regs.r[6] = 0x123456;
	kuw_port_stack_first = SYNTH_SP(first);
	for (at = first - 16; at < first + 16; at++) {
		s->regs.r[7] = SYNTH_SP(at - 1);
		program_push(s, at - 1, P_RA(P_NO_FDE));
		if (at >= first - 8 && at < first + 8)
			program_check(s, COMPLETE, P_RA(P_RSP), P_RA(P_NO_FDE));
		else
			program_check(s, NO_RULE, P_RA(P_RSP), P_RA(P_NO_FDE));
		s->stack[at - 1] = 1;
	}
	/* What a function has in registers that it called another one with is no return address. */
	s->regs.r[6] = P_RA(P_RSP);
	s->regs.r[7] = SYNTH_SP(first - 1);
	program_push(s, first - 1, P_RA(P_NO_FDE));
	program_check(s, COMPLETE, P_RA(P_RSP), P_RA(P_NO_FDE));
	s->stack[first - 1] = 1;
	s->regs.r[6] = 0x123456;
	/* It was called, or makes the call now. */
	s->regs.r[7] = SYNTH_SP(first - 3);
	program_push(s, first - 3, P_RA(P_NO_FDE), 0, P_RA(P_RSP), 1);
	program_check(s, COMPLETE, P_RA(P_RSP), P_RA(P_NO_FDE), P_RA(P_RSP));
	assert_int_equal(s->result.proven, 2);
	program_push(s, first - 1, 0, P_RA(P_RSP));
	program_check(s, NO_RULE, P_RA(P_RSP), P_RA(P_NO_FDE));
	/* Start code has popped its arguments, and has called. */
	program_push(s, first - 1, 0, 1);
	for (at = first; at < first + KUW_START_WORDS + 8; at++) {
		s->stack[at] = P_RA(P_RSP);
		if (at < first + KUW_START_WORDS)
			program_check(s, NO_RULE, P_RA(P_RSP), P_RA(P_NO_FDE));
		else
			program_check(s, COMPLETE, P_RA(P_RSP), P_RA(P_NO_FDE));
		s->stack[at] = 1;
	}
	/* As many words from its stack pointer, if that is above the first one. */
	s->regs.r[7] = SYNTH_SP(first + 5);
	program_push(s, first + 5, P_RA(P_NO_FDE));
	for (at = first + KUW_START_WORDS; at < first + KUW_START_WORDS + 8; at++) {
		s->stack[at] = P_RA(P_RSP);
		if (at < first + 6 + KUW_START_WORDS)
			program_check(s, NO_RULE, P_RA(P_RSP), P_RA(P_NO_FDE));
		else
			program_check(s, COMPLETE, P_RA(P_RSP), P_RA(P_NO_FDE));
		s->stack[at] = 1;
	}
	s->stack[first + 5] = 1;
	s->regs.r[7] = SYNTH_SP(first - 3);
	/* What is not mapped, as far as is known, may be code nevertheless. */
	program_check(s, COMPLETE, P_RA(P_RSP), P_RA(P_NO_FDE));
	s->map->incomplete = true;
	program_check(s, NO_RULE, P_RA(P_RSP), P_RA(P_NO_FDE));
	s->map->incomplete = false;
	/* Interrupted, at the first instruction and where the stack is not aligned. */
	s->regs.ip = P_BEGIN(P_NO_FDE);
	s->regs.r[7] = SYNTH_SP(first);
	program_check(s, COMPLETE, P_BEGIN(P_NO_FDE));
	s->regs.r[7]++;
	program_check(s, NO_RULE, P_BEGIN(P_NO_FDE));
	/* It may have popped its return address. */
	s->regs.r[7] = SYNTH_SP(first);
	s->regs.r[1] = P_RA(P_RSP);
	program_check(s, NO_RULE, P_BEGIN(P_NO_FDE));
	s->regs.r[1] = 0;
	/* Called by a JIT compiler's code, which no map has. */
	s->regs.r[7] = SYNTH_SP(first - 1);
	program_push(s, first - 1, SYNTH_SP(first - 10));
	program_check(s, COMPLETE, P_BEGIN(P_NO_FDE));
	s->stack[first - 11] = 0x9090d0ff00000000;		/* call *%rax, and two bytes more */
	s->stack[first - 1] -= 2;
	program_check(s, NO_MAPPING, P_BEGIN(P_NO_FDE), SYNTH_SP(first - 10) - 2);
	assert_int_equal(s->result.proven, 1);
	/* Above the first word are the arguments: this one ends with U+8A08 and a slash. */
	s->stack[first - 1] = SYNTH_SP(first + 20);
	s->stack[first + 19] = 0x002f88a8e8000000;
	program_check(s, COMPLETE, P_BEGIN(P_NO_FDE));
	/* It has a uretprobe, of which nothing more is known; then the kernel knows its caller. */
	map_trampoline(0x7fffffffe000);
	s->stack[first - 1] = 0x7fffffffe000;
	program_check(s, NO_MAPPING, P_BEGIN(P_NO_FDE), 0x7fffffffe000);
	kuw_port_uretprobe_slot = SYNTH_SP(first - 1);
	kuw_port_uretprobe_ra = P_RA(P_START);
	program_check(s, COMPLETE, P_BEGIN(P_NO_FDE), P_RA(P_START));
	assert_int_equal(s->result.proven, 1);
	kuw_port_uretprobe_slot = 0;
	s->map->count = 1;
	/* The first word cannot be read. */
	kuw_port_stack_first = SYNTH_SP(SYNTH_WORDS);
	s->regs.r[7] = SYNTH_SP(SYNTH_WORDS);
	program_check(s, NO_RULE, P_BEGIN(P_NO_FDE));
	kuw_port_stack_first = 0;
}

/*
 * The start code has an FDE, whose rule is that of a function that was called: as at the first
 * instruction of _start in glibc with CET, and in start code that is written in C. What would be
 * its return address is argc.
 */
static void test_argument_count(void **state)
{
	const u32 first = 3;
	u64 argc;

	begin(P_RSP);
	kuw_port_stack_first = SYNTH_SP(first);
	/* No more than 699,050 arguments fit. */
	for (argc = 1; argc < 1 << 20; argc *= 2) {
		program_push(s, first - 1, P_RA(P_RSP), argc);
		s->regs.r[7] = SYNTH_SP(first - 1);
		program_check(s, COMPLETE, P_RA(P_RSP), P_RA(P_RSP));
		assert_int_equal(s->result.proven, 2);
	}
	s->regs.r[7] = SYNTH_SP(first);
	program_check(s, COMPLETE, P_RA(P_RSP));
	s->map->incomplete = true;
	program_check(s, INCOMPLETE_MAP, P_RA(P_RSP));
	s->map->incomplete = false;
	/* It may have popped its return address. */
	s->regs.r[1] = P_RA(P_RSP);
	program_check(s, UNPROVEN, P_RA(P_RSP));
	s->regs.r[1] = 0;
	/* Or the rule is that of before a pop, and the return address is where rsp points to. */
	s->regs.ip = P_RA(P_PUSHED);
	s->regs.r[7] = SYNTH_SP(first - 1);
	program_push(s, first - 1, P_RA(P_RSP), 1);
	program_check(s, UNPROVEN, P_RA(P_PUSHED));
	s->regs.ip = P_RA(P_RSP);
	s->regs.r[7] = SYNTH_SP(first);
	/* It is no return address elsewhere either, but then nothing says that the stack starts. */
	kuw_port_stack_first = SYNTH_SP(first + 1);
	s->stack[first] = 1;
	program_check(s, RA_BAD, P_RA(P_RSP));
	kuw_port_stack_first = 0;
}

/* Where vm.mmap_min_addr allows it, there is code at addresses that argc could be. */
static void test_low_code(void **state)
{
#define LOW(address)	((address) - SYNTH_IP(0) + 0x8000)
	struct kuw_mapping *m;

	begin(P_RSP);
	m = &s->map->mappings[0];
	m->start = LOW(m->start);
	m->end = LOW(m->end);
	m->bias = LOW(m->bias);
	s->regs.ip = LOW(P_RA(P_RSP));
	kuw_port_stack_first = SYNTH_SP(0);
	program_push(s, 0, LOW(P_RA(P_RSP)), LOW(P_RA(P_START)));
	program_check(s, COMPLETE, LOW(P_RA(P_RSP)), LOW(P_RA(P_RSP)), LOW(P_RA(P_START)));
	kuw_port_stack_first = 0;
	/* Behind the last page there is none, whatever is mapped before. */
	s->map->count = 2;
	s->map->mappings[1] = (struct kuw_mapping){
		.start = KUW_PORT_USER_END - 0x1000, .end = KUW_PORT_USER_END,
		.kind = KUW_MAPPING_NO_TABLE,
	};
	program_push(s, 0, KUW_PORT_USER_END);
	program_check(s, RA_BAD, LOW(P_RA(P_RSP)));
}

/* A function with a uretprobe seems to return to the kernel's trampoline. */
static void test_uretprobe(void **state)
{
	const u64 trampoline = 0x7fffffffe000;

	begin(P_RSP);
	map_trampoline(trampoline);
	program_push(s, 0, P_RA(P_RSP), trampoline, P_RA(P_START));
	kuw_port_uretprobe_slot = SYNTH_SP(1);
	kuw_port_uretprobe_ra = P_RA(P_RSP);
	program_check(s, COMPLETE, P_RA(P_RSP), P_RA(P_RSP), P_RA(P_RSP),
		      P_RA(P_START));
	assert_int_equal(s->result.proven, 4);
	/* With room for no more than the frame that is replaced. */
	synth_walk(s, 3);
	assert_stop(s->result.stop, CAPACITY);
	assert_int_equal(s->result.count, 3);
	assert_true(s->frames[2] == P_RA(P_RSP));
	/* Another slot's, or the trampoline itself: no way on. */
	kuw_port_uretprobe_slot = SYNTH_SP(2);
	program_check(s, NO_MAPPING, P_RA(P_RSP), P_RA(P_RSP), trampoline);
	kuw_port_uretprobe_slot = SYNTH_SP(1);
	kuw_port_uretprobe_ra = trampoline;
	program_check(s, NO_MAPPING, P_RA(P_RSP), P_RA(P_RSP), trampoline);
	kuw_port_uretprobe_slot = 0;
}

/* The same when all registers are followed, as a rule needs rbx. */
static void test_uretprobe_full(void **state)
{
	const u64 trampoline = 0x7fffffffe000;

	begin(P_RSP);
	map_trampoline(trampoline);
	s->regs.r[3] = SYNTH_SP(2);
	program_push(s, 0, trampoline, 0, 0, P_RA(P_START));
	kuw_port_uretprobe_slot = SYNTH_SP(0);
	kuw_port_uretprobe_ra = P_RA(P_RBX);
	program_check(s, COMPLETE, P_RA(P_RSP), P_RA(P_RBX), P_RA(P_START));
	/* Without rsp, nothing says which slot it is. */
	begin(P_LOSES_RSP);
	map_trampoline(trampoline);
	program_push(s, 0, trampoline);
	program_check(s, REG_UNKNOWN, P_RA(P_LOSES_RSP), trampoline);
	kuw_port_uretprobe_slot = 0;
}

/* The trampoline's first byte is behind the last one of a file's mapping. */
static void test_uretprobe_adjacent(void **state)
{
	/* Of a file without a rule there, and with one. */
	begin(P_RSP);
	map_trampoline(s->map->mappings[0].end);
	program_push(s, 0, s->map->mappings[1].start);
	kuw_port_uretprobe_slot = SYNTH_SP(0);
	kuw_port_uretprobe_ra = P_RA(P_START);
	program_check(s, COMPLETE, P_RA(P_RSP), P_RA(P_START));
	begin(P_RSP);
	s->map->mappings[0].end = P_BEGIN(P_RSP) + P_LEN;
	map_trampoline(s->map->mappings[0].end);
	program_push(s, 0, s->map->mappings[1].start, 0x7000000000);
	kuw_port_uretprobe_ra = P_RA(P_RSP);
	program_check(s, NO_MAPPING, P_RA(P_RSP), P_RA(P_RSP), 0x7000000000);
	kuw_port_uretprobe_slot = 0;
}

/* Interrupted in the trampoline, and what the kernel knows is no address. */
static void test_uretprobe_bad(void **state)
{
	const u64 trampoline = 0x7fffffffe000;

	begin(P_RSP);
	map_trampoline(trampoline);
	s->regs.ip = trampoline + 4;
	kuw_port_uretprobe_slot = SYNTH_SP(0);
	kuw_port_uretprobe_ra = P_RA(P_START);
	program_check(s, COMPLETE, trampoline + 4, P_RA(P_START));
	kuw_port_uretprobe_ra = 0;
	program_check(s, NO_TABLE, trampoline + 4);
	kuw_port_uretprobe_slot = 0;
}

/*
 * An instruction with a uprobe is executed in another slot of the trampoline's page, and its
 * function has a uretprobe: rbp is not the caller's. So nothing is known of the caller.
 */
static void test_uprobe(void **state)
{
	const u64 trampoline = 0x7fffffffe000;
	u32 i;

	for (i = 128; i < 0x1000; i += 128) {
		begin(P_RSP);
		map_trampoline(trampoline);
		s->regs.ip = trampoline + i;
		program_push(s, 0, 0, trampoline, P_RA(P_START));
		kuw_port_uretprobe_slot = SYNTH_SP(1);
		kuw_port_uretprobe_ra = P_RA(P_START);
		program_check(s, NO_TABLE, trampoline + i);
	}
	kuw_port_uretprobe_slot = 0;
}

/* Return addresses in the trampoline that the kernel does not know: it searches only so often. */
static void test_uretprobe_forged(void **state)
{
	const u64 trampoline = 0x7fffffffe000;
	u32 i;

	begin(P_RSP);
	map_trampoline(trampoline);
	program_push(s, 0, trampoline + 8);
	s->regs.r[6] = SYNTH_SP(1);
	for (i = 1; i < 600; i += 2)
		program_push(s, i, SYNTH_SP(i + 2), trampoline + 8);
	synth_walk(s, KUNWIND_MAX_FRAMES);
	assert_stop(s->result.stop, FAULT_BUDGET);
	assert_in_range(s->result.count, KUW_MAX_FAULTS, KUW_MAX_FAULTS + 3);
	assert_int_equal(s->result.proven, 2);
}

/* The return address lies where an expression says. */
static void test_ra_expression(void **state)
{
	begin(P_RA_EXPR);
	s->regs.r[3] = SYNTH_SP(10);
	program_push(s, 11, P_RA(P_START));
	program_check(s, COMPLETE, P_RA(P_RA_EXPR), P_RA(P_START));
	s->regs.r[3] = 0x10000;
	program_check(s, STACK_FAULT, P_RA(P_RA_EXPR));
}

/* Code without an FDE that keeps a frame pointer: believed, and marked. */
static void test_guess(void **state)
{
	begin(P_RSP);
	s->regs.r[6] = SYNTH_SP(10);
	program_push(s, 0, P_RA(P_NO_FDE));
	program_push(s, 10, SYNTH_SP(20), P_RA(P_RSP), P_RA(P_RBP));
	program_push(s, 20, 0, P_RA(P_START));
	program_check(s, COMPLETE, P_RA(P_RSP), P_RA(P_NO_FDE), P_RA(P_RSP),
		      P_RA(P_RBP), P_RA(P_START));
	assert_int_equal(s->result.proven, 2);
	/* Not if it leads to nothing that is known. */
	s->stack[11] = 0x1234;
	s->stack[10] = 0;
	program_check(s, NO_RULE, P_RA(P_RSP), P_RA(P_NO_FDE));
	assert_int_equal(s->result.proven, 2);
}

/* What must hold of a frame pointer, and of what it leads to. One word of it is wrong at a time. */
static void test_guess_of_what(void **state)
{
	const u64 unmapped = 0x400000, frame[] = { SYNTH_SP(20), P_RA(P_START) };

	/* What returned to the code has lost rbp. */
	begin(P_LOSES_RBP);
	s->regs.r[6] = SYNTH_SP(10);
	program_push(s, 0, P_RA(P_NO_FDE));
	program_push(s, 10, SYNTH_SP(20), P_RA(P_START));
	program_check(s, NO_RULE, P_RA(P_LOSES_RBP), P_RA(P_NO_FDE));
	/* Half a word is no place of one. */
	begin(P_RSP);
	program_push(s, 0, P_RA(P_NO_FDE));
	s->regs.r[6] = SYNTH_SP(10) + 4;
	memcpy((u8 *)&s->stack[10] + 4, frame, sizeof(frame));
	program_check(s, NO_RULE, P_RA(P_RSP), P_RA(P_NO_FDE));
	/* Below rsp, nothing is. */
	s->regs.r[6] = SYNTH_SP(0);
	program_push(s, 1, P_RA(P_START));
	program_check(s, NO_RULE, P_RA(P_RSP), P_RA(P_NO_FDE));
	s->stack[1] = 7;
	s->regs.r[6] = SYNTH_SP(1);
	program_push(s, 1, SYNTH_SP(20), P_RA(P_START));
	program_check(s, COMPLETE, P_RA(P_RSP), P_RA(P_NO_FDE), P_RA(P_START));
	assert_int_equal(s->result.proven, 2);
	/* Nor is a frame behind the process's first word. */
	s->regs.r[6] = SYNTH_SP(30);
	program_push(s, 30, SYNTH_SP(40), P_RA(P_START));
	kuw_port_stack_first = SYNTH_SP(30);
	program_check(s, NO_RULE, P_RA(P_RSP), P_RA(P_NO_FDE));
	kuw_port_stack_first = SYNTH_SP(31);
	program_check(s, COMPLETE, P_RA(P_RSP), P_RA(P_NO_FDE), P_RA(P_START));
	kuw_port_stack_first = 0;
	/* The next frame pointer need not lead on, if the return address is in known code. */
	program_push(s, 30, 0, P_RA(P_START));
	program_check(s, COMPLETE, P_RA(P_RSP), P_RA(P_NO_FDE), P_RA(P_START));
	/* Else it must. */
	program_push(s, 30, SYNTH_SP(32), unmapped);
	program_check(s, NO_MAPPING, P_RA(P_RSP), P_RA(P_NO_FDE), unmapped);
	s->stack[30] = SYNTH_SP(30);
	program_check(s, NO_RULE, P_RA(P_RSP), P_RA(P_NO_FDE));
	s->stack[30] = SYNTH_SP(32) + 4;
	program_check(s, NO_RULE, P_RA(P_RSP), P_RA(P_NO_FDE));
	/* A file that has no table is known code. */
	s->map->count = 2;
	s->map->mappings[1] = s->map->mappings[0];
	s->map->mappings[0] = (struct kuw_mapping){
		.start = unmapped - 0x1000, .end = unmapped + 0x1000, .kind = KUW_MAPPING_NO_TABLE,
	};
	s->stack[30] = 0;
	program_check(s, UNPROVEN, P_RA(P_RSP), P_RA(P_NO_FDE), unmapped);
}

/* The innermost function without an FDE has most likely pushed nothing. */
static void test_guess_leaf(void **state)
{
	begin(P_NO_FDE);
	program_push(s, 0, P_RA(P_RSP), P_RA(P_START));
	program_check(s, COMPLETE, P_RA(P_NO_FDE), P_RA(P_RSP), P_RA(P_START));
	assert_int_equal(s->result.proven, 1);
	/* Whatever rbp is, as it is any other's. */
	s->regs.r[6] = 0;
	program_check(s, COMPLETE, P_RA(P_NO_FDE), P_RA(P_RSP), P_RA(P_START));
	/* But there must be a call. */
	program_push(s, 0, 0);
	program_check(s, NO_RULE, P_RA(P_NO_FDE));
	program_push(s, 0, P_BEGIN(P_RSP) + 1);
	program_check(s, NO_RULE, P_RA(P_NO_FDE));
	/* It has pushed the frame pointer. */
	s->regs.r[6] = SYNTH_SP(0);
	program_push(s, 0, SYNTH_SP(9), P_RA(P_RSP), P_RA(P_START));
	program_check(s, COMPLETE, P_RA(P_NO_FDE), P_RA(P_RSP), P_RA(P_START));
	assert_int_equal(s->result.proven, 1);
	/* Half a word is no place of a return address. */
	begin(P_NO_FDE);
	s->regs.r[7] += 4;
	memcpy((u8 *)&s->stack[0] + 4, &(u64){ P_RA(P_START) }, 8);
	program_check(s, NO_RULE, P_RA(P_NO_FDE));
}

/* Code without an FDE, from AHEAD on; what calls it has returned to CALLER, behind a call. */
#define AHEAD		(TEXT_LEN + 0x20)
#define CALLER		0x85

static void put_code(u32 off, const char *code, u32 len)
{
	memcpy((u8 *)&s->stack[TEXT_AT] + off, code, len);
}

#define PUT_CODE(off, code)	put_code(off, code, sizeof(code) - 1)

/* Stopped in that code, of which rsp is @word. */
static void begin_ahead(u32 word)
{
	begin_text();
	PUT_CODE(CALLER - 5, "\xe8\0\0\0\0");
	s->regs.ip = TEXT_IP(AHEAD);
	s->regs.r[7] = SYNTH_SP(word);
	s->regs.r[6] = 0x123456;
	/* The caller's CFA is rsp+8. */
	program_push(s, 20, TEXT_IP(CALLER), 0);
}

#define CHECK_FOUND() \
	do { \
		program_check(s, RA_BAD, TEXT_IP(AHEAD), TEXT_IP(CALLER)); \
		assert_int_equal(s->result.proven, 1); \
	} while (0)
#define CHECK_LOST()	program_check(s, NO_RULE, TEXT_IP(AHEAD))

/* The code ahead of a frame says where its return address is. */
static void test_ahead(void **state)
{
	/* add $8,%rsp; pop %rbx, %rbp, %r12, %r13, %r14, %r15; ret */
	begin_ahead(13);
	PUT_CODE(AHEAD, "\x48\x83\xc4\x08\x5b\x5d\x41\x5c\x41\x5d\x41\x5e\x41\x5f\xc3");
	CHECK_FOUND();
	/* The ret finds a register that was saved. */
	s->stack[13] = 7;
	PUT_CODE(AHEAD, "\x90\xc3");
	CHECK_LOST();
	/* In memory of which nothing is known, as a JIT compiler's. */
	begin_ahead(19);
	PUT_CODE(AHEAD, "\x59\xc3");				/* pop %rcx; ret */
	s->map->mappings[0].end = TEXT_IP(TEXT_LEN);
	CHECK_FOUND();
	/* The prologue is yet to come: what it pushes is not on the stack. */
	begin_ahead(20);
	PUT_CODE(AHEAD, "\x55\x48\x89\xe5\x53\x48\x83\xe4\xf0"	/* push %rbp; mov %rsp,%rbp; push %rbx; and $-16,%rsp */
		 "\x48\x29\xc4\xe8\0\0\1\0"			/* sub %rax,%rsp; call */
		 "\x48\x8d\x65\xf8\x5b\x5d\xc3");		/* lea -8(%rbp),%rsp; pop %rbx; pop %rbp; ret */
	CHECK_FOUND();
	/* Arguments that the function removes. */
	begin_ahead(20);
	PUT_CODE(AHEAD, "\xc2\x08\0");				/* ret $8 */
	program_push(s, 21, 1, 0);
	CHECK_FOUND();
	/* They are words. */
	begin_ahead(19);
	s->stack[19] = 7;
	PUT_CODE(AHEAD, "\x59\xc2\x03\0");			/* pop %rcx; ret $3 */
	CHECK_LOST();
	/* Down is no way, and nor is half a word. */
	begin_ahead(21);
	PUT_CODE(AHEAD, "\x48\x83\xc4\xf8\xc3");		/* add $-8,%rsp; ret */
	CHECK_LOST();
	begin_ahead(19);
	s->stack[19] = 7;
	PUT_CODE(AHEAD, "\x48\x83\xc4\x04\xc3");
	CHECK_LOST();
	/* With an index, or a segment, no register alone says where rsp will be. */
	begin_ahead(19);
	s->stack[19] = 7;
	PUT_CODE(AHEAD, "\x4a\x8d\x24\xe4\x59\xc3");	/* lea (%rsp,%r12,8),%rsp; pop; ret */
	CHECK_LOST();
	PUT_CODE(AHEAD, "\x4a\x8d\x24\x24\x59\xc3");		/* lea (%rsp,%r12),%rsp */
	CHECK_LOST();
	PUT_CODE(AHEAD, "\x64\x48\x8d\x24\x24\x59\xc3");	/* lea %fs:(%rsp),%rsp */
	CHECK_LOST();
	PUT_CODE(AHEAD, "\x48\x8d\x24\x24\x59\xc3");		/* lea (%rsp),%rsp */
	CHECK_FOUND();
	/* It finds what no call left. */
	PUT_CODE(AHEAD, "\x59\xc3");
	s->stack[20] = TEXT_IP(CALLER + 1);
	CHECK_LOST();
	/* The function has a uretprobe. */
	map_trampoline(0x7fffffffe000);
	s->stack[20] = 0x7fffffffe000;
	kuw_port_uretprobe_slot = SYNTH_SP(20);
	kuw_port_uretprobe_ra = TEXT_IP(CALLER);
	CHECK_FOUND();
	kuw_port_uretprobe_slot = 0;
	/* What rbp was says nothing of what it will be. */
	begin_ahead(10);
	s->regs.r[6] = SYNTH_SP(18);
	s->stack[18] = s->stack[19] = 7;
	PUT_CODE(AHEAD, "\x48\x29\xc4\x48\x8d\x6c\x24\x08"	/* sub %rax,%rsp; lea 8(%rsp),%rbp */
		 "\xc9\x59\xc3");				/* leave; pop %rcx; ret */
	CHECK_LOST();
	PUT_CODE(AHEAD, "\xc9\x59\xc3");
	CHECK_FOUND();
}

/* An instruction of up to nine bytes, then pop %rcx; ret. */
static void begin_ahead_with(const char *insn)
{
	char code[12];

	begin_ahead(19);
	memset(code, 0x90, 10);
	memcpy(code, insn, strlen(insn));
	memcpy(code + 10, "\x59\xc3", 2);
	put_code(AHEAD, code, sizeof(code));
}

/* Behind some instructions, nothing is known of the stack pointer. Others leave it alone. */
static void test_ahead_stack_pointer(void **state)
{
	static const char *const lose[] = {
		"\x48\x29\xc4",			/* sub %rax,%rsp */
		"\x48\x2b\x20",			/* sub (%rax),%rsp */
		"\x48\x87\xe3",			/* xchg %rsp,%rbx */
		"\x48\x87\xdc",			/* xchg %rbx,%rsp */
		"\x48\x94",			/* xchg %rax,%rsp */
		"\x48\xff\xc4",			/* inc %rsp */
		"\xff\x1b",			/* lcall *(%rbx) */
		"\xff\x2b",			/* ljmp *(%rbx) */
	};
	static const char *const leave[] = {
		"\x48\x01\x04\x24",		/* add %rax,(%rsp) */
		"\x48\x01\xc3",			/* add %rax,%rbx */
		"\x48\x2b\x04\x24",		/* sub (%rsp),%rax */
		"\x48\x87\x1c\x24",		/* xchg %rbx,(%rsp) */
		"\x49\x94",			/* xchg %rax,%r12 */
		"\xff\x04\x24",			/* incl (%rsp) */
		"\x48\xff\xcb",			/* dec %rbx */
	};
	u32 i;

	for (i = 0; i < ARRAY_SIZE(lose); i++) {
		begin_ahead_with(lose[i]);
		CHECK_LOST();
	}
	for (i = 0; i < ARRAY_SIZE(leave); i++) {
		begin_ahead_with(leave[i]);
		CHECK_FOUND();
	}
	/* The ret finds half a word. */
	begin_ahead(19);
	PUT_CODE(AHEAD, "\x48\x83\xc4\x04\xc3");		/* add $4,%rsp; ret */
	memcpy((u8 *)&s->stack[19] + 4, &(u64){ TEXT_IP(CALLER) }, 8);
	CHECK_LOST();
	/* The way leads to where nothing can be read: no other one is tried. */
	begin_ahead(19);
	PUT_CODE(AHEAD, "\x75\x05\xe9\0\0\0\x40\x59\xc3");	/* jne +5; jmp; pop %rcx; ret */
	CHECK_LOST();
	PUT_CODE(AHEAD + 2, "\xff\xe0\x90\x90\x90");		/* jmp *%rax */
	CHECK_FOUND();
}

/* extrq and insertq have two bytes behind their operands: these are no pop %rcx; ret. */
static void test_ahead_vectors(void **state)
{
	begin_ahead(19);
	s->stack[19] = 7;
	PUT_CODE(AHEAD, "\x66\x0f\x78\xc0\x59\xc3");
	CHECK_LOST();
	PUT_CODE(AHEAD, "\xf2\x0f\x78\xc1\x59\xc3");
	CHECK_LOST();
}

/* Code that moves rsp by a part of a word leads nowhere; without its first @bytes it leads on. */
static void check_half(const char *code, u32 bytes)
{
	put_code(AHEAD, code, strlen(code));
	CHECK_LOST();
	put_code(AHEAD, code + bytes, strlen(code + bytes));
	CHECK_FOUND();
}

/* With the prefix 66, what pushes and pops moves rsp by two bytes. */
static void test_ahead_half_words(void **state)
{
	begin_ahead(19);
	s->stack[19] = 7;
	/* push %ax, $7, %ax, $0x707, pushf; then pop %rcx; pop %rcx; ret. */
	check_half("\x66\x50\x59\x59\xc3", 1);
	check_half("\x66\x6a\x07\x59\x59\xc3", 1);
	check_half("\x66\xff\xf0\x59\x59\xc3", 1);
	check_half("\x66\x9c\x59\x59\xc3", 1);
	check_half("\x66\x68\x07\x07\x59\x59\xc3", 5);
	/* pop %cx in both forms, popf; then ret. */
	check_half("\x66\x59\xc3", 1);
	check_half("\x66\x8f\xc1\xc3", 1);
	check_half("\x66\x9d\xc3", 1);
}

/* Each branch is a way that may be the right one, and leads there once. */
static void test_ahead_branches(void **state)
{
	u32 i;

	/* 1: jne 2; jmp 1; 2: pop %rcx; ret */
	begin_ahead(19);
	PUT_CODE(AHEAD, "\x75\x02\xeb\xfc\x59\xc3");
	CHECK_FOUND();
	/* A call that does not return, and another function behind it: je 1; call; ret; 1: pop %rcx; ret */
	begin_ahead(19);
	s->stack[19] = 7;
	PUT_CODE(AHEAD, "\x74\x06\xe8\0\0\1\0\xc3\x59\xc3");
	CHECK_FOUND();
	/* The same behind a jump far away. */
	begin_ahead(19);
	PUT_CODE(AHEAD, "\x0f\x84\x40\0\0\0\x0f\x0b");
	PUT_CODE(AHEAD + 0x46, "\x59\xc3");
	CHECK_FOUND();
	/* No way: jmp to itself. */
	begin_ahead(19);
	s->stack[19] = 7;
	PUT_CODE(AHEAD, "\xeb\xfe");
	CHECK_LOST();
	/* So many branches that the walk gives up. */
	begin_ahead(19);
	s->stack[19] = 7;
	for (i = 0; i <= KUW_MAX_BRANCHES; i++)
		PUT_CODE(AHEAD + 2 * i, "\x74\xfe");
	PUT_CODE(AHEAD + 2 * i, "\x59\xc3");
	CHECK_LOST();
	PUT_CODE(AHEAD + 2 * (i - 1), "\x59\xc3");
	CHECK_FOUND();
}

/* An indirect jump is a tail call, or a switch. */
static void test_ahead_jumps(void **state)
{
	/* APX's pop2 %rbp,%rbx; ret: it is no vector instruction. */
	begin_ahead(18);
	s->regs.ip = TEXT_IP(8);
	PUT_CODE(AHEAD, "\xe8\0\0\1\0\x62\xf4\x54\x18\x8f\xc3\xc3");
	program_push(s, 18, TEXT_IP(AHEAD + 5), TEXT_IP(CALLER), 0, 0);
	program_check(s, NO_RULE, TEXT_IP(8), TEXT_IP(AHEAD + 5));
	/* By the PLT's table: nop; jmp *8(%rip) */
	begin_ahead(20);
	PUT_CODE(AHEAD, "\x90\xff\x25\x08\0\0\0");
	CHECK_FOUND();
	/* pop %rbx; jmp *%rax */
	begin_ahead(19);
	PUT_CODE(AHEAD, "\x5b\xff\xe0");
	CHECK_FOUND();
	/* Nothing was pushed: nop; jmp *%rax. */
	begin_ahead(20);
	PUT_CODE(AHEAD, "\x90\xff\xe0");
	CHECK_FOUND();
	/* Code that has called has a stack: it is a switch. */
	PUT_CODE(AHEAD, "\xe8\0\0\1\0\x90\xff\xe0");
	s->regs.ip = TEXT_IP(8);
	s->regs.r[7] = SYNTH_SP(19);
	program_push(s, 19, TEXT_IP(AHEAD + 5), TEXT_IP(CALLER), 0);
	program_check(s, NO_RULE, TEXT_IP(8), TEXT_IP(AHEAD + 5));
	/* Also behind an indirect call: add $8,%rsp; call *%rax; jmp *%rdx. */
	begin_ahead(18);
	s->regs.ip = TEXT_IP(8);
	PUT_CODE(AHEAD, "\xe8\0\0\1\0\x48\x83\xc4\x08\xff\xd0\xff\xe2");
	program_push(s, 18, TEXT_IP(AHEAD + 5), 0, TEXT_IP(CALLER), 0);
	program_check(s, NO_RULE, TEXT_IP(8), TEXT_IP(AHEAD + 5));
	/* A switch, with an old return address at rsp: ja 1; jmp *%rax; 1: pop %rcx; ret */
	begin_ahead(19);
	s->stack[19] = TEXT_IP(CALLER);
	s->stack[18] = 0;
	PUT_CODE(AHEAD, "\x77\x02\xff\xe0\x59\xc3");
	CHECK_FOUND();
	assert_int_equal(s->frames[1], TEXT_IP(CALLER));
}

/* A tail call leads to a function that saves what the frame's own has restored. */
static void test_ahead_tail_call(void **state)
{
	/* add $8,%rsp; pop %rbp; jmp 1; 1: push %rax; push %rbp; pop %rbp; pop %rcx; ret */
	begin_ahead(18);
	PUT_CODE(AHEAD, "\x48\x83\xc4\x08\x5d\xeb\0\x50\x55\x5d\x59\xc3");
	/* The caller has a frame pointer, and no rule either. */
	PUT_CODE(AHEAD + 0x20, "\xe8\0\0\0\0\xc9\xc3");
	program_push(s, 18, 7, SYNTH_SP(24), TEXT_IP(AHEAD + 0x25), 0, 0, 0, 0, TEXT_IP(CALLER), 0);
	program_check(s, RA_BAD, TEXT_IP(AHEAD), TEXT_IP(AHEAD + 0x25), TEXT_IP(CALLER));
	/* A variable and an argument are none: mov 8(%rsp),%rbp; pop %rax; jmp 1; 1: pop %rcx; pop %rbp; ret */
	begin_ahead(17);
	PUT_CODE(AHEAD, "\x48\x8b\x6c\x24\x08\x58\xeb\0\x59\x5d\xc3");
	PUT_CODE(CALLER - 0x15, "\xe8\0\0\0\0");
	program_push(s, 17, 7, TEXT_IP(CALLER - 0x10), 0, TEXT_IP(CALLER), 0);
	CHECK_FOUND();
}

/* Code that never returns leaves its stack before it calls itself again. */
static void test_ahead_forever(void **state)
{
	/* 1: call; jne 2; nop; nop; 2: add $8,%rsp; jmp 3; 3: sub $8,%rsp; jmp 1 */
	static const char by_add[] = "\xe8\0\0\1\0\x75\x02\x90\x90\x48\x83\xc4\x08\xeb\0\x48\x83\xec\x08\xeb\xeb";
	/* The same by lea. */
	static const char by_lea[] =
		"\xe8\0\0\1\0\x75\x02\x90\x90\x48\x8d\x64\x24\x08\xeb\0\x48\x8d\x64\x24\xf8\xeb\xe9";

	begin_ahead(19);
	s->stack[19] = 7;
	put_code(AHEAD, by_add, sizeof(by_add) - 1);
	CHECK_FOUND();
	put_code(AHEAD, by_lea, sizeof(by_lea) - 1);
	CHECK_FOUND();
	/* It leaves an argument, not its stack. */
	s->stack[20] = 8;
	CHECK_LOST();
	/* In a function that it calls, behind the call. */
	begin_ahead(18);
	put_code(AHEAD, by_add, sizeof(by_add) - 1);
	program_push(s, 18, TEXT_IP(AHEAD + 5), 7, TEXT_IP(CALLER), 0);
	s->regs.ip = TEXT_IP(8);
	program_check(s, RA_BAD, TEXT_IP(8), TEXT_IP(AHEAD + 5), TEXT_IP(CALLER));
	/* An old return address is at rsp, and it leaves no stack: 1: call; jne 1; jmp 1 */
	s->stack[19] = TEXT_IP(CALLER);
	PUT_CODE(AHEAD, "\xe8\0\0\1\0\x75\xf9\xeb\xf7");
	program_check(s, NO_RULE, TEXT_IP(8), TEXT_IP(AHEAD + 5));
	/* Nor does add of less than nothing: 1: call; add $-8,%rsp; jne 1; jmp 1 */
	s->stack[18] = TEXT_IP(AHEAD + 5);
	PUT_CODE(AHEAD + 5, "\x48\x83\xc4\xf8\x75\xf5\xeb\xf3");
	program_check(s, NO_RULE, TEXT_IP(8), TEXT_IP(AHEAD + 5));
	/* A way to a ret is better: 1: call; je 2; push %rax; pop %rax; jmp 1; 2: pop %rcx; ret */
	s->stack[19] = TEXT_IP(AHEAD + 5);
	s->stack[20] = TEXT_IP(CALLER);
	PUT_CODE(AHEAD + 5, "\x74\x04\x50\x58\xeb\xf5\x59\xc3");
	program_check(s, RA_BAD, TEXT_IP(8), TEXT_IP(AHEAD + 5), TEXT_IP(CALLER));
}

/* Code of a JIT compiler: rbp is its frame pointer, or an outer frame's. */
static void test_ahead_outer_frame(void **state)
{
	const u64 outer = TEXT_IP(0x45);
	struct kuw_mapping text;

	/* call; nine times nop; pop %rcx; ret */
	begin_ahead(18);
	PUT_CODE(AHEAD, "\xe8\0\0\1\0\x90\x90\x90\x90\x90\x90\x90\x90\x90\x59\xc3");
	PUT_CODE(0x40, "\xe8\0\0\0\0");
	s->map->mappings[0].end = TEXT_IP(TEXT_LEN);
	s->regs.ip = TEXT_IP(8);
	s->regs.r[6] = SYNTH_SP(30);
	program_push(s, 18, TEXT_IP(AHEAD + 5), 7, TEXT_IP(CALLER), 0);
	program_push(s, 30, SYNTH_SP(40), outer, 0);
	program_check(s, RA_BAD, TEXT_IP(8), TEXT_IP(AHEAD + 5), TEXT_IP(CALLER));
	assert_int_equal(s->result.proven, 2);
	/* No word below can be the return address: the code ahead need not be followed. */
	program_push(s, 20, TEXT_IP(CALLER + 1));
	program_check(s, RA_BAD, TEXT_IP(8), TEXT_IP(AHEAD + 5), outer);
	/* The function has a uretprobe, and the trampoline is far below. */
	text = s->map->mappings[0];
	map_trampoline(0x600000000000);
	s->map->mappings[0] = s->map->mappings[1];
	s->map->mappings[1] = text;
	program_push(s, 20, 0x600000000000);
	kuw_port_uretprobe_slot = SYNTH_SP(20);
	kuw_port_uretprobe_ra = TEXT_IP(CALLER);
	program_check(s, RA_BAD, TEXT_IP(8), TEXT_IP(AHEAD + 5), TEXT_IP(CALLER));
	kuw_port_uretprobe_slot = 0;
	s->map->mappings[0] = text;
	s->map->count = 1;
	/* One can, but no way leads to it: jmp to itself. */
	program_push(s, 20, TEXT_IP(CALLER));
	PUT_CODE(AHEAD + 5, "\xeb\xfe");
	program_check(s, RA_BAD, TEXT_IP(8), TEXT_IP(AHEAD + 5), outer);
	/* Not all are looked at: add $496,%rsp; ret */
	program_push(s, 20, 7);
	PUT_CODE(AHEAD + 5, "\x48\x81\xc4\xf0\1\0\0\xc3");
	program_push(s, 19 + 62, TEXT_IP(CALLER), 0);
	s->regs.r[6] = SYNTH_SP(90);
	program_push(s, 90, SYNTH_SP(100), outer, 0);
	program_check(s, RA_BAD, TEXT_IP(8), TEXT_IP(AHEAD + 5), TEXT_IP(CALLER));
}

/* A function of a JIT compiler at its first instruction, of which no way leads to a ret. */
static void test_guess_unmapped_call(void **state)
{
	begin_ahead(19);
	PUT_CODE(AHEAD, "\x55\x48\x89\xe5\xff\xe0");		/* push %rbp; mov %rsp,%rbp; jmp *%rax */
	PUT_CODE(0x40, "\xe8\0\0\0\0");
	/* Where the first call returns to, as where the JIT compiler's other code is. */
	PUT_CODE(AHEAD + 0x20, "\xe8\0\0\1\0\x90\xc9\xc3");	/* call; nop; leave; ret */
	s->map->mappings[0].end = TEXT_IP(TEXT_LEN);
	s->regs.r[6] = SYNTH_SP(30);
	program_push(s, 19, TEXT_IP(AHEAD + 0x25));
	program_push(s, 30, SYNTH_SP(40), TEXT_IP(0x45), 0);
	program_check(s, RA_BAD, TEXT_IP(AHEAD), TEXT_IP(AHEAD + 0x25), TEXT_IP(0x45));
	assert_int_equal(s->result.proven, 1);
	/* No call is before the address. */
	program_push(s, 19, TEXT_IP(AHEAD + 0x26));
	program_check(s, RA_BAD, TEXT_IP(AHEAD), TEXT_IP(0x45));
	/* A table says that no function is there. */
	s->map->mappings[0].end = TEXT_IP(AHEAD + 0x100);
	s->map->mappings[0].start = TEXT_IP(0);
	program_push(s, 19, TEXT_IP(AHEAD + 0x25));
	program_check(s, RA_BAD, TEXT_IP(AHEAD), TEXT_IP(0x45));
}

static u32 failed_reads;

static int fail_to_read(u64 addr, u64 *word)
{
	failed_reads++;
	return -EFAULT;
}

/* Words below such a frame pointer that seem to be near code, which cannot be read. */
static void test_ahead_faults(void **state)
{
	const u32 words = KUW_MAX_LOCALS, frames = 8;
	u32 i, at;

	begin_text();
	s->map->mappings[0].end = TEXT_IP(TEXT_LEN);
	s->regs.ip = TEXT_IP(8);
	s->regs.r[6] = SYNTH_SP(words);
	program_push(s, 0, 0x7f0000000000);
	for (i = 0; i < frames; i++) {
		for (at = i ? i * words + 2 : 1; at < (i + 1) * words; at++)
			s->stack[at] = 0x7f0000001000;
		program_push(s, at, SYNTH_SP(at + words), 0x7f0000000000);
	}
	kuw_port_elsewhere = fail_to_read;
	failed_reads = 0;
	kuw_port_set_window(SYNTH_STACK, sizeof(s->stack), (u64)s->stack - SYNTH_STACK);
	kuw_walk(s->map, host_cache(&s->cache), &s->regs, s->frames, 64, &s->result);
	kuw_port_elsewhere = NULL;
	assert_stop(s->result.stop, FAULT_BUDGET);
	assert_in_range(failed_reads, KUW_MAX_FAULTS, KUW_MAX_FAULTS + 1);
}

/*
 * Code that cannot be read, as it is absent after a fork(): of some return addresses, a byte before
 * the address says whether a call left it. A walk that starts again needs that once more. If it
 * ends sooner, the stack is that of the first attempt.
 */
static void test_redone_faults(void **state)
{
	static const struct { u32 frames, each, count, stop; bool warm; } stacks[] = {
		{ 500, 16, 503, KUNWIND_STOP_COMPLETE, false },
		{ 672, 16, 675, KUNWIND_STOP_COMPLETE, false },
		{ 900, 16, 902, KUNWIND_STOP_REG_UNKNOWN, false },
		/* The first attempt knows the rules of the parent's walk. */
		{ 900, 1, 903, KUNWIND_STOP_COMPLETE, true },
		{ 900, 1, 902, KUNWIND_STOP_REG_UNKNOWN, false },
	};
	u32 frames, i, j;

	for (j = 0; j < ARRAY_SIZE(stacks); j++) {
		frames = stacks[j].frames;
		if (stacks[j].each > 1 || stacks[j].warm)
			begin(P_RSP);
		s->regs.ip = P_RA(P_RSP) + 1;
		for (i = 0; i < frames; i++)
			program_push(s, i, P_RA(P_RSP) + (i % stacks[j].each != 0));
		program_push(s, frames, P_RA(P_RBX) + 1);
		s->regs.r[3] = SYNTH_SP(frames + 8);
		program_push(s, frames + 9, P_RA(P_START) + 1);
		if (!stacks[j].warm)
			kuw_port_elsewhere = fail_to_read;
		if (stacks[j].each == 1 && !stacks[j].warm)
			/* It is the same map as before. */
			s->map->number--;
		synth_walk(s, KUNWIND_MAX_FRAMES);
		kuw_port_elsewhere = NULL;
		assert_int_equal(s->result.stop, stacks[j].stop);
		assert_int_equal(s->result.count, stacks[j].count);
	}
}

/* The last instruction of a function is a system call: behind it is the next function. */
static void test_system_call(void **state)
{
	u64 ip = P_BEGIN(P_RSP + 1);

	begin(P_RSP);
	s->regs.ip = ip;
	s->regs.r[6] = SYNTH_SP(10);
	program_push(s, 0, P_RA(P_START));
	program_push(s, 10, SYNTH_SP(20), P_RA(P_RSP), P_RA(P_START));
	program_check(s, COMPLETE, ip, P_RA(P_RSP), P_RA(P_START));
	s->regs.in_syscall = true;
	program_check(s, COMPLETE, ip, P_RA(P_START));
	assert_int_equal(s->result.proven, 2);
	/* The same in pieces, and where the caller needs all registers. */
	program_push(s, 0, P_RA(P_RBX));
	s->regs.r[3] = SYNTH_SP(30);
	program_push(s, 31, P_RA(P_START));
	program_check(s, COMPLETE, ip, P_RA(P_RBX), P_RA(P_START));
	/* In the middle of a function. */
	s->regs.ip = P_RA(P_RSP);
	program_check(s, COMPLETE, P_RA(P_RSP), P_RA(P_RBX), P_RA(P_START));
}

/* The caller has the registers that the code will restore, and those that it leaves alone. */
static void test_ahead_registers(void **state)
{
	struct buf b = { 0 };

	/* The caller's CFA is rbx+16. */
	build_one(&b, BUILD_TEXT, TEXT_LEN, PROG(DW_CFA_def_cfa, 3, 16));
	begin_text_by(&b);
	PUT_CODE(CALLER - 5, "\xe8\0\0\0\0");
	PUT_CODE(AHEAD, "\x5b\xc3");				/* pop %rbx; ret */
	s->regs.ip = TEXT_IP(AHEAD);
	s->regs.r[7] = SYNTH_SP(19);
	s->regs.r[3] = SYNTH_SP(40);
	program_push(s, 19, SYNTH_SP(50), TEXT_IP(CALLER));
	program_push(s, 51, 0);
	program_check(s, RA_BAD, TEXT_IP(AHEAD), TEXT_IP(CALLER));
	/* Not restored: rbx leads elsewhere. */
	s->regs.r[7] = SYNTH_SP(20);
	PUT_CODE(AHEAD, "\x90\xc3");
	program_push(s, 41, TEXT_IP(CALLER), 0);
	s->stack[40] = 0;
	program_check(s, CFA_BACK, TEXT_IP(AHEAD), TEXT_IP(CALLER), TEXT_IP(CALLER));
	/* push %rbx; mov %rdi,%rbx; pop %rbx; ret: rbx is what it was. */
	PUT_CODE(AHEAD, "\x53\x48\x89\xfb\x5b\xc3");
	program_check(s, CFA_BACK, TEXT_IP(AHEAD), TEXT_IP(CALLER), TEXT_IP(CALLER));
	/* The same by mov. */
	PUT_CODE(AHEAD, "\x48\x83\xec\x10\x48\x89\x5c\x24\x08"	/* sub $16,%rsp; mov %rbx,8(%rsp) */
		 "\x48\x8b\x5c\x24\x08\x48\x83\xc4\x10\xc3");	/* mov 8(%rsp),%rbx; add $16,%rsp; ret */
	program_check(s, CFA_BACK, TEXT_IP(AHEAD), TEXT_IP(CALLER), TEXT_IP(CALLER));
	/* A word that nothing is known of. */
	PUT_CODE(AHEAD, "\x48\x83\xec\x10\x90\x90\x90\x90\x90");
	program_check(s, REG_UNKNOWN, TEXT_IP(AHEAD), TEXT_IP(CALLER));
}

/* The code calls on another stack, and comes back. */
static void test_ahead_stacks(void **state)
{
	/* mov %rsp,%rbp; lea -64(%rbx),%rsp; call; mov %rbp,%rsp; pop %rcx; ret */
	static const char by_register[] =
		"\x48\x89\xe5\x48\x8d\x63\xc0\xe8\0\0\1\0\x48\x89\xec\x59\xc3";
	/* mov %rsp,88(%r13); lea -64(%rbx),%rsp; call; mov 88(%r13),%rsp; pop %rcx; ret */
	static const char by_memory[] =
		"\x49\x89\x65\x58\x48\x8d\x63\xc0\xe8\0\0\1\0\x49\x8b\x65\x58\x59\xc3";

	begin_ahead(19);
	s->regs.r[3] = SYNTH_SP(2);
	put_code(AHEAD, by_register, sizeof(by_register) - 1);
	CHECK_FOUND();
	put_code(AHEAD, by_memory, sizeof(by_memory) - 1);
	CHECK_FOUND();
	/* In a function that it calls, whose frame is above: its CFA is rsp+8. */
	begin_ahead(30);
	program_push(s, 19, 0, TEXT_IP(CALLER), 0);
	program_push(s, 30, TEXT_IP(AHEAD + 12), 0);
	s->regs.ip = TEXT_IP(8);
	s->regs.r[6] = SYNTH_SP(19);
	put_code(AHEAD, by_register, sizeof(by_register) - 1);
	program_check(s, RA_BAD, TEXT_IP(8), TEXT_IP(AHEAD + 12), TEXT_IP(CALLER));
	assert_int_equal(s->result.proven, 2);
	/* In memory that r13 leads to. */
	program_push(s, 30, TEXT_IP(AHEAD + 13), 0);
	s->regs.r[6] = 0x123456;
	s->regs.r[13] = SYNTH_SP(40);
	s->stack[40 + 88 / 8] = SYNTH_SP(19);
	put_code(AHEAD, by_memory, sizeof(by_memory) - 1);
	program_check(s, RA_BAD, TEXT_IP(8), TEXT_IP(AHEAD + 13), TEXT_IP(CALLER));
	/* Half a word is not read, and leads nowhere. */
	s->regs.r[13] += 4;
	program_check(s, NO_RULE, TEXT_IP(8), TEXT_IP(AHEAD + 13));
	s->regs.r[13] -= 4;
	s->stack[40 + 88 / 8] += 4;
	program_check(s, NO_RULE, TEXT_IP(8), TEXT_IP(AHEAD + 13));
	s->stack[40 + 88 / 8] -= 4;
	/* sub %eax,%r14d; mov 80(%r13),%r15; mov %rax,(%rsp): r13 is what it was. */
	put_code(AHEAD + 13, "\x41\x29\xc6\x4d\x8b\x7d\x50\x48\x89\x04\x24\x49\x8b\x65\x58\x59\xc3", 17);
	program_check(s, RA_BAD, TEXT_IP(8), TEXT_IP(AHEAD + 13), TEXT_IP(CALLER));
	/* mov 80(%r13),%r13 */
	put_code(AHEAD + 13, "\x4d\x8b\x6d\x50\x49\x8b\x65\x58\x59\xc3", 10);
	program_check(s, NO_RULE, TEXT_IP(8), TEXT_IP(AHEAD + 13));
	/* Else, r13 can be another's. */
	put_code(AHEAD + 13, "\x90\x49\x8b\x65\x58\x59\xc3", 7);
	program_check(s, NO_RULE, TEXT_IP(8), TEXT_IP(AHEAD + 13));
	/* It comes back to where it was before: that is no way up. */
	put_code(AHEAD, by_memory, sizeof(by_memory) - 1);
	program_push(s, 20, TEXT_IP(AHEAD + 13));
	program_check(s, NO_RULE, TEXT_IP(8), TEXT_IP(AHEAD + 13), TEXT_IP(AHEAD + 13));
	program_push(s, 20, TEXT_IP(CALLER));
	/* An interrupted change of contexts is none: the callee of another is there. */
	put_code(AHEAD, by_memory, sizeof(by_memory) - 1);
	s->regs.ip = TEXT_IP(AHEAD + 13);
	program_check(s, NO_RULE, TEXT_IP(AHEAD + 13));
}

/*
 * Between code without an FDE and there, one word is behind a call: a return address, to
 * code that has no FDE either.
 */
static void test_near_first_word(void **state)
{
	const u64 called = TEXT_IP(TEXT_LEN + 5), outer = TEXT_IP(TEXT_LEN + 0x25);

	begin_text();
	s->regs.ip = TEXT_IP(8);
	s->regs.r[6] = 0;
	/* call; and a jump at the first one. */
	memcpy(&s->stack[TEXT_AT + TEXT_LEN / 8], "\xe9\0\0\0\0", 5);
	memcpy(&s->stack[TEXT_AT + TEXT_LEN / 8 + 4], "\xe8\0\0\0\0", 5);
	kuw_port_stack_first = SYNTH_SP(6);
	program_push(s, 0, called, called, 7, called, outer, 0, 1);
	program_check(s, COMPLETE, TEXT_IP(8), called, outer);
	assert_int_equal(s->result.proven, 2);
	/* klibc's start code has the environment in rbp: pointers to strings above them. */
	s->regs.r[6] = SYNTH_SP(10);
	program_push(s, 10, SYNTH_SP(20), SYNTH_SP(22));
	program_check(s, COMPLETE, TEXT_IP(8), called, outer);
	s->regs.r[6] = SYNTH_SP(6);
	program_push(s, 6, SYNTH_SP(20), SYNTH_SP(22));
	program_check(s, COMPLETE, TEXT_IP(8), called, outer);
	program_push(s, 6, 0, 1);
	s->regs.r[6] = 0;
	/* Behind a jump is no caller, unless the code cannot be read. */
	s->stack[4] = called;
	program_check(s, COMPLETE, TEXT_IP(8), called);
	s->map->mappings[0].start = SYNTH_STACK - 0x1000;
	s->stack[4] = SYNTH_STACK + 4;
	program_check(s, UNPROVEN, TEXT_IP(8), called);
	s->map->mappings[0].start = TEXT_IP(0);
	/* Interrupted there, with nothing else on the stack. */
	s->regs.ip = TEXT_IP(TEXT_LEN + 0x40);
	s->regs.r[7] = SYNTH_SP(5);
	s->stack[5] = outer;
	program_check(s, COMPLETE, TEXT_IP(TEXT_LEN + 0x40), outer);
	/* And with something: perhaps it is old. */
	s->regs.r[7] = SYNTH_SP(4);
	s->stack[4] = outer;
	program_check(s, NO_RULE, TEXT_IP(TEXT_LEN + 0x40));
	/* What start code calls when it has popped argc. */
	kuw_port_stack_first = SYNTH_SP(3);
	s->stack[4] = 0;
	program_check(s, NO_RULE, TEXT_IP(TEXT_LEN + 0x40));
	kuw_port_stack_first = 0;
}

/* Go's systemstack() finds the goroutine's stack by fs: *(*(*(fs - 8) + 48) + 56). */
static void test_ahead_fs(void **state)
{
	begin_ahead(30);
	kuw_port_fs_base = SYNTH_SP(50);
	s->stack[49] = SYNTH_SP(52);
	s->stack[58] = SYNTH_SP(60);
	s->stack[67] = SYNTH_SP(20);
	/* call; mov %fs:-8,%rax; mov 48(%rax),%rbx; mov 56(%rbx),%rsp; ret */
	PUT_CODE(AHEAD, "\xe8\0\0\1\0\x64\x48\x8b\x04\x25\xf8\xff\xff\xff"
		 "\x48\x8b\x58\x30\x48\x8b\x63\x38\xc3");
	program_push(s, 30, TEXT_IP(AHEAD + 5), 0);
	s->regs.ip = TEXT_IP(8);
	program_check(s, RA_BAD, TEXT_IP(8), TEXT_IP(AHEAD + 5), TEXT_IP(CALLER));
	assert_int_equal(s->result.proven, 2);
	/* mov %eax,%eax: only 64 bits are known to be an address. Then mov %fs:-8,%eax. */
	PUT_CODE(AHEAD + 14, "\x89\xc0\x48\x8b\x58\x30\x48\x8b\x63\x38\xc3");
	program_check(s, NO_RULE, TEXT_IP(8), TEXT_IP(AHEAD + 5));
	PUT_CODE(AHEAD + 5, "\x64\x8b\x04\x25\xf8\xff\xff\xff\x48\x8b\x58\x30\x48\x8b\x63\x38\xc3");
	program_check(s, NO_RULE, TEXT_IP(8), TEXT_IP(AHEAD + 5));
	/* By gs; and fs leads nowhere. */
	PUT_CODE(AHEAD + 5, "\x65\x48\x8b\x04\x25\xf8\xff\xff\xff\x48\x8b\x58\x30\x48\x8b\x63\x38\xc3");
	program_check(s, NO_RULE, TEXT_IP(8), TEXT_IP(AHEAD + 5));
	PUT_CODE(AHEAD + 5, "\x64");
	kuw_port_fs_base = 0;
	program_check(s, NO_RULE, TEXT_IP(8), TEXT_IP(AHEAD + 5));
}

/*
 * Start code of musl, whose frame loses rbp, and three functions above it. Following these once
 * takes most of the walk's instructions, so the walk follows them once only.
 */
static void test_ahead_once(void **state)
{
	const u64 called = TEXT_IP(AHEAD + 5), outer = TEXT_IP(TEXT_LEN + 5);
	u32 i, nops = KUW_MAX_INSNS / 4 - 40;

	begin_ahead(0);
	s->map->mappings[0].end = TEXT_IP(AHEAD + 2 * KUW_MAX_INSNS);
	/* call; hlt. Nothing returns from there. */
	PUT_CODE(TEXT_LEN, "\xe8\0\0\0\0\xf4");
	/* call; nops; add $0x78,%rsp; ret */
	PUT_CODE(AHEAD, "\xe8\0\0\0\0");
	for (i = 0; i < nops; i++)
		PUT_CODE(AHEAD + 5 + i, "\x90");
	PUT_CODE(AHEAD + 5 + i, "\x48\x83\xc4\x78\xc3");
	s->stack[15] = called;
	s->stack[31] = called;
	program_push(s, 47, outer, 0, outer, 0, 1);
	s->regs.ip = called;
	kuw_port_stack_first = SYNTH_SP(51);
	s->regs.r[6] = 0;
	program_check(s, COMPLETE, called, called, called, outer, outer);
	assert_int_equal(s->result.proven, 1);
	kuw_port_stack_first = 0;
}

/* Near there, addresses of code are no caller's if no call that goes on is before them. */
static void test_no_caller_near_first_word(void **state)
{
	const u32 word = TEXT_LEN + 0x28, ip = TEXT_LEN + 0x40;
	/*
	 * From the word to where the call before it leads. That function, as an entry of a PLT,
	 * may have jumped to another one, wherever that is, even if it cannot be read.
	 */
	static const s32 calls[] = { 0, 0x10, 0x60, 0x40000000, -8, -0x20 };
	u32 i, at;
	char *code;

	for (at = 5; at < 9; at++) {
		begin_text();
		code = (char *)&s->stack[TEXT_AT];
		kuw_port_stack_first = SYNTH_SP(6);
		s->regs.ip = TEXT_IP(ip);
		s->regs.r[6] = 0;
		s->regs.r[7] = SYNTH_SP(5);
		program_push(s, 5, 0, 1, 0, 0);
		s->stack[at] = TEXT_IP(word);
		/* As i386's vDSO, where an address in the auxiliary vector leads. */
		memcpy(code + word - 8, "\x90\x90\x90\x90\x90\x90\x90\x90", 8);
		program_check(s, COMPLETE, TEXT_IP(ip));
		for (i = 0; at > 5 && i < ARRAY_SIZE(calls); i++) {
			code[word - 5] = '\xe8';
			memcpy(code + word - 4, &calls[i], 4);
			program_check(s, NO_RULE, TEXT_IP(ip));
		}
		/* call *%rax, whatever the bytes before it would call. */
		memcpy(code + word - 5, "\xe8\x90\x90\xff\xd0", 5);
		if (at > 5)
			program_check(s, NO_RULE, TEXT_IP(ip));
		else
			program_check(s, COMPLETE, TEXT_IP(ip), TEXT_IP(word));
	}
	/* What cannot be read may be a call. */
	s->stack[8] = TEXT_IP(-4);
	s->map->mappings[0].start = TEXT_IP(-0x1000);
	program_check(s, COMPLETE, TEXT_IP(ip));
	s->stack[8] = SYNTH_STACK + 4;
	s->map->mappings[0].start = SYNTH_STACK - 0x1000;
	program_check(s, NO_RULE, TEXT_IP(ip));
	kuw_port_stack_first = 0;
}

/*
 * The byte before a function's first one may be padding, which counts to the
 * function before: an address that no call can have pushed has no rule.
 */
static void test_no_call(void **state)
{
	static const char calls[][9] = {
		"\x90\x90\x90\xe8\0\0\0\0",	/* call +0 */
		"\x90\x90\x90\x90\x90\x90\xff\xd0",	/* call *%rax */
		"\x90\x90\x90\x90\x90\x41\xff\x17",	/* call *(%r15) */
		"\x90\x90\x90\x90\x90\xff\x14\xc8",	/* call *(%rax,%rcx,8) */
		"\x90\x90\x90\x90\xff\x54\x24\x08",	/* call *8(%rsp) */
		"\x90\x90\xff\x15\0\0\0\0",		/* call *0(%rip) */
		"\x90\xff\x94\x24\0\x01\0\0",	/* call *256(%rsp) */
		/* Some of them with a uprobe. */
		"\x90\x90\x90\xcc\0\0\0\0",
		"\xcc\xcc\xcc\xcc\xcc\xcc\xff\xff",
		"\x90\x90\x90\x90\x90\x90\xcc\xd0",
		"\x90\x90\xcc\x15\0\0\0\0",
	};
	static const char others[][9] = {
		"\x90\x90\x90\x90\x90\x90\x90\x90",
		"\x0f\x1f\x84\0\0\0\0\0",
		"\xcc\xcc\xcc\xcc\xcc\xcc\xcc\xcc",
		"\x5b\xc3\xcc\xcc\xcc\xcc\xcc\xcc",
		"\x90\x90\x90\x90\xcc\x0f\x1f\0",
		"\x90\x90\x90\x90\x90\x90\xff\xe0",	/* jmp *%rax */
	};
	const u64 end = TEXT_IP(TEXT_LEN + 0x80);
	u32 i;

	for (i = 0; i < ARRAY_SIZE(calls); i++) {
		begin_text();
		memcpy(&s->stack[TEXT_AT + 7], calls[i], 8);
		s->regs.r[6] = 0;
		program_push(s, 0, TEXT_IP(64), end);
		program_check(s, UNPROVEN, TEXT_IP(8), TEXT_IP(64), end);
	}
	for (i = 0; i < ARRAY_SIZE(others); i++) {
		begin_text();
		/* It is no frame's that rbp would lead on from. */
		s->regs.r[6] = SYNTH_SP(10);
		memcpy(&s->stack[TEXT_AT + 7], others[i], 8);
		program_push(s, 0, TEXT_IP(64), end);
		program_push(s, 10, 0, TEXT_IP(60), end);
		program_check(s, UNPROVEN, TEXT_IP(8), TEXT_IP(64));
		assert_int_equal(s->result.proven, 2);
		/* As makecontext() leaves rbx, it is the outermost frame. */
		s->regs.r[3] = SYNTH_SP(1);
		program_check(s, COMPLETE, TEXT_IP(8), TEXT_IP(64));
		s->regs.r[3]--;
		program_check(s, UNPROVEN, TEXT_IP(8), TEXT_IP(64));
		s->regs.r[6] = 0;
		/* In the middle of a function it is what it is. */
		program_push(s, 0, TEXT_IP(60), end);
		program_check(s, UNPROVEN, TEXT_IP(8), TEXT_IP(60), end);
		/* As it is where a signal came. */
		s->regs.ip = TEXT_IP(63);
		program_push(s, 0, end);
		program_check(s, UNPROVEN, TEXT_IP(63), end);
	}
}

/* Functions whose rows make a pair: four bytes with a frame, and one without. */
static void put_pairs(struct buf *b, const struct cie_spec *spec, u32 cie)
{
	const struct prog prog = PROG(DW_CFA_def_cfa_offset, 16,
				      DW_CFA_advance_loc | 4, DW_CFA_def_cfa_offset, 8,
				      DW_CFA_advance_loc | 1, DW_CFA_def_cfa_offset, 16);
	u32 i;

	for (i = 0; i < 8; i++)
		build_fde(b, spec, cie, BUILD_TEXT + 0x400 + i * 0x100, 0x100, prog);
}

/* Profilers put such an address in the place of a return address, behind a byte for unwinders. */
static void test_no_call_at_start(void **state)
{
	const struct cie_spec spec = { 0 };
	struct buf b = { 0 };
	u32 cie, start;

	for (start = 0x20; start < 0x60; start += 0x11) {
		memset(&b, 0, sizeof(b));
		cie = build_cie(&b, &spec);
		build_fde(&b, &spec, cie, BUILD_TEXT, start, PROG(DW_CFA_nop));
		build_fde(&b, &spec, cie, BUILD_TEXT + start, TEXT_LEN, PROG(DW_CFA_undefined, 16));
		begin_text_by(&b);
		s->regs.ip = TEXT_IP(8);
		program_push(s, 0, TEXT_IP(start + 1));
		program_check(s, UNPROVEN, TEXT_IP(8), TEXT_IP(start + 1));
		/* The end of a call, which has two bytes at least. */
		program_push(s, 0, TEXT_IP(start + 2));
		memcpy((u8 *)&s->stack[TEXT_AT] + start, "\xff\xd0", 2);
		program_check(s, COMPLETE, TEXT_IP(8), TEXT_IP(start + 2));
	}
	/* Right behind another function that ends stacks. */
	memset(&b, 0, sizeof(b));
	cie = build_cie(&b, &spec);
	build_fde(&b, &spec, cie, BUILD_TEXT, 0x20, PROG(DW_CFA_nop));
	build_fde(&b, &spec, cie, BUILD_TEXT + 0x20, 0x10, PROG(DW_CFA_undefined, 16));
	build_fde(&b, &spec, cie, BUILD_TEXT + 0x30, 0x10, PROG(DW_CFA_undefined, 16));
	begin_text_by(&b);
	s->regs.ip = TEXT_IP(8);
	program_push(s, 0, TEXT_IP(0x31));
	program_check(s, UNPROVEN, TEXT_IP(8), TEXT_IP(0x31));
}

/* The same behind a function that ends anywhere. Of most addresses, the table says what starts there. */
static void test_no_call_between(void **state)
{
	const struct cie_spec spec = { 0 };
	const u64 end = TEXT_IP(TEXT_LEN + 0x84);
	struct buf b = { 0 };
	u32 i, start, cie, frame;

	/* The first ends with the rule of the next; with another; with what makes a pair of both. */
	for (i = 0; i < 3; i++) {
		for (start = 49; start <= 64; start++) {
			const struct prog last[] = {
				PROG(DW_CFA_nop),
				PROG(DW_CFA_def_cfa_offset, 16),
				PROG(DW_CFA_advance_loc1, (u8)(start - 4), DW_CFA_def_cfa_offset, 16),
			};

			memset(&b, 0, sizeof(b));
			cie = build_cie(&b, &spec);
			build_fde(&b, &spec, cie, BUILD_TEXT, start, last[i]);
			build_fde(&b, &spec, cie, BUILD_TEXT + start, TEXT_LEN - start,
				  PROG(DW_CFA_advance_loc | 1, DW_CFA_def_cfa_offset, 16));
			/* The loop of plain rules comes to the end by itself. */
			build_fde(&b, &spec, cie, BUILD_TEXT + TEXT_LEN, TEXT_LEN,
				  PROG(DW_CFA_undefined, 16));
			put_pairs(&b, &spec, cie);
			begin_text_by(&b);
			assert_true(s->map->mappings[0].table->nr_pairs > 0);
			frame = i > 0;
			s->regs.ip = TEXT_IP(start);
			s->regs.r[6] = 0;
			program_push(s, 0, TEXT_IP(start), 0, end);
			s->stack[1 + frame] = end;
			memset((u8 *)&s->stack[TEXT_AT] + start - 8, 0x90, 8);
			program_check(s, UNPROVEN, TEXT_IP(start), TEXT_IP(start));
			assert_int_equal(s->result.proven, 2);
			/* A call that does not return. */
			memcpy((u8 *)&s->stack[TEXT_AT] + start - 5, "\xe8\0\0\0\0", 5);
			program_check(s, COMPLETE, TEXT_IP(start), TEXT_IP(start), end);
		}
	}
}

static int read_nops(u64 addr, u64 *word)
{
	*word = 0x9090909090909090;
	return 0;
}

/* The same for a rule that is not plain. */
static void test_no_call_of_expression(void **state)
{
	begin(P_RSP);
	kuw_port_elsewhere = read_nops;
	program_push(s, 0, P_BEGIN(P_EXPR + 1), P_RA(P_START));
	program_check(s, UNPROVEN, P_RA(P_RSP), P_BEGIN(P_EXPR + 1));
	kuw_port_elsewhere = NULL;
}

/* Nor is the address of a handler, which such a function puts into the place of its own. */
static void test_no_call_of_handler(void **state)
{
	begin(P_EH_RETURN);
	kuw_port_elsewhere = read_nops;
	program_push(s, 0, 1, 2, P_BEGIN(P_RBP));
	s->regs.r[3] = SYNTH_SP(3);
	program_check(s, UNPROVEN, P_RA(P_EH_RETURN), P_BEGIN(P_RBP));
	/* Behind any other, it would be makecontext()'s. */
	s->regs.ip = P_RA(P_PUSHED);
	s->regs.r[3] = SYNTH_SP(2);
	program_push(s, 1, P_BEGIN(P_RBP));
	program_check(s, COMPLETE, P_RA(P_PUSHED), P_BEGIN(P_RBP));
	kuw_port_elsewhere = NULL;
}

static int read_calls(u64 addr, u64 *word)
{
	*word = 0xe8e8e8e8e8e8e8e8;
	return 0;
}

/* Text: so many bytes with rules, then without a change, then of a function without a caller. */
#define RULES_LEN	0xf000
#define RULES_END	(BUILD_TEXT_LEN - 0x100)

/* Map the functions of @b, from offset @from on, @by bytes further up. */
static void begin_rules(struct buf *b, const struct cie_spec *spec, u32 cie, u32 from, u32 by)
{
	u32 i;

	build_fde(b, spec, cie, BUILD_TEXT + RULES_LEN, RULES_END - RULES_LEN, PROG(DW_CFA_nop));
	build_fde(b, spec, cie, BUILD_TEXT + RULES_END, 0x100, PROG(DW_CFA_undefined, 16));
	drop(NULL);
	s = synth_new(b);
	buf_free(b);
	s->map->mappings[0].start += from + by;
	s->map->mappings[0].end += by;
	s->map->mappings[0].bias += by;
	s->regs.ip = SYNTH_IP(RULES_LEN) + by;
	/* A wrong rule finds one of these. */
	for (i = 0; i < RULES_LEN / 5; i++)
		s->stack[i] = SYNTH_IP(RULES_END + 16) + by;
}

/* A call left the return address @at, wherever that is. Before it, the CFA is @words up. */
static void check_rule(u32 at, u32 words, u32 by)
{
	kuw_port_elsewhere = read_calls;
	s->stack[0] = SYNTH_IP(at) + by;
	s->stack[words] = SYNTH_IP(RULES_END + 8) + by;
	program_check(s, COMPLETE, SYNTH_IP(RULES_LEN) + by, SYNTH_IP(at) + by,
		      SYNTH_IP(RULES_END + 8) + by);
	s->stack[words] = SYNTH_IP(RULES_END + 16) + by;
	kuw_port_elsewhere = NULL;
}

/*
 * No two rows have the same rule: of @dense bytes of text, rows of 5 bytes, which look_up() leaves
 * alone; of the rest, rows of 40, whose codes have one byte, two or three.
 */
static void check_rules(u32 dense, u32 from, u32 by)
{
	const struct cie_spec spec = { 0 };
	struct buf b = { 0 }, p = { 0 };
	u32 cie = build_cie(&b, &spec), at, step, words = 1, next;

	for (at = 0; at < RULES_LEN; at += step) {
		step = at < dense ? 5 : 40;
		buf_uint(&p, DW_CFA_def_cfa_offset, 1);
		buf_uleb(&p, 8 * words++);
		buf_uint(&p, DW_CFA_advance_loc | step, 1);
	}
	build_fde(&b, &spec, cie, BUILD_TEXT, RULES_LEN, (struct prog){ p.bytes, p.len });
	buf_free(&p);
	begin_rules(&b, &spec, cie, from, by);
	for (at = 1, words = 0, next = 0; at <= RULES_LEN; at++) {
		if (at > next) {
			next += next < dense ? 5 : 40;
			words++;
		}
		if (at > from)
			check_rule(at, words, by);
	}
}

/*
 * Functions whose rows make pairs, and pairs of pairs. The last row of every second one goes on in
 * the function behind it, and in another bucket.
 */
static void test_rules_of_pairs(void **state)
{
	static const u32 words[24] = {
		1, 2, 2, 2, 3, 3, 3, 3, 3, 3, 3, 2, 2, 1, 1, 1, 1, 1, 1, 1, 2, 2, 2, 2,
	};
	const struct prog prog = PROG(DW_CFA_def_cfa_offset, 8,
				      DW_CFA_advance_loc | 1, DW_CFA_def_cfa_offset, 16,
				      DW_CFA_advance_loc | 3, DW_CFA_def_cfa_offset, 24,
				      DW_CFA_advance_loc | 7, DW_CFA_def_cfa_offset, 16,
				      DW_CFA_advance_loc | 2, DW_CFA_def_cfa_offset, 8,
				      DW_CFA_advance_loc | 7, DW_CFA_def_cfa_offset, 16);
	const u32 len = 328, n = RULES_LEN / len;
	const struct cie_spec spec = { 0 };
	struct buf b = { 0 };
	const struct kuw_table *table;
	u32 cie = build_cie(&b, &spec), i, at;

	for (i = 0; i < n; i++) {
		/* Of the one with one row less, the next function is aligned. */
		build_fde(&b, &spec, cie, BUILD_TEXT + i * len, ARRAY_SIZE(words),
			  (struct prog){ prog.bytes, prog.len - i % 2 * 3 });
		build_fde(&b, &spec, cie, BUILD_TEXT + i * len + ARRAY_SIZE(words),
			  len - ARRAY_SIZE(words), PROG(DW_CFA_def_cfa_offset, 8));
	}
	begin_rules(&b, &spec, cie, 0, 0);
	table = s->map->mappings[0].table;
	assert_true(table->nr_pairs > 3 && table->nr_cells < table->nr_rows);
	for (i = 0; i < n * len; i++) {
		at = i % len;
		if (at >= ARRAY_SIZE(words) || (at >= 20 && i / len % 2))
			at = 0;
		check_rule(i + 1, words[at], 0);
	}
}

/* Rows of 8 bytes, in no order that makes pairs: most buckets have 32 cells, and some have less. */
static void test_rules_of_many_cells(void **state)
{
	static u8 words[RULES_LEN / 8];
	const struct cie_spec spec = { 0 };
	struct buf b = { 0 }, p = { 0 };
	u32 cie = build_cie(&b, &spec), i, random = 1, less = 0, more = 0;
	struct kuw_look look;

	for (i = 0; i < ARRAY_SIZE(words); i++) {
		random = random * 1103515245 + 12345;
		words[i] = 1 + (random >> 16) % 120;
		buf_uint(&p, DW_CFA_def_cfa_offset, 1);
		buf_uleb(&p, 8 * words[i]);
		buf_uint(&p, DW_CFA_advance_loc | 8, 1);
	}
	build_fde(&b, &spec, cie, BUILD_TEXT, RULES_LEN, (struct prog){ p.bytes, p.len });
	buf_free(&p);
	begin_rules(&b, &spec, cie, 0, 0);
	look = kuw_table_look(s->map->mappings[0].table);
	for (i = 0; i < RULES_LEN >> KUW_BUCKET_SHIFT; i++) {
		less += look.index[i + 1] - look.index[i] == 31;
		more += look.index[i + 1] - look.index[i] == 32;
	}
	assert_true(less && more);
	for (i = 0; i < RULES_LEN; i++)
		check_rule(i + 1, words[i / 8], 0);
}

static void test_rules(void **state)
{
	check_rules(0, 0, 0);
	check_rules(50000, 0, 0);
	check_rules(0, 0x1000, 0);
	/* As no loader maps it, but a program may. */
	check_rules(0, 0, 1);
}

/* Walk where only the stack is there, and not the code; proven are so many of the frames. */
static void walk_without_code(u32 stop, u32 count, u32 proven)
{
	kuw_port_set_window(SYNTH_STACK, 8 * 100, (u64)s->stack - SYNTH_STACK);
	kuw_walk(s->map, host_cache(&s->cache), &s->regs, s->frames, 64, &s->result);
	assert_int_equal(s->result.stop, stop);
	assert_int_equal(s->result.count, count);
	assert_int_equal(s->result.proven, proven);
	kuw_port_set_window(SYNTH_STACK, sizeof(s->stack), (u64)s->stack - SYNTH_STACK);
}

/* What could not be verified, as the page before it was not there, is verified next time. */
static void test_unverified(void **state)
{
	const u64 end = TEXT_IP(TEXT_LEN + 0x80);

	begin_text();
	s->regs.r[6] = 0;
	program_push(s, 0, TEXT_IP(64), end);
	/* The table is believed, and its answer is a guess: a function may begin there. */
	walk_without_code(KUNWIND_STOP_UNPROVEN, 3, 2);
	/* There is no call. */
	kuw_walk(s->map, host_cache(&s->cache), &s->regs, s->frames, 64, &s->result);
	assert_stop(s->result.stop, UNPROVEN);
	assert_int_equal(s->result.count, 2);
	/* No function begins where it has made room. */
	begin_text_of(PROG(DW_CFA_def_cfa_offset, 16));
	s->regs.r[6] = 0;
	program_push(s, 0, 0, TEXT_IP(64), 0, end);
	walk_without_code(KUNWIND_STOP_UNPROVEN, 3, 3);
}

/* Behind the outermost function, another one begins, which is a fiber's first, perhaps. */
static void test_unverified_end(void **state)
{
	const struct cie_spec spec = { 0 };
	struct buf b = { 0 };
	u32 cie = build_cie(&b, &spec);

	build_fde(&b, &spec, cie, BUILD_TEXT, 64, PROG(DW_CFA_undefined, 16));
	build_fde(&b, &spec, cie, BUILD_TEXT + 64, TEXT_LEN - 64, PROG(DW_CFA_nop));
	begin_text_by(&b);
	s->regs.ip = TEXT_IP(72);
	s->regs.r[6] = 0;
	program_push(s, 0, TEXT_IP(64), 0);
	walk_without_code(KUNWIND_STOP_UNPROVEN, 2, 2);
	/* In it, it is the outermost all the same. */
	program_push(s, 0, TEXT_IP(48), 0);
	walk_without_code(KUNWIND_STOP_COMPLETE, 2, 2);
}

/*
 * An FDE that ends where a syscall instruction begins, as clone()'s: the last row
 * holds there, except for the child. @code is the instruction and what follows.
 */
static void put_clone(const char *code, u32 len, u64 rax)
{
	memcpy(&s->stack[TEXT_AT + TEXT_LEN / 8], code, len);
	s->regs.ip = TEXT_IP(TEXT_LEN + KUW_SYSCALL_LEN);
	s->regs.r[0] = rax;
	s->regs.r[6] = 0;
}

#define PUT_CLONE(code, rax)	put_clone(code, sizeof(code) - 1, rax)

/*
 * test %rax,%rax; jl; je +1; ret; where the child begins, whose FDE says that it has no
 * caller: xor %ebp,%ebp.
 */
#define GLIBC_CLONE	"\x0f\x05\x48\x85\xc0\x7c\x13\x74\x01\xc3\x31\xed"
/* The same with near branches, as where the ends of clone() are far apart. */
#define NEAR_CLONE	"\x0f\x05\x48\x85\xc0\x0f\x8c\0\1\0\0\x0f\x84\x01\0\0\0\xc3\x31\xed"
/* pop %edi; pop %esi; pop %ebx; the same with a near jl, and with 32 bits. */
#define I386_CLONE	"\x0f\x05\x5f\x5e\x5b\x85\xc0\x0f\x8c\0\0\0\0\x74\x01\xc3\x89\xf5"
/*
 * musl's: test %eax,%eax; jne; xor %ebp,%ebp; pop %rdi; call *%r9; mov %eax,%edi;
 * xor %eax,%eax; mov $60,%al; syscall; hlt; ret.
 */
#define MUSL_CHILD	"\x31\xed\x5f\x41\xff\xd1\x89\xc7\x31\xc0\xb0\x3c\x0f\x05\xf4\xc3"
#define MUSL_CLONE	"\x0f\x05\x85\xc0\x75\x0f" MUSL_CHILD
#define NEAR_MUSL_CLONE	"\x0f\x05\x85\xc0\x0f\x85\0\1\0\0" MUSL_CHILD

/* Where the child of glibc's and i386's clone() begins: its FDE. */
static void begin_clone_of(u32 child)
{
	const struct cie_spec spec = { 0 };
	struct buf b = { 0 };
	u32 cie = build_cie(&b, &spec);

	build_fde(&b, &spec, cie, BUILD_TEXT, TEXT_LEN, PROG(DW_CFA_nop));
	if (child)
		build_fde(&b, &spec, cie, BUILD_TEXT + TEXT_LEN + child, 0x20,
			  PROG(DW_CFA_undefined, 16));
	begin_text_by(&b);
}

/* The same, where @code has returned to the child, whose stack says @caller. */
#define BEGIN_CHILD(child, code, caller) \
	do { \
		begin_clone_of(child); \
		PUT_CLONE(code, 0); \
		program_push(s, 0, caller); \
	} while (0)

static void test_clone(void **state)
{
	/* Behind all rows, with rbp = 0. */
	const u64 caller = TEXT_IP(TEXT_LEN + 0x80), ip = TEXT_IP(TEXT_LEN + 2);

	begin_clone_of(0);
	PUT_CLONE(GLIBC_CLONE, 1234);
	program_push(s, 0, caller);
	program_check(s, UNPROVEN, ip, caller);
	assert_int_equal(s->result.proven, 1);
	PUT_CLONE("\x0f\x0b", 1234);
	program_check(s, NO_RULE, ip);
	/* argc is where the rule says, but the function has popped its return address. */
	PUT_CLONE(GLIBC_CLONE, 1234);
	kuw_port_stack_first = SYNTH_SP(0);
	program_push(s, 0, 1);
	s->regs.r[1] = TEXT_IP(8);
	PUT_CODE(3, "\xe8\0\0\0\0");
	program_check(s, UNPROVEN, ip);
	kuw_port_stack_first = 0;
	/* A last row that is a rule in full is not one of clone()'s. */
	begin_text_of(PROG(DW_CFA_def_cfa_expression, 4, DW_OP_breg7, 0, DW_OP_lit8,
			   DW_OP_plus));
	PUT_CLONE(GLIBC_CLONE, 1234);
	program_push(s, 0, caller);
	program_check(s, NO_RULE, ip);
}

/* The child's stack is another one: the code shows where it goes on. */
static void test_clone_child(void **state)
{
	const u64 caller = TEXT_IP(TEXT_LEN + 0x80), ip = TEXT_IP(TEXT_LEN + 2);

	BEGIN_CHILD(10, GLIBC_CLONE, caller);
	program_check(s, COMPLETE, ip);
	BEGIN_CHILD(18, NEAR_CLONE, caller);
	program_check(s, COMPLETE, ip);
	/* Not if the FDE there is none of a thread's begin, */
	BEGIN_CHILD(11, GLIBC_CLONE, caller);
	program_check(s, UNPROVEN, ip, caller);
	/* or if it is the result of another system call that is 0. */
	BEGIN_CHILD(20, "\x0f\x05\x48\x89\xc7\xc3", caller);
	program_check(s, UNPROVEN, ip, caller);
	PUT_CLONE("\x0f\x05\x5f\x5e\x5b\x5f\x5f\x5f\x5f\x5f\x85\xc0", 0);
	program_check(s, UNPROVEN, ip, caller);
	/* Or if no instruction follows. */
	PUT_CLONE("\x0f\x05\x06", 0);
	program_check(s, UNPROVEN, ip, caller);
	BEGIN_CHILD(16, I386_CLONE, caller);
	program_check(s, COMPLETE, ip);
	/* musl's has no FDE. */
	BEGIN_CHILD(0, NEAR_MUSL_CLONE, caller);
	program_check(s, COMPLETE, ip);
	BEGIN_CHILD(0, MUSL_CLONE, caller);
	program_check(s, COMPLETE, ip);
	s->stack[TEXT_AT + TEXT_LEN / 8 + 1]++;
	program_check(s, UNPROVEN, ip, caller);
}

/*
 * The code that fibers of make_fcontext() begin in, and end in: push %rbp; jmp *%rbx;
 * xor %rdi,%rdi; call; hlt, without and with a landing pad.
 */
static void test_fiber(void **state)
{
	static const char *const codes[] = {
		"\x55\xff\xe3\x48\x31\xff\xe8\1\2\3\4\xf4",
		"\x55\xff\xe3\xf3\x0f\x1e\xfa\x48\x31\xff\xe8\1\2\3\4\xf4",
	};
	size_t i, j;

	for (i = 0; i < 2; i++)
		for (j = 0; j <= strlen(codes[i]); j++) {
			/* Each byte counts, except where _exit() is, and what follows. */
			bool any = codes[i][j] >= 0 && codes[i][j] <= 4;

			begin_clone_of(0);
			put_clone(codes[i], strlen(codes[i]), 0);
			((u8 *)s->stack)[TEXT_AT * 8 + TEXT_LEN + j] ^= 0x40;
			s->regs.ip = TEXT_IP(8);
			program_push(s, 0, TEXT_IP(TEXT_LEN + 3));
			/* Whatever was in rbp. */
			s->regs.r[6] = 0x123456;
			synth_walk(s, KUNWIND_MAX_FRAMES);
			assert_int_equal(s->result.stop == KUNWIND_STOP_COMPLETE, any);
			if (any)
				assert_int_equal(s->result.proven, 2);
		}
}

/* The code that musl's threads begin in, which calls their function. */
static void test_thread(void **state)
{
	const u64 ra = TEXT_IP(TEXT_LEN + 6);
	u32 i;

	for (i = 0; i <= 14; i++) {
		begin_clone_of(0);
		PUT_CLONE(MUSL_CHILD, 0);
		s->regs.ip = TEXT_IP(8);
		program_push(s, 0, ra);
		if (i == 14) {
			program_check(s, COMPLETE, TEXT_IP(8), ra);
			/* Whatever its function has left in rbp. */
			s->regs.r[6] = 0x123456;
			program_check(s, COMPLETE, TEXT_IP(8), ra);
			break;
		}
		((u8 *)s->stack)[TEXT_AT * 8 + TEXT_LEN + i] ^= 0x40;
		program_check(s, UNPROVEN, TEXT_IP(8), ra);
	}
}

/* A signal came there: whose system call it is, the interrupted rax tells. */
static void test_clone_interrupted(void **state)
{
	const u64 caller = TEXT_IP(TEXT_LEN + 0x80), ip = TEXT_IP(TEXT_LEN + 2);
	const u64 restorer = SYNTH_SP(TEXT_AT + 100);
	struct kuw_mapping *m;

	begin_clone_of(10);
	PUT_CLONE(GLIBC_CLONE, 0);
	m = &s->map->mappings[s->map->count++];
	*m = (struct kuw_mapping){
		.start = restorer - 8, .end = restorer + 16,
		.kind = KUW_MAPPING_NO_TABLE,
	};
	/* mov $15,%rax; syscall */
	memcpy(&s->stack[TEXT_AT + 100], "\x48\xc7\xc0\x0f\0\0\0\x0f\x05", 9);
	s->regs.ip = TEXT_IP(8);
	program_push(s, 0, restorer);
	program_signal(s, 1, ip, SYNTH_SP(90), 0);
	program_push(s, 90, caller);
	s->stack[1 + 144 / 8] = 1234;
	program_check(s, UNPROVEN, TEXT_IP(8), restorer, ip, caller);
	assert_int_equal(s->result.proven, 3);
	s->stack[1 + 144 / 8] = 0;
	program_check(s, COMPLETE, TEXT_IP(8), restorer, ip);
}

/* A call of a null pointer, of the vsyscall page, or of any other place without code. */
static void test_bad_call(void **state)
{
	static const u64 bad[] = { 0, 0x1000, 0x7000000000, 0xffffffffff600400 };
	u32 i;

	for (i = 0; i < ARRAY_SIZE(bad); i++) {
		begin(P_RSP);
		s->regs.ip = bad[i];
		program_push(s, 0, P_RA(P_RSP), P_RA(P_START));
		program_check(s, COMPLETE, bad[i], P_RA(P_RSP), P_RA(P_START));
		assert_int_equal(s->result.proven, 1);
	}
	begin(P_RSP);
	s->regs.ip = 0;
	program_check(s, NO_MAPPING, 0);
	/* A function with a uretprobe has jumped there. */
	map_trampoline(0x7fffffffe000);
	program_push(s, 0, 0x7fffffffe000, P_RA(P_START));
	kuw_port_uretprobe_slot = SYNTH_SP(0);
	kuw_port_uretprobe_ra = P_RA(P_RSP);
	program_check(s, COMPLETE, 0, P_RA(P_RSP), P_RA(P_START));
	assert_int_equal(s->result.proven, 1);
	kuw_port_uretprobe_slot = 0;
}

#define TEST(name)	cmocka_unit_test_teardown(name, drop)

static const struct CMUnitTest tests[] = {
	TEST(test_plain),
	TEST(test_outermost),
	TEST(test_frame_pointer),
	TEST(test_noreturn),
	TEST(test_first_instruction),
	TEST(test_plt),
	TEST(test_realigned),
	TEST(test_given_back),
	TEST(test_r10),
	TEST(test_callee_saved),
	TEST(test_ra_in_register),
	TEST(test_expression),
	TEST(test_value),
	TEST(test_lost_rbp),
	TEST(test_lost_rsp),
	TEST(test_cfa),
	TEST(test_red_zone),
	TEST(test_red_zone_end),
	TEST(test_other_stack),
	TEST(test_other_stacks),
	TEST(test_popped),
	TEST(test_leaves),
	TEST(test_room),
	TEST(test_other_maps),
	TEST(test_turns),
	TEST(test_orders),
	TEST(test_same_place),
	TEST(test_loop),
	TEST(test_bad_ra),
	TEST(test_null_ra),
	TEST(test_faults),
	TEST(test_expression_faults),
	TEST(test_nowhere),
	TEST(test_null_frame_pointer),
	TEST(test_first_word),
	TEST(test_argument_count),
	TEST(test_low_code),
	TEST(test_near_first_word),
	TEST(test_ahead_fs),
	TEST(test_ahead_once),
	TEST(test_no_caller_near_first_word),
	TEST(test_uretprobe),
	TEST(test_uretprobe_full),
	TEST(test_uretprobe_adjacent),
	TEST(test_uretprobe_bad),
	TEST(test_uprobe),
	TEST(test_uretprobe_forged),
	TEST(test_ra_expression),
	TEST(test_guess),
	TEST(test_guess_of_what),
	TEST(test_guess_leaf),
	TEST(test_ahead),
	TEST(test_ahead_stack_pointer),
	TEST(test_ahead_vectors),
	TEST(test_ahead_half_words),
	TEST(test_ahead_branches),
	TEST(test_ahead_jumps),
	TEST(test_ahead_tail_call),
	TEST(test_redone_faults),
	TEST(test_system_call),
	TEST(test_ahead_forever),
	TEST(test_ahead_outer_frame),
	TEST(test_guess_unmapped_call),
	TEST(test_ahead_faults),
	TEST(test_ahead_registers),
	TEST(test_ahead_stacks),
	TEST(test_no_call),
	TEST(test_no_call_at_start),
	TEST(test_no_call_between),
	TEST(test_no_call_of_expression),
	TEST(test_no_call_of_handler),
	TEST(test_rules),
	TEST(test_rules_of_pairs),
	TEST(test_rules_of_many_cells),
	TEST(test_unverified),
	TEST(test_unverified_end),
	TEST(test_clone),
	TEST(test_clone_child),
	TEST(test_fiber),
	TEST(test_thread),
	TEST(test_clone_interrupted),
	TEST(test_bad_call),
};

TEST_MAIN(tests)
