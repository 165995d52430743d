// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* Every call frame instruction: what the table says of an FDE that has it. */
#include <dwarf.h>
#include <stdlib.h>
#include "test.h"
#include "synth.h"
#include "budgets.h"

#define RAX	0
#define RBX	3
#define RBP	6
#define RSP	7
#define R10	10
#define R12	12

static struct host_table table;

static int drop_table(void **state)
{
	host_table_free(&table);
	return 0;
}

static void compile(struct prog instrs)
{
	host_table_free(&table);
	assert_int_equal(synth_compile_one(&table, instrs), 0);
}

static void check_loc(const struct kuw_loc *loc, u32 how, u32 reg, s32 off)
{
	assert_int_equal(loc->how, how);
	if (how == KUW_REG || how == KUW_MEM)
		assert_int_equal(loc->reg, reg);
	if (how != KUW_SAME && how != KUW_UNDEF)
		assert_int_equal(loc->off, off);
}

static void check_cfa(u64 at, u32 reg, s32 off)
{
	struct kuw_rules rules = synth_rules(&table, at);

	assert_int_equal(rules.kind, KUW_RULES_FRAME);
	check_loc(&rules.cfa, KUW_REG, reg, off);
}

static void check_reg(u64 at, u32 target, u32 how, u32 reg, s32 off)
{
	struct kuw_rules rules = synth_rules(&table, at);

	assert_int_equal(rules.kind, KUW_RULES_FRAME);
	check_loc(&rules.reg[target], how, reg, off);
}

#define COMPILE(...)	compile(PROG(__VA_ARGS__))
#define REFUSED(...)	synth_refused(PROG(__VA_ARGS__))

static void test_entry(void **state)
{
	compile(NO_PROG);
	check_cfa(0, RSP, 8);
	check_cfa(BUILD_TEXT_LEN - 1, RSP, 8);
	check_reg(0, KUW_RA, KUW_AT_CFA, 0, -8);
	check_reg(0, RBP, KUW_SAME, 0, 0);
	assert_int_equal(synth_rules(&table, BUILD_TEXT_LEN).kind,
			 KUW_RULES_NONE);
	assert_int_equal(synth_rules(&table, -1ULL).kind, KUW_RULES_NONE);
}

/* push %rbp; mov %rsp,%rbp; …; leave; ret */
static void test_prologue(void **state)
{
	COMPILE(DW_CFA_advance_loc | 1, DW_CFA_def_cfa_offset, 16,
		DW_CFA_offset | RBP, 2,
		DW_CFA_advance_loc | 3, DW_CFA_def_cfa_register, RBP,
		DW_CFA_advance_loc1, 0x40, DW_CFA_def_cfa, RSP, 8,
		DW_CFA_restore | RBP);
	check_cfa(0, RSP, 8);
	check_reg(0, RBP, KUW_SAME, 0, 0);
	check_cfa(1, RSP, 16);
	check_cfa(3, RSP, 16);
	check_reg(1, RBP, KUW_AT_CFA, 0, -16);
	check_cfa(4, RBP, 16);
	check_cfa(0x43, RBP, 16);
	check_cfa(0x44, RSP, 8);
	check_reg(0x44, RBP, KUW_SAME, 0, 0);
}

static void test_advances(void **state)
{
	COMPILE(DW_CFA_advance_loc | 0x3f, DW_CFA_def_cfa_offset, 16,
		DW_CFA_advance_loc1, 0xff, DW_CFA_def_cfa_offset, 24,
		DW_CFA_advance_loc2, 0x00, 0x01, DW_CFA_def_cfa_offset, 32,
		DW_CFA_advance_loc4, 0x00, 0x02, 0, 0,
		DW_CFA_def_cfa_offset, 40,
		DW_CFA_MIPS_advance_loc8, 0x00, 0x03, 0, 0, 0, 0, 0, 0,
		DW_CFA_def_cfa_offset, 48,
		/* An advance by nothing begins no row. */
		DW_CFA_advance_loc | 0, DW_CFA_def_cfa_offset, 56);
	check_cfa(0x3e, RSP, 8);
	check_cfa(0x3f, RSP, 16);
	check_cfa(0x13d, RSP, 16);
	check_cfa(0x13e, RSP, 24);
	check_cfa(0x23d, RSP, 24);
	check_cfa(0x23e, RSP, 32);
	check_cfa(0x43d, RSP, 32);
	check_cfa(0x43e, RSP, 40);
	check_cfa(0x73d, RSP, 40);
	check_cfa(0x73e, RSP, 56);
}

