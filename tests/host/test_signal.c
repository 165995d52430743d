// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* Walks through signal frames, with and without CFI for the restorer. */
#include <dwarf.h>
#include "test.h"
#include "one_program.h"
#include "budgets.h"

/* A handler (P_RSP) that returns to the restorer; the context is at word 1. */
static void begin_handler(u64 ip, u64 sp, u64 bp)
{
	begin(P_RSP);
	program_push(s, 0, P_BEGIN(P_SIGNAL));
	program_signal(s, 1, ip, sp, bp);
}

/* Check which frames were interrupted; the innermost is not listed. */
#define check_interrupted(...) \
	expect_interrupted((const u16[]){ __VA_ARGS__ }, \
			   sizeof((const u16[]){ __VA_ARGS__ }) / 2)
static void expect_interrupted(const u16 *index, u32 count)
{
	assert_int_equal(s->result.nr_interrupted, count);
	assert_memory_equal(s->result.interrupted, index, 2 * count);
}

static void test_signal(void **state)
{
	begin_handler(P_RA(P_RBP), SYNTH_SP(90), SYNTH_SP(100));
	program_push(s, 100, 0, P_RA(P_START));
	program_check(s, COMPLETE, P_RA(P_RSP), P_BEGIN(P_SIGNAL), P_RA(P_RBP),
		      P_RA(P_START));
	assert_int_equal(s->result.proven, 4);
	check_interrupted(2);
	/* There is no room for the frame that would be. */
	synth_walk(s, 2);
	assert_int_equal(s->result.nr_interrupted, 0);
	/* One that follows all registers. */
	s->stack[1 + 128 / 8] = SYNTH_SP(120);
	program_push(s, 101, P_RA(P_RBX));
	program_push(s, 121, P_RA(P_START));
	synth_walk(s, KUNWIND_MAX_FRAMES);
	assert_int_equal(s->result.count, 5);
	check_interrupted(2);
}

/* The interrupted ip is where it is: here, on a function's first byte. */
static void test_first_instruction(void **state)
{
	begin_handler(P_BEGIN(P_PUSHED), SYNTH_SP(90), 0);
	program_push(s, 90, 0, P_RA(P_START));
	program_check(s, COMPLETE, P_RA(P_RSP), P_BEGIN(P_SIGNAL),
		      P_BEGIN(P_PUSHED), P_RA(P_START));
	/* And the outermost frame may be interrupted, too. */
	begin_handler(P_BEGIN(P_START), SYNTH_SP(90), 0);
	program_check(s, COMPLETE, P_RA(P_RSP), P_BEGIN(P_SIGNAL),
		      P_BEGIN(P_START));
}

/* A call of a place without code was interrupted: only the call has happened. */
static void test_bad_call(void **state)
{
	static const u64 bad[] = { 0, 0x1000, 0x7000000000 };
	u32 i;

	for (i = 0; i < ARRAY_SIZE(bad); i++) {
		begin_handler(bad[i], SYNTH_SP(90), SYNTH_SP(100));
		program_push(s, 90, P_RA(P_RBP));
		program_push(s, 100, 0, P_RA(P_START));
		program_check(s, COMPLETE, P_RA(P_RSP), P_BEGIN(P_SIGNAL), bad[i],
			      P_RA(P_RBP), P_RA(P_START));
		assert_int_equal(s->result.proven, 3);
	}
	begin_handler(0, SYNTH_SP(90), 0);
	program_check(s, NO_MAPPING, P_RA(P_RSP), P_BEGIN(P_SIGNAL), 0);
}

/* So was a function without an FDE, which has most likely pushed nothing. */
static void test_no_fde(void **state)
{
	begin_handler(P_RA(P_NO_FDE), SYNTH_SP(90), SYNTH_SP(200));
	program_push(s, 90, P_RA(P_RSP), P_RA(P_START));
	program_check(s, COMPLETE, P_RA(P_RSP), P_BEGIN(P_SIGNAL), P_RA(P_NO_FDE),
		      P_RA(P_RSP), P_RA(P_START));
	assert_int_equal(s->result.proven, 3);
}

