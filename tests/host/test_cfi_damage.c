// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* CFA programs that are damaged or of another machine: they cost their FDE. */
#include <dwarf.h>
#include "test.h"
#include "synth.h"

static struct host_table table;

#define REFUSED(...)	synth_refused(PROG(__VA_ARGS__))

static void test_unknown_ops(void **state)
{
	static const u8 known[] = { 0x1d, 0x2e, 0x2f };
	u32 op;

	for (op = 0x17; op < 0x40; op++) {
		if (memchr(known, (int)op, sizeof(known)))
			continue;
		/* Enough operands for whatever it may be. */
		REFUSED((u8)op, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0);
	}
}

/* Every instruction with operands, its operands cut off by the record's end. */
static void test_cut_off(void **state)
{
	static const u8 ops[][4] = {
		{ 1, DW_CFA_set_loc }, { 1, DW_CFA_advance_loc1 },
		{ 1, DW_CFA_advance_loc2 }, { 2, DW_CFA_advance_loc2, 1 },
		{ 1, DW_CFA_advance_loc4 },
		{ 1, DW_CFA_offset_extended },
		{ 2, DW_CFA_offset_extended, 3 }, { 1, DW_CFA_restore_extended },
		{ 1, DW_CFA_undefined }, { 1, DW_CFA_same_value },
		{ 1, DW_CFA_register }, { 2, DW_CFA_register, 3 },
		{ 1, DW_CFA_def_cfa }, { 2, DW_CFA_def_cfa, 7 },
		{ 1, DW_CFA_def_cfa_register }, { 1, DW_CFA_def_cfa_offset },
		{ 2, DW_CFA_def_cfa_offset, 0x90 },
		{ 1, DW_CFA_def_cfa_expression },
		{ 2, DW_CFA_def_cfa_expression, 1 },
		{ 1, DW_CFA_expression }, { 2, DW_CFA_expression, 3 },
		{ 3, DW_CFA_expression, 3, 1 },
		{ 1, DW_CFA_val_expression }, { 3, DW_CFA_val_expression, 3, 1 },
		{ 1, DW_CFA_offset_extended_sf }, { 1, DW_CFA_def_cfa_sf },
		{ 2, DW_CFA_def_cfa_sf, 7 }, { 1, DW_CFA_def_cfa_offset_sf },
		{ 1, DW_CFA_val_offset }, { 2, DW_CFA_val_offset, 3 },
		{ 1, DW_CFA_val_offset_sf }, { 1, DW_CFA_GNU_args_size },
		{ 1, DW_CFA_GNU_negative_offset_extended },
		{ 1, DW_CFA_offset | 3 }, { 1, DW_CFA_MIPS_advance_loc8 },
	};
	const struct cie_spec usual = { 0 };
	struct buf b = { 0 };
	u32 cie, i;

	for (i = 0; i < ARRAY_SIZE(ops); i++) {
		struct buf p = { 0 };

		/* 17 bytes of an FDE come before; fill it up to 8, with nop. */
		while ((17 + p.len + ops[i][0]) % 8)
			buf_uint(&p, DW_CFA_nop, 1);
		buf_put(&p, &ops[i][1], ops[i][0]);
		synth_refused((struct prog){ p.bytes, p.len });
		/* What follows is another record's. */
		cie = build_cie(&b, &usual);
		build_fde(&b, &usual, cie, BUILD_TEXT, 0x100,
			  (struct prog){ p.bytes, p.len });
		build_fde(&b, &usual, cie, BUILD_TEXT + 0x100, 0x100, NO_PROG);
		host_table_free(&table);
		assert_int_equal(synth_compile(&table, &b), 0);
		assert_int_equal(table.table->nr_bad, 1);
		assert_int_equal(table.table->nr_fdes, 1);
		buf_free(&b);
		buf_free(&p);
	}
}

/* What a CIE's program must not do: its FDEs have no rule. */
static void check_cie_program(struct prog instrs, bool good)
{
	const struct cie_spec spec = { .instrs = instrs };
	struct buf b = { 0 };

	build_fde(&b, &spec, build_cie(&b, &spec), BUILD_TEXT, 0x1000, NO_PROG);
	host_table_free(&table);
	if (!synth_compile(&table, &b))
		assert_int_equal(synth_rules(&table, 0x100).kind,
				 good ? KUW_RULES_FRAME : KUW_RULES_NONE);
	else
		assert_false(good);
	buf_free(&b);
}

static void test_cie_program(void **state)
{
	check_cie_program(ENTRY, true);
	check_cie_program(PROG(DW_CFA_def_cfa, 7, 8, DW_CFA_advance_loc | 1),
			  false);
	check_cie_program(PROG(DW_CFA_def_cfa, 7, 8, DW_CFA_restore | 3),
			  false);
	check_cie_program(PROG(DW_CFA_def_cfa, 7, 8, DW_CFA_restore_state),
			  false);
	check_cie_program(PROG(DW_CFA_def_cfa, 7, 8, 0x3f), false);
	/* No CFA at all. */
	check_cie_program(PROG(DW_CFA_nop), false);
	check_cie_program(PROG(DW_CFA_def_cfa_offset, 8), false);
	check_cie_program(PROG(DW_CFA_def_cfa_register, 7), false);
	/* The outermost frame needs none. */
	check_cie_program(PROG(DW_CFA_undefined, 16), true);
}

static int drop_table(void **state)
{
	host_table_free(&table);
	return 0;
}

#define TEST(name)	cmocka_unit_test_teardown(name, drop_table)

static const struct CMUnitTest tests[] = {
	TEST(test_unknown_ops),
	TEST(test_cut_off),
	TEST(test_cie_program),
};

TEST_MAIN(tests)