/* Advances beyond the end of the FDE: what is there is not this FDE's. */
static void test_advance_beyond(void **state)
{
	struct buf b = { 0 };

	build_one(&b, BUILD_TEXT, 0x80, PROG(DW_CFA_advance_loc1, 0x80,
		  DW_CFA_def_cfa_offset, 16, DW_CFA_advance_loc1, 0x80,
		  DW_CFA_def_cfa_offset, 24));
	host_table_free(&table);
	assert_int_equal(synth_compile(&table, &b), 0);
	buf_free(&b);
	check_cfa(0x7f, RSP, 8);
	assert_int_equal(synth_rules(&table, 0x90).kind, KUW_RULES_NONE);
	assert_int_equal(synth_rules(&table, 0x110).kind, KUW_RULES_NONE);
}

static void test_code_align(void **state)
{
	const struct cie_spec spec = { .code_align = 4 };
	struct buf b = { 0 };

	build_fde(&b, &spec, build_cie(&b, &spec), BUILD_TEXT, 0x1000,
		  PROG(DW_CFA_advance_loc | 2, DW_CFA_def_cfa_offset, 16));
	host_table_free(&table);
	assert_int_equal(synth_compile(&table, &b), 0);
	buf_free(&b);
	check_cfa(7, RSP, 8);
	check_cfa(8, RSP, 16);
}

static void test_set_loc(void **state)
{
	const struct cie_spec spec = { .aug = "z" };
	struct buf b = { 0 }, p = { 0 };
	u32 back;

	for (back = 0; back < 2; back++) {
		buf_uint(&p, DW_CFA_advance_loc | 8, 1);
		buf_uint(&p, DW_CFA_set_loc, 1);
		buf_uint(&p, BUILD_TEXT + (back ? 7 : 0x20), 8);
		buf_put(&p, (const u8[]){ DW_CFA_def_cfa_offset, 16 }, 2);
		build_fde(&b, &spec, build_cie(&b, &spec), BUILD_TEXT, 0x1000,
			  (struct prog){ p.bytes, p.len });
		host_table_free(&table);
		if (back) {
			assert_int_equal(synth_compile(&table, &b), -ENODATA);
		} else {
			assert_int_equal(synth_compile(&table, &b), 0);
			check_cfa(0x1f, RSP, 8);
			check_cfa(0x20, RSP, 16);
		}
		buf_free(&b);
		buf_free(&p);
	}
}

static void test_cfa_rules(void **state)
{
	COMPILE(DW_CFA_def_cfa, R10, 0x80, 1);
	check_cfa(0, R10, 128);
	COMPILE(DW_CFA_def_cfa_sf, RBP, 0x7e);	/* -2 * -8 */
	check_cfa(0, RBP, 16);
	COMPILE(DW_CFA_def_cfa_offset_sf, 0x7d);
	check_cfa(0, RSP, 24);
	COMPILE(DW_CFA_def_cfa_register, RAX);
	check_cfa(0, RAX, 8);
	/* The largest frame seen: 540,128 bytes; and one of 2 GiB. */
	COMPILE(DW_CFA_def_cfa_offset, 0xe0, 0xfb, 0x20);
	check_cfa(0, RSP, 540128);
	COMPILE(DW_CFA_def_cfa_offset, 0xff, 0xff, 0xff, 0xff, 7);
	check_cfa(0, RSP, 0x7fffffff);
	/* Odd ones cannot be applied, but are what the program says. */
	COMPILE(DW_CFA_def_cfa_offset, 13);
	check_cfa(0, RSP, 13);
	COMPILE(DW_CFA_def_cfa_offset, 0);
	check_cfa(0, RSP, 0);
	REFUSED(DW_CFA_def_cfa_offset, 0x80, 0x80, 0x80, 0x80, 0x10);
	REFUSED(DW_CFA_def_cfa, 17, 8);
}