/* All registers come back, those that calls clobber included. */
static void test_registers(void **state)
{
	begin_handler(P_RA(P_R10), SYNTH_SP(50), 0);
	s->stack[1 + 56 / 8] = SYNTH_SP(90);
	program_push(s, 89, P_RA(P_START));
	program_check(s, COMPLETE, P_RA(P_RSP), P_BEGIN(P_SIGNAL), P_RA(P_R10),
		      P_RA(P_START));
	begin_handler(P_RA(P_RA_IN_RAX), SYNTH_SP(50), 0);
	s->stack[1 + 144 / 8] = P_RA(P_START);
	program_check(s, COMPLETE, P_RA(P_RSP), P_BEGIN(P_SIGNAL),
		      P_RA(P_RA_IN_RAX), P_RA(P_START));
}

static void test_nested(void **state)
{
	begin_handler(P_RA(P_RSP), SYNTH_SP(100), 0);
	program_push(s, 100, P_BEGIN(P_SIGNAL));
	program_signal(s, 101, P_RA(P_RSP), SYNTH_SP(200), 0);
	program_push(s, 200, P_RA(P_START));
	program_check(s, COMPLETE, P_RA(P_RSP), P_BEGIN(P_SIGNAL), P_RA(P_RSP),
		      P_BEGIN(P_SIGNAL), P_RA(P_RSP), P_RA(P_START));
	check_interrupted(2, 4);
}

/* @count handlers, each interrupted in its turn, and the outermost frame. */
static void begin_handlers(u32 count)
{
	u32 word = 0, i;

	begin(P_RSP);
	for (i = 0; i < count; i++, word += 32) {
		program_push(s, word, P_BEGIN(P_SIGNAL));
		program_signal(s, word + 1, P_RA(P_RSP), SYNTH_SP(word + 32), 0);
	}
	program_push(s, word, P_RA(P_START));
}

/* As many as the list has room for; and one more, which is not written. */
static void test_many(void **state)
{
	struct kuw_state w;
	u32 i;

	begin_handlers(KUW_MAX_INTERRUPTED);
	synth_walk(s, KUNWIND_MAX_FRAMES);
	assert_stop(s->result.stop, COMPLETE);
	assert_int_equal(s->result.count, 2 * KUW_MAX_INTERRUPTED + 2);
	assert_int_equal(s->result.nr_interrupted, KUW_MAX_INTERRUPTED);
	for (i = 0; i < KUW_MAX_INTERRUPTED; i++)
		assert_int_equal(s->result.interrupted[i], 2 * i + 2);
	begin_handlers(KUW_MAX_INTERRUPTED + 1);
	synth_walk(s, KUNWIND_MAX_FRAMES);
	assert_stop(s->result.stop, SIGNAL_BUDGET);
	assert_int_equal(s->result.count, 2 * KUW_MAX_INTERRUPTED + 2);
	assert_int_equal(s->result.nr_interrupted, KUW_MAX_INTERRUPTED);
	/* A walk that follows all registers has the same list. */
	kuw_state_start(&w, &s->regs, KUW_WORD);
	kuw_walk_more(&w, s->map, s->frames, KUNWIND_MAX_FRAMES, &s->result);
	assert_stop(s->result.stop, SIGNAL_BUDGET);
	assert_int_equal(s->result.count, 2 * KUW_MAX_INTERRUPTED + 2);
	assert_int_equal(s->result.nr_interrupted, KUW_MAX_INTERRUPTED);
}

/* The handler ran on an alternate stack that lies above: the CFA goes down. */
static void test_alternate_stack(void **state)
{
	begin(P_RSP);
	s->regs.r[7] = SYNTH_SP(1000);
	program_push(s, 1000, P_BEGIN(P_SIGNAL));
	program_signal(s, 1001, P_RA(P_RSP), SYNTH_SP(10), 0);
	program_push(s, 10, P_RA(P_START));
	program_check(s, COMPLETE, P_RA(P_RSP), P_BEGIN(P_SIGNAL), P_RA(P_RSP),
		      P_RA(P_START));
}

/* A signal frame that leads back to itself: only so many times. */
static void test_loop(void **state)
{
	begin_handler(P_RA(P_RSP), SYNTH_SP(0), 0);
	synth_walk(s, KUNWIND_MAX_FRAMES);
	assert_stop(s->result.stop, CFA_BACK);
	assert_int_equal(s->result.count, 2 * (KUW_MAX_STACK_SWITCHES + 1));
}

