// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* How far a walk goes: capacity, depth, faults at every read. */
#include <stdlib.h>
#include "test.h"
#include "budgets.h"
#include "made_program.h"

static struct synth *s;

static int drop(void **state)
{
	if (s)
		synth_free(s);
	s = NULL;
	kuw_port_fail_nth = 0;
	return 0;
}

/* @depth frames of one word each, the last of them the outermost. */
static void begin_recursion(u32 depth)
{
	u32 i;

	drop(NULL);
	s = program_new(P_RSP);
	for (i = 0; i + 1 < depth; i++)
		s->stack[i] = P_RA(i + 2 < depth ? P_RSP : P_START);
}

static void check_end(u32 capacity, u32 count, u32 stop)
{
	synth_walk(s, capacity);
	assert_int_equal(s->result.count, count);
	assert_string_equal(stop_name(s->result.stop), stop_name(stop));
}

static void test_capacity(void **state)
{
	u32 capacity;

	begin_recursion(10);
	for (capacity = 0; capacity < 10; capacity++)
		check_end(capacity, capacity, KUNWIND_STOP_CAPACITY);
	check_end(10, 10, KUNWIND_STOP_COMPLETE);
	check_end(11, 10, KUNWIND_STOP_COMPLETE);
}

static void test_depth(void **state)
{
	begin_recursion(KUNWIND_MAX_FRAMES);
	check_end(KUNWIND_MAX_FRAMES, KUNWIND_MAX_FRAMES,
		  KUNWIND_STOP_COMPLETE);
	begin_recursion(KUNWIND_MAX_FRAMES + 1);
	check_end(KUNWIND_MAX_FRAMES, KUNWIND_MAX_FRAMES,
		  KUNWIND_STOP_MAX_FRAMES);
	begin_recursion(600);
	check_end(KUNWIND_MAX_FRAMES, 600, KUNWIND_STOP_COMPLETE);
}

/* A larger capacity than a walk ever fills is no reason to fill it. */
static void test_large_capacity(void **state)
{
	static u64 frames[2 * KUNWIND_MAX_FRAMES];
	struct kuw_result result;

	begin_recursion(KUNWIND_MAX_FRAMES + 100);
	synth_walk(s, 1);
	kuw_walk(s->map, host_cache(&s->cache), &s->regs, frames, 2 * KUNWIND_MAX_FRAMES, &result);
	assert_int_equal(result.count, KUNWIND_MAX_FRAMES);
	assert_stop(result.stop, MAX_FRAMES);
	assert_true(frames[KUNWIND_MAX_FRAMES] == 0);
}

/* Both ways of the walk have their own loop: the one that follows all registers. */
static void begin_full(u32 depth)
{
	begin_recursion(depth);
	/* The frame above the outermost needs rbx, which nobody saves. */
	s->stack[depth - 3] = P_RA(P_RBX);
	s->regs.r[3] = SYNTH_SP(depth);
	s->stack[depth + 1] = P_RA(P_START);
}

static void test_full(void **state)
{
	u32 capacity;

	begin_full(12);
	check_end(64, 12, KUNWIND_STOP_COMPLETE);
	assert_int_equal(s->result.proven, 12);
	for (capacity = 1; capacity < 12; capacity++)
		check_end(capacity, capacity, KUNWIND_STOP_CAPACITY);
	begin_full(KUNWIND_MAX_FRAMES + 1);
	check_end(KUNWIND_MAX_FRAMES, KUNWIND_MAX_FRAMES,
		  KUNWIND_STOP_MAX_FRAMES);
}

/*
 * @n frames that are none for the loop, then one that is if @plain, then one that needs rbx. No
 * frame saves rbx.
 */
static void begin_mixed(u32 n, bool plain)
{
	u32 i;

	drop(NULL);
	s = program_new(P_EXPR);
	for (i = 0; i + 1 < n; i++)
		s->stack[i] = P_RA(P_EXPR);
	if (plain)
		s->stack[i++] = P_RA(P_RSP);
	s->stack[i] = P_RA(P_RBX);
	s->regs.r[3] = SYNTH_SP(i + 10);
	s->stack[i + 11] = P_RA(P_START);
}