/* As in hand-written assembly: an FDE whose first instruction comes before its first CFA. */
static void test_late_cfa(void **state)
{
	const struct cie_spec spec = { .instrs = PROG(DW_CFA_nop) };
	struct buf b = { 0 };
	u32 cie = build_cie(&b, &spec);

	/* Nothing is known of the first byte, be there a function before it or not. */
	build_fde(&b, &spec, cie, BUILD_TEXT, 0x20,
		  PROG(DW_CFA_advance_loc | 1, DW_CFA_def_cfa, RSP, 8, DW_CFA_offset | KUW_RA, 1,
		       DW_CFA_remember_state, DW_CFA_advance_loc | 1, DW_CFA_def_cfa_offset, 16,
		       DW_CFA_advance_loc | 1, DW_CFA_restore_state));
	build_fde(&b, &spec, cie, BUILD_TEXT + 0x20, 0x20,
		  PROG(DW_CFA_remember_state, DW_CFA_advance_loc | 4, DW_CFA_def_cfa, RSP, 16,
		       DW_CFA_advance_loc | 4, DW_CFA_restore_state));
	/* Nor of any byte, without a CFA; what is before is no padding of it. */
	build_fde(&b, &spec, cie, BUILD_TEXT + 0x40, 0x20, PROG(DW_CFA_advance_loc | 1));
	build_fde(&b, &spec, cie, BUILD_TEXT + 0x70, 0x20, PROG(DW_CFA_def_cfa, RSP, 24));
	host_table_free(&table);
	assert_int_equal(synth_compile(&table, &b), 0);
	buf_free(&b);
	assert_int_equal(table.table->nr_bad, 0);
	assert_int_equal(table.table->nr_fdes, 4);
	assert_int_equal(synth_rules(&table, 0).kind, KUW_RULES_NONE);
	check_cfa(1, RSP, 8);
	check_cfa(2, RSP, 16);
	check_cfa(3, RSP, 8);
	check_cfa(0x1f, RSP, 8);
	assert_int_equal(synth_rules(&table, 0x20).kind, KUW_RULES_NONE);
	assert_int_equal(synth_rules(&table, 0x23).kind, KUW_RULES_NONE);
	check_cfa(0x24, RSP, 16);
	assert_int_equal(synth_rules(&table, 0x28).kind, KUW_RULES_NONE);
	assert_int_equal(synth_rules(&table, 0x4f).kind, KUW_RULES_NONE);
	assert_int_equal(synth_rules(&table, 0x6f).kind, KUW_RULES_NONE);
	check_cfa(0x70, RSP, 24);
	check_cfa(0x8f, RSP, 24);
}

/* Operands at the edges of the forms that are usual, in the midst of a program. */
static void test_cfa_forms(void **state)
{
	COMPILE(DW_CFA_def_cfa_offset, 0x7f, DW_CFA_advance_loc | 1,
		DW_CFA_def_cfa_offset, 0x80, 0x01, DW_CFA_advance_loc | 1,
		DW_CFA_def_cfa_offset, 0xff, 0x7f, DW_CFA_advance_loc | 1,
		DW_CFA_def_cfa_offset, 0x80, 0x80, 0x01, DW_CFA_advance_loc | 1,
		DW_CFA_def_cfa_register, 15, DW_CFA_advance_loc | 1,
		DW_CFA_def_cfa, R10, 0x7f, DW_CFA_advance_loc | 1,
		DW_CFA_def_cfa, RSP, 0x80, 0x01, DW_CFA_advance_loc | 1,
		DW_CFA_def_cfa_register, RBP, DW_CFA_advance_loc | 1,
		DW_CFA_def_cfa_offset, 8, DW_CFA_advance_loc | 1,
		DW_CFA_nop, DW_CFA_nop, DW_CFA_nop, DW_CFA_nop);
	check_cfa(0, RSP, 0x7f);
	check_cfa(1, RSP, 0x80);
	check_cfa(2, RSP, 0x3fff);
	check_cfa(3, RSP, 0x4000);
	check_cfa(4, 15, 0x4000);
	check_cfa(5, R10, 0x7f);
	check_cfa(6, RSP, 0x80);
	check_cfa(7, RBP, 0x80);
	check_cfa(8, RBP, 8);
	REFUSED(DW_CFA_def_cfa_register, 16, DW_CFA_nop, DW_CFA_nop, DW_CFA_nop);
	REFUSED(DW_CFA_def_cfa_register, 0x87, 0, DW_CFA_def_cfa_register, 0x90, 0,
		DW_CFA_nop, DW_CFA_nop, DW_CFA_nop);
	REFUSED(DW_CFA_def_cfa, 16, 8, DW_CFA_nop, DW_CFA_nop, DW_CFA_nop);
}