/*
 * The same of one that does not move: its return address is in a register, as in
 * vfork(), whose stack pointer may stay where it is.
 */
static void test_loop_in_place(void **state)
{
	const struct cie_spec spec = { .aug = "zRS" };
	struct buf b = { 0 };

	drop(NULL);
	build_fde(&b, &spec, build_cie(&b, &spec), BUILD_TEXT, 0x100,
		  PROG(DW_CFA_def_cfa_offset, 0, DW_CFA_register, KUW_RA, KUW_RBX));
	s = synth_new(&b);
	buf_free(&b);
	s->regs.ip = SYNTH_IP(0x10);
	s->regs.r[KUW_RBX] = SYNTH_IP(0x10);
	synth_walk(s, KUNWIND_MAX_FRAMES);
	assert_stop(s->result.stop, CFA_BACK);
	assert_int_equal(s->result.count, KUW_MAX_STACK_SWITCHES + 1);
}

/* The same of one that leads a little below it: into the red zone of what it interrupted. */
static void test_loop_red_zone(void **state)
{
	begin_handler(P_RA(P_BACK), SYNTH_SP(2), 0);
	synth_walk(s, KUNWIND_MAX_FRAMES);
	assert_stop(s->result.stop, CFA_BACK);
	assert_int_equal(s->result.count, 2 * (KUW_MAX_STACK_SWITCHES + 1) + 1);
}

static void test_bad_context(void **state)
{
	begin_handler(KUW_PORT_USER_END, SYNTH_SP(90), 0);
	program_check(s, RA_BAD, P_RA(P_RSP), P_BEGIN(P_SIGNAL));
	begin_handler(P_RA(P_RSP), SYNTH_SP(90) + 1, 0);
	program_check(s, CFA_BAD, P_RA(P_RSP), P_BEGIN(P_SIGNAL), P_RA(P_RSP));
	begin_handler(P_RA(P_RSP), 0xffff888000000000, 0);
	program_check(s, STACK_FAULT, P_RA(P_RSP), P_BEGIN(P_SIGNAL), P_RA(P_RSP));
	/* The context lies beyond the stack's end. */
	begin(P_RSP);
	s->regs.r[7] = SYNTH_SP(SYNTH_WORDS - 1);
	program_push(s, SYNTH_WORDS - 1, P_BEGIN(P_SIGNAL));
	program_check(s, STACK_FAULT, P_RA(P_RSP), P_BEGIN(P_SIGNAL));
}

/*
 * musl's restorer has no CFI: its bytes say what it is. Here they lie on the
 * stack, as the code of a kernel without a vDSO once did.
 */
#define RESTORER	1500

static void begin_restorer(const char *code)
{
	begin(P_RSP);
	s->map->mappings[1] = (struct kuw_mapping){
		/* A nop comes before it: return addresses are looked up so. */
		.start = SYNTH_SP(RESTORER - 1), .end = SYNTH_SP(RESTORER + 4),
		.kind = KUW_MAPPING_NO_TABLE,
	};
	s->map->count = 2;
	memcpy(&s->stack[RESTORER], code, 9);
	program_push(s, 0, SYNTH_SP(RESTORER));
	program_signal(s, 1, P_RA(P_RSP), SYNTH_SP(90), 0);
	program_push(s, 90, P_RA(P_START));
}

static void test_restorer(void **state)
{
	/* mov $15,%rax; syscall. And mov $15,%eax; syscall, with any byte behind it. */
	static const char * const restorers[] = {
		"\x48\xc7\xc0\x0f\0\0\0\x0f\x05", "\xb8\x0f\0\0\0\x0f\x05\xcc",
	};
	/* Other system calls, and ud2. */
	static const char * const others[] = {
		"\x48\xc7\xc0\x0e\0\0\0\x0f\x05", "\x48\xc7\xc0\x0f\0\0\0\x0f\x0b",
		"\xb8\x0e\0\0\0\x0f\x05\xcc", "\xb8\x0f\0\0\0\x0f\x0b\xcc",
	};
	u32 i;

	for (i = 0; i < ARRAY_SIZE(restorers); i++) {
		begin_restorer(restorers[i]);
		program_check(s, COMPLETE, P_RA(P_RSP), SYNTH_SP(RESTORER), P_RA(P_RSP),
			      P_RA(P_START));
	}
	for (i = 0; i < ARRAY_SIZE(others); i++) {
		begin_restorer(others[i]);
		program_check(s, NO_TABLE, P_RA(P_RSP), SYNTH_SP(RESTORER));
	}
}