/* A walk starts again if the loop has lost a register, unless that costs too much. */
static void test_redone(void **state)
{
	begin_mixed(KUW_MAX_REDONE, true);
	check_end(KUNWIND_MAX_FRAMES, KUW_MAX_REDONE + 3, KUNWIND_STOP_COMPLETE);
	begin_mixed(KUW_MAX_REDONE + 1, true);
	check_end(KUNWIND_MAX_FRAMES, KUW_MAX_REDONE + 3, KUNWIND_STOP_REG_UNKNOWN);
	/* The loop has lost nothing. */
	begin_mixed(2 * KUW_MAX_REDONE, false);
	check_end(KUNWIND_MAX_FRAMES, 2 * KUW_MAX_REDONE + 2, KUNWIND_STOP_COMPLETE);
}

/*
 * More frames than a walk has, in pieces: a signal interrupted the 1000th, and from the
 * 2000th on they are guesses.
 */
#define DEEP	4000

static void begin_deep(void)
{
	u32 i;

	drop(NULL);
	s = program_new(P_RSP);
	for (i = 0; i < DEEP; i++)
		s->stack[i] = P_RA(P_RSP);
	s->stack[998] = P_BEGIN(P_SIGNAL);
	program_signal(s, 999, P_RA(P_RSP) + 1, SYNTH_SP(1100), 0);
	s->stack[1999] = P_RA(P_NO_FDE);
	s->regs.r[6] = 0;
	s->stack[999 + 120 / 8] = SYNTH_SP(2000);
	program_push(s, 2000, SYNTH_SP(DEEP), P_RA(P_RSP));
	s->stack[DEEP] = P_RA(P_START);
}

/* Walk in pieces of @size, with another map each time. Return: how many frames. */
static u32 walk_pieces(u64 *frames, u32 size, u32 *proven, u32 *interrupted)
{
	struct kuw_result r;
	struct kuw_state w;
	u32 n = 0, i;

	*proven = 0;
	*interrupted = 0;
	kuw_state_start(&w, &s->regs, KUW_WORD);
	do {
		s->map->number++;
		kuw_walk_more(&w, s->map, frames + n, size, &r);
		assert_true(r.count && r.count <= size);
		/* Those that are proven come first. */
		assert_true(*proven == n || !r.proven);
		*proven += r.proven;
		for (i = 0; i < r.nr_interrupted; i++)
			*interrupted = *interrupted * 10000 + n + r.interrupted[i];
		n += r.count;
	} while (r.stop == KUNWIND_STOP_CAPACITY || r.stop == KUNWIND_STOP_MAX_FRAMES);
	assert_stop(r.stop, COMPLETE);
	return n;
}

static void test_pieces(void **state)
{
	static u64 frames[DEEP], again[DEEP];
	u32 size, n, proven, interrupted, i;

	begin_deep();
	synth_walk(s, KUNWIND_MAX_FRAMES);
	assert_stop(s->result.stop, MAX_FRAMES);
	assert_int_equal(s->result.nr_interrupted, 1);
	n = walk_pieces(frames, KUNWIND_MAX_FRAMES, &proven, &interrupted);
	/* Up to the signal, from there to the frame without a rule, and the rest. */
	assert_int_equal(n, 1000 + (2000 - 1100 + 1) + (DEEP - 2002 + 1) + 1);
	assert_memory_equal(frames, s->frames, 8 * KUNWIND_MAX_FRAMES);
	for (i = 0; i < n; i++)
		assert_int_equal(frames[i], i == 999 ? P_BEGIN(P_SIGNAL) :
				 i == 1000 ? P_RA(P_RSP) + 1 :
				 i == 1900 ? P_RA(P_NO_FDE) :
				 i == n - 1 ? P_RA(P_START) : P_RA(P_RSP));
	assert_int_equal(proven, 1901);
	assert_int_equal(interrupted, 1000);
	for (size = 1; size <= 1000; size += 37) {
		assert_int_equal(walk_pieces(again, size, &proven, &interrupted), n);
		assert_memory_equal(again, frames, 8 * n);
		assert_int_equal(proven, 1901);
		assert_int_equal(interrupted, 1000);
	}
}