static void test_register_rules(void **state)
{
	COMPILE(DW_CFA_offset | R12, 3);
	check_reg(0, R12, KUW_AT_CFA, 0, -24);
	COMPILE(DW_CFA_offset_extended, R12, 4);
	check_reg(0, R12, KUW_AT_CFA, 0, -32);
	COMPILE(DW_CFA_offset_extended_sf, R12, 0x7f);
	check_reg(0, R12, KUW_AT_CFA, 0, 8);
	COMPILE(DW_CFA_GNU_negative_offset_extended, R12, 2);
	check_reg(0, R12, KUW_AT_CFA, 0, 16);
	COMPILE(DW_CFA_val_offset, R12, 2);
	check_reg(0, R12, KUW_CFA_PLUS, 0, -16);
	COMPILE(DW_CFA_val_offset_sf, R12, 0x7e);
	check_reg(0, R12, KUW_CFA_PLUS, 0, 16);
	COMPILE(DW_CFA_register, R12, RBX);
	check_reg(0, R12, KUW_REG, RBX, 0);
	COMPILE(DW_CFA_undefined, R12);
	check_reg(0, R12, KUW_UNDEF, 0, 0);
	COMPILE(DW_CFA_offset | R12, 3, DW_CFA_same_value, R12);
	check_reg(0, R12, KUW_SAME, 0, 0);
	COMPILE(DW_CFA_undefined, KUW_RA);
	check_reg(0, KUW_RA, KUW_UNDEF, 0, 0);
	COMPILE(DW_CFA_register, KUW_RA, RAX);
	check_reg(0, KUW_RA, KUW_REG, RAX, 0);
	/* In a register that no walk knows: only r12 is lost. */
	COMPILE(DW_CFA_register, R12, 17);
	check_reg(0, R12, KUW_UNDEF, 0, 0);
	REFUSED(DW_CFA_register, KUW_RA, 17);
	REFUSED(DW_CFA_register, RSP, 17);
	/* Beyond 32 bits: 2^29 times -8 is the first. */
	REFUSED(DW_CFA_offset | R12, 0x81, 0x80, 0x80, 0x80, 1);
	REFUSED(DW_CFA_GNU_negative_offset_extended, R12, 0x80, 0x80, 0x80,
		0x80, 1, DW_CFA_GNU_negative_offset_extended, R12, 0xff, 0xff,
		0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1);
}

static void test_restore(void **state)
{
	COMPILE(DW_CFA_offset | R12, 3, DW_CFA_advance_loc | 4,
		DW_CFA_restore | R12, DW_CFA_advance_loc | 4,
		DW_CFA_offset | R12, 5, DW_CFA_advance_loc | 4,
		DW_CFA_restore_extended, R12);
	check_reg(0, R12, KUW_AT_CFA, 0, -24);
	check_reg(4, R12, KUW_SAME, 0, 0);
	check_reg(8, R12, KUW_AT_CFA, 0, -40);
	check_reg(12, R12, KUW_SAME, 0, 0);
	/* To what the CIE says, which need not be "unchanged". */
	COMPILE(DW_CFA_undefined, KUW_RA, DW_CFA_advance_loc | 4,
		DW_CFA_restore | KUW_RA);
	check_reg(0, KUW_RA, KUW_UNDEF, 0, 0);
	check_reg(4, KUW_RA, KUW_AT_CFA, 0, -8);
}