/* It is past its mov, or in its system call, behind which is another function. */
static void test_restorer_midway(void **state)
{
	static const struct { const char *code; u32 mov; } restorers[] = {
		{ "\x48\xc7\xc0\x0f\0\0\0\x0f\x05", 7 }, { "\xb8\x0f\0\0\0\x0f\x05\xcc", 5 },
	};
	u32 i;
	u64 ip;

	for (i = 0; i < ARRAY_SIZE(restorers); i++) {
		begin_restorer(restorers[i].code);
		ip = SYNTH_SP(RESTORER) + restorers[i].mov;
		s->regs.ip = ip;
		s->regs.r[7] = SYNTH_SP(1);
		s->regs.r[6] = 0;
		s->regs.r[0] = 15;
		program_check(s, COMPLETE, ip, P_RA(P_RSP), P_RA(P_START));
		assert_int_equal(s->result.proven, 3);
		/* Another system call may begin there, too. */
		s->regs.r[0] = 14;
		program_check(s, NO_TABLE, ip);
		ip += 2;
		s->regs.ip = ip;
		s->regs.in_syscall = true;
		program_check(s, COMPLETE, ip, P_RA(P_RSP), P_RA(P_START));
		assert_int_equal(s->result.proven, 3);
		/* The innermost frame is in one, and its caller is not. */
		s->regs.ip = P_RA(P_RSP);
		s->regs.r[7] = SYNTH_SP(0);
		program_push(s, 0, ip);
		program_check(s, UNPROVEN, P_RA(P_RSP), ip);
		s->regs.ip = ip;
		s->regs.r[7] = SYNTH_SP(1);
		s->regs.in_syscall = false;
		program_check(s, NO_TABLE, ip);
	}
}

static void test_restorer_context(void **state)
{
	begin_restorer("\x48\xc7\xc0\x0f\0\0\0\x0f\x05");
	s->stack[1 + 168 / 8] = KUW_PORT_USER_END;
	program_check(s, RA_BAD, P_RA(P_RSP), SYNTH_SP(RESTORER));
	/* But a call of null can be interrupted. */
	s->stack[1 + 168 / 8] = 0;
	program_push(s, 90, P_RA(P_RSP), P_RA(P_START));
	program_check(s, COMPLETE, P_RA(P_RSP), SYNTH_SP(RESTORER), 0, P_RA(P_RSP),
		      P_RA(P_START));
	/* The context lies beyond the stack's end. */
	s->regs.r[7] = SYNTH_SP(SYNTH_WORDS - 1);
	program_push(s, SYNTH_WORDS - 1, SYNTH_SP(RESTORER));
	program_check(s, STACK_FAULT, P_RA(P_RSP), SYNTH_SP(RESTORER));
}

/* One that leads back to itself: only so many times. */
static void test_restorer_loop(void **state)
{
	begin_restorer("\x48\xc7\xc0\x0f\0\0\0\x0f\x05");
	s->stack[1 + 160 / 8] = SYNTH_SP(0);
	synth_walk(s, KUNWIND_MAX_FRAMES);
	assert_stop(s->result.stop, CFA_BACK);
	assert_int_equal(s->result.count, 2 * (KUW_MAX_STACK_SWITCHES + 1));
}

#define TEST(name)	cmocka_unit_test_teardown(name, drop)

static const struct CMUnitTest tests[] = {
	TEST(test_signal),
	TEST(test_first_instruction),
	TEST(test_bad_call),
	TEST(test_no_fde),
	TEST(test_registers),
	TEST(test_nested),
	TEST(test_many),
	TEST(test_alternate_stack),
	TEST(test_loop),
	TEST(test_loop_in_place),
	TEST(test_loop_red_zone),
	TEST(test_bad_context),
	TEST(test_restorer),
	TEST(test_restorer_midway),
	TEST(test_restorer_context),
	TEST(test_restorer_loop),
};

TEST_MAIN(tests)