/* Let each read of a walk fail in turn: what came before it stays. */
static void sweep(void)
{
	u64 whole[64];
	u64 reads, nth;
	u32 count, i;

	kuw_port_reads = 0;
	kuw_port_fail_nth = 0;
	synth_walk(s, 64);
	assert_stop(s->result.stop, COMPLETE);
	reads = kuw_port_reads;
	count = s->result.count;
	assert_true(reads >= count - 1);
	memcpy(whole, s->frames, sizeof(whole));

	for (nth = 1; nth <= reads; nth++) {
		kuw_port_reads = 0;
		kuw_port_fail_nth = nth;
		synth_walk(s, 64);
		for (i = 0; i < s->result.count && i < s->result.proven; i++)
			assert_int_equal(s->frames[i], whole[i]);
		/* A register that nobody needed may be lost. */
		if (s->result.count == count)
			continue;
		assert_true(s->result.stop != KUNWIND_STOP_COMPLETE);
	}
	kuw_port_fail_nth = 0;
}

static void test_sweep(void **state)
{
	begin_recursion(20);
	sweep();
	begin_full(20);
	sweep();

	drop(NULL);
	s = program_new(P_PUSHED);
	program_push(s, 0, SYNTH_SP(10), P_RA(P_EXPR), P_RA(P_RBP));
	program_push(s, 10, SYNTH_SP(20), P_RA(P_VALUE), P_RA(P_PLT),
		     P_RA(P_SAVES));
	program_push(s, 21, P_RA(P_START));
	sweep();
}

static void test_sweep_signal(void **state)
{
	drop(NULL);
	s = program_new(P_RSP);
	program_push(s, 0, P_BEGIN(P_SIGNAL));
	program_signal(s, 1, P_RA(P_REALIGNED), SYNTH_SP(90), SYNTH_SP(108));
	program_push(s, 107, SYNTH_SP(121), SYNTH_SP(130));
	program_push(s, 120, P_RA(P_RBP));
	program_push(s, 130, 0, P_RA(P_START));
	sweep();
}

/* The window ends after each word in turn: a stack that is not there. */
static void test_short_stack(void **state)
{
	u64 frames[64];
	struct kuw_result result;
	u32 words;

	begin_recursion(30);
	synth_walk(s, 64);
	for (words = 0; words < 29; words++) {
		u64 *copy = malloc(8 * words + 1);

		memcpy(copy, s->stack, 8 * words);
		kuw_port_set_window(SYNTH_STACK, 8 * words,
				    (u64)copy - SYNTH_STACK);
		kuw_walk(s->map, host_cache(&s->cache), &s->regs, frames, 64, &result);
		assert_stop(result.stop, STACK_FAULT);
		assert_int_equal(result.count, words + 1);
		assert_memory_equal(frames, s->frames, 8 * (words + 1));
		free(copy);
	}
}

/* Any stack pointer and frame pointer: the walk ends, whatever they are. */
static void test_any_registers(void **state)
{
	static const u64 values[] = {
		0, 1, 7, 8, 0x1000, SYNTH_STACK - 8, SYNTH_STACK,
		SYNTH_STACK + 4, SYNTH_SP(SYNTH_WORDS - 1),
		SYNTH_SP(SYNTH_WORDS), KUW_PORT_USER_END - 8,
		KUW_PORT_USER_END, 1ULL << 47, 1ULL << 63, ~0ULL - 7, ~0ULL,
	};
	u32 f, i, j;

	for (f = 0; f < P_NR; f++) {
		drop(NULL);
		s = program_new(f);
		for (i = 0; i < ARRAY_SIZE(values); i++)
			for (j = 0; j < ARRAY_SIZE(values); j++) {
				s->regs.r[7] = values[i];
				s->regs.r[6] = values[j];
				s->regs.r[10] = values[j];
				s->regs.r[3] = values[j];
				synth_walk(s, 16);
				assert_int_equal(s->frames[0], P_RA(f));
			}
	}
}

#define TEST(name)	cmocka_unit_test_teardown(name, drop)

static const struct CMUnitTest tests[] = {
	TEST(test_capacity),
	TEST(test_depth),
	TEST(test_large_capacity),
	TEST(test_full),
	TEST(test_redone),
	TEST(test_pieces),
	TEST(test_sweep),
	TEST(test_sweep_signal),
	TEST(test_short_stack),
	TEST(test_any_registers),
};

TEST_MAIN(tests)