static void test_states(void **state)
{
	COMPILE(DW_CFA_remember_state, DW_CFA_advance_loc | 4,
		DW_CFA_def_cfa_offset, 32, DW_CFA_offset | RBX, 2,
		DW_CFA_remember_state, DW_CFA_advance_loc | 4,
		DW_CFA_def_cfa_offset, 64, DW_CFA_offset | R12, 3,
		DW_CFA_advance_loc | 4, DW_CFA_restore_state,
		DW_CFA_advance_loc | 4, DW_CFA_restore_state);
	check_cfa(0, RSP, 8);
	check_cfa(4, RSP, 32);
	check_cfa(8, RSP, 64);
	check_reg(8, RBX, KUW_AT_CFA, 0, -16);
	check_reg(8, R12, KUW_AT_CFA, 0, -24);
	check_cfa(12, RSP, 32);
	check_reg(12, RBX, KUW_AT_CFA, 0, -16);
	check_reg(12, R12, KUW_SAME, 0, 0);
	check_cfa(16, RSP, 8);
	check_reg(16, RBX, KUW_SAME, 0, 0);
	REFUSED(DW_CFA_restore_state);
}

static void test_state_limit(void **state)
{
	struct buf p = { 0 };
	u32 n, i;

	/* 5,000 pairs, as a test suite has them, and one more than allowed. */
	for (n = 5000; n; n = n == 5000 ? KUW_MAX_STATES + 1 : 0) {
		for (i = 0; i < n; i++)
			buf_uint(&p, DW_CFA_remember_state, 1);
		buf_put(&p, (const u8[]){ DW_CFA_advance_loc | 4,
					  DW_CFA_def_cfa_offset, 16,
					  DW_CFA_advance_loc | 4 }, 4);
		for (i = 0; i < n; i++)
			buf_uint(&p, DW_CFA_restore_state, 1);
		if (n <= KUW_MAX_STATES) {
			compile((struct prog){ p.bytes, p.len });
			check_cfa(4, RSP, 16);
			check_cfa(8, RSP, 8);
		} else {
			synth_refused((struct prog){ p.bytes, p.len });
		}
		buf_free(&p);
	}
}

static void test_expressions(void **state)
{
	u32 len;
	const u8 *bytes;
	struct kuw_rules rules;

	/* Forms that need no evaluation. */
	COMPILE(DW_CFA_def_cfa_expression, 2, DW_OP_breg6, 0);
	check_cfa(0, RBP, 0);
	COMPILE(DW_CFA_def_cfa_expression, 3, DW_OP_breg6, 0x78, DW_OP_deref);
	rules = synth_rules(&table, 0);
	check_loc(&rules.cfa, KUW_MEM, RBP, -8);
	assert_int_equal(rules.cfa.arg, 0);
	COMPILE(DW_CFA_def_cfa_expression, 5, DW_OP_breg7, 16, DW_OP_deref,
		DW_OP_plus_uconst, 8);
	rules = synth_rules(&table, 0);
	check_loc(&rules.cfa, KUW_MEM, RSP, 16);
	assert_int_equal(rules.cfa.arg, 8);
	COMPILE(DW_CFA_expression, RBX, 2, DW_OP_breg6, 0x78);
	check_reg(0, RBX, KUW_MEM, RBP, -8);
	COMPILE(DW_CFA_val_expression, RBX, 2, DW_OP_breg6, 0x78);
	check_reg(0, RBX, KUW_REG, RBP, -8);

	/* Forms that do. */
	COMPILE(DW_CFA_val_expression, RBX, 3, DW_OP_lit1, DW_OP_lit2,
		DW_OP_plus);
	rules = synth_rules(&table, 0);
	assert_int_equal(rules.reg[RBX].how, KUW_EXPR);
	bytes = kuw_table_expr(table.table, &rules.reg[RBX], &len);
	assert_int_equal(len, 3);
	assert_memory_equal(bytes, ((u8[]){ DW_OP_lit1, DW_OP_lit2,
					    DW_OP_plus }), 3);
	COMPILE(DW_CFA_expression, RBX, 2, DW_OP_lit8, DW_OP_minus);
	rules = synth_rules(&table, 0);
	assert_int_equal(rules.reg[RBX].how, KUW_EXPR_MEM);

	REFUSED(DW_CFA_def_cfa_expression, 0);
	REFUSED(DW_CFA_def_cfa_expression, 1, DW_OP_call_frame_cfa);
	REFUSED(DW_CFA_def_cfa_expression, 1, DW_OP_stack_value);
	REFUSED(DW_CFA_expression, RBX, 1, DW_OP_reg3);
	REFUSED(DW_CFA_expression, RBX, 0xff, 0xff, 0xff, 0xff, 0x0f,
		DW_OP_lit1);
}

static void test_expression_limit(void **state)
{
	struct buf p = { 0 };
	u32 len, i;

	for (len = KUW_MAX_EXPR_BYTES; len <= KUW_MAX_EXPR_BYTES + 1; len++) {
		p.len = 0;
		buf_uint(&p, DW_CFA_def_cfa_expression, 1);
		buf_uleb(&p, len);
		for (i = 0; i < len; i++)
			buf_uint(&p, DW_OP_nop, 1);
		if (len <= KUW_MAX_EXPR_BYTES) {
			compile((struct prog){ p.bytes, p.len });
			assert_int_equal(synth_rules(&table, 0).cfa.how,
					 KUW_EXPR);
		} else {
			synth_refused((struct prog){ p.bytes, p.len });
		}
	}
	buf_free(&p);
}

/* As libgcrypt's assembly: the last offset that was given comes back. */
static void test_cfa_register_after_expression(void **state)
{
	COMPILE(DW_CFA_def_cfa_offset, 56, DW_CFA_advance_loc | 4,
		DW_CFA_def_cfa_expression, 5, DW_OP_breg7, 16, DW_OP_deref,
		DW_OP_plus_uconst, 56, DW_CFA_advance_loc | 4,
		DW_CFA_def_cfa_register, RSP);
	check_cfa(0, RSP, 56);
	assert_int_equal(synth_rules(&table, 4).cfa.how, KUW_MEM);
	check_cfa(8, RSP, 56);
	/* An offset alone leaves an expression in force. */
	COMPILE(DW_CFA_def_cfa_expression, 2, DW_OP_breg6, 0,
		DW_CFA_def_cfa_offset, 32, DW_CFA_advance_loc | 4,
		DW_CFA_def_cfa_register, RSP);
	check_cfa(0, RBP, 0);
	check_cfa(4, RSP, 32);
}

static void test_ignored(void **state)
{
	/* Sizes of arguments, and registers that no walk needs (xmm). */
	COMPILE(DW_CFA_nop, DW_CFA_GNU_args_size, 0x80, 1,
		DW_CFA_offset | 17, 3, DW_CFA_offset_extended, 67, 3,
		DW_CFA_undefined, 0x80, 1, DW_CFA_restore | 33,
		DW_CFA_register, 17, 18, DW_CFA_register, 17, R12,
		DW_CFA_def_cfa_offset, 16);
	check_cfa(0, RSP, 16);
	/* Nor does the walk know each operator of their expressions. */
	COMPILE(DW_CFA_expression, 17, 1, 0xff, DW_CFA_val_expression, 18, 2, 0xff, 0xff,
		DW_CFA_def_cfa_offset, 16);
	check_cfa(0, RSP, 16);
	REFUSED(DW_CFA_expression, R12, 1, 0xff);
	REFUSED(DW_CFA_expression, 17, 100, 0xff);
}

#define TEST(name)	cmocka_unit_test_teardown(name, drop_table)

static const struct CMUnitTest tests[] = {
	TEST(test_entry),
	TEST(test_prologue),
	TEST(test_advances),
	TEST(test_advance_beyond),
	TEST(test_code_align),
	TEST(test_set_loc),
	TEST(test_cfa_rules),
	TEST(test_late_cfa),
	TEST(test_cfa_forms),
	TEST(test_register_rules),
	TEST(test_restore),
	TEST(test_states),
	TEST(test_state_limit),
	TEST(test_expressions),
	TEST(test_expression_limit),
	TEST(test_cfa_register_after_expression),
	TEST(test_ignored),
};

TEST_MAIN(tests)
