// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* FDEs whose programs are the same, or nearly: each has its own rows. */
#include <dwarf.h>
#include <stdlib.h>
#include "test.h"
#include "one_section.h"
#include "budgets.h"

#define RBP	6
#define RSP	7

static void compile(u64 text)
{
	host_table_free(&table);
	table.elf.segments[0] = (struct kuw_segment){
		.vaddr = BUILD_TEXT, .filesz = text,
	};
	table.elf.nr_segments = 1;
	table.elf.word = KUW_WORD;
	table.elf.eh_frame = (struct kuw_range){ .vaddr = BUILD_EH, .len = eh.len };
	table.elf.eh_frame_exact = true;
	table.eh_frame = malloc(eh.len);
	assert_non_null(table.eh_frame);
	memcpy(table.eh_frame, eh.bytes, eh.len);
	assert_int_equal(host_compile(&table), 0);
}

static void put(u32 cie, u64 off, u64 len, struct prog instrs)
{
	build_fde(&eh, &usual, cie, BUILD_TEXT + off, len, instrs);
}

/* The CFA's offset at @off; -1 if there is no rule. */
static s64 cfa_at(u64 off)
{
	struct kuw_rules rules = synth_rules(&table, off);

	return rules.kind == KUW_RULES_NONE ? -1 : rules.cfa.off;
}

/* Rows at 1, 4 and 0x24 of the FDE, which ends with the last one. */
#define PUSHES	PROG(DW_CFA_advance_loc | 1, DW_CFA_def_cfa_offset, 16, \
		     DW_CFA_offset | RBP, 2, \
		     DW_CFA_advance_loc | 3, DW_CFA_def_cfa_offset, 48, \
		     DW_CFA_advance_loc1, 0x20, DW_CFA_def_cfa_offset, 8)

static void check_pushes(u64 off, u64 len)
{
	assert_int_equal(cfa_at(off), 8);
	assert_int_equal(cfa_at(off + 1), 16);
	assert_int_equal(synth_rules(&table, off + 1).reg[RBP].how, KUW_AT_CFA);
	assert_int_equal(cfa_at(off + 3), 16);
	assert_int_equal(cfa_at(off + 4), 48);
	assert_int_equal(cfa_at(off + (len > 0x24 ? 0x23 : len - 1)), 48);
	if (len > 0x24) {
		assert_int_equal(cfa_at(off + 0x24), 8);
		assert_int_equal(cfa_at(off + len - 1), 8);
	}
	assert_int_equal(cfa_at(off + len), -1);
}

/* Functions are of different lengths, among others; areas grow at every row. */
static void test_same(void **state)
{
	u32 cie = build_cie(&eh, &usual), i;

	for (i = 0; i < 600; i++) {
		put(cie, i * 0x100, 0x25 + i % 0x80, PUSHES);
		if (i % 3 == 0)
			put(cie, i * 0x100 + 0xc0, 0x10,
			    PROG(DW_CFA_def_cfa_offset_sf, 0x7f - i / 3 % 0x40));
	}
	compile(600 * 0x100);
	assert_int_equal(table.table->nr_bad, 0);
	assert_int_equal(table.table->nr_fdes, 800);
	for (i = 0; i < 600; i++) {
		check_pushes(i * 0x100, 0x25 + i % 0x80);
		if (i % 3 == 0)
			assert_int_equal(cfa_at(i * 0x100 + 0xc0),
					 8 * (1 + i / 3 % 0x40));
	}
}

/* What the end of one FDE cuts off is in the next one; and the other way round. */
static void test_clipped(void **state)
{
	static const u64 lens[] = {
		0x20, 0x40, 0x24, 0x25, 0x23, 0x80, 0x5, 0x24, 0x40,
	};
	u32 cie = build_cie(&eh, &usual), i;

	for (i = 0; i < ARRAY_SIZE(lens); i++)
		put(cie, i * 0x100, lens[i], PUSHES);
	compile(0x1000);
	for (i = 0; i < ARRAY_SIZE(lens); i++)
		check_pushes(i * 0x100, lens[i]);
}

/* Where FDEs overlap, the one that begins last is right. */
static void test_overlap(void **state)
{
	u32 cie = build_cie(&eh, &usual), i;

	for (i = 0; i < 10; i++) {
		put(cie, i * 0x100, 0x80, PUSHES);
		put(cie, i * 0x100 + 0x22, 0x60, PUSHES);
	}
	compile(0x1000);
	for (i = 0; i < 10; i++) {
		assert_int_equal(cfa_at(i * 0x100 + 4), 48);
		assert_int_equal(cfa_at(i * 0x100 + 0x21), 48);
		check_pushes(i * 0x100 + 0x22, 0x60);
	}
}

/* An address in a program is the same one for all FDEs. */
static void test_set_loc(void **state)
{
	const struct cie_spec spec = { .aug = "z" };
	u32 cie = build_cie(&eh, &spec), i;
	struct buf p = { 0 };

	buf_uint(&p, DW_CFA_set_loc, 1);
	buf_uint(&p, BUILD_TEXT + 0x180, 8);
	buf_put(&p, (const u8[]){ DW_CFA_def_cfa_offset, 16 }, 2);
	/* The last one begins behind that address. */
	for (i = 0; i < 4; i++)
		build_fde(&eh, &spec, cie, BUILD_TEXT + 0x100 + i * 0x30, 0x200,
			  (struct prog){ p.bytes, p.len });
	buf_free(&p);
	compile(0x1000);
	assert_int_equal(table.table->nr_fdes, 3);
	assert_int_equal(table.table->nr_bad, 1);
	assert_int_equal(cfa_at(0x100), 8);
	assert_int_equal(cfa_at(0x17f), 8);
	assert_int_equal(cfa_at(0x180), 16);
	assert_int_equal(cfa_at(0x35f), 16);
	assert_int_equal(cfa_at(0x360), -1);
}

/* The same bytes with other CIEs: another begin, other factors, a signal frame. */
static void test_cies(void **state)
{
	const struct cie_spec specs[] = {
		{ 0 },
		{ .instrs = PROG(DW_CFA_def_cfa, RBP, 8, DW_CFA_offset | 16, 1) },
		{ .aug = "zRS" },
		{ .data_align = -16 },
		{ .code_align = 2 },
		{ 0 },
	};
	u32 cies[ARRAY_SIZE(specs)], i, k;
	struct kuw_rules rules;
	u64 at;

	for (k = 0; k < ARRAY_SIZE(specs); k++)
		cies[k] = build_cie(&eh, &specs[k]);
	for (i = 0; i < 60; i++) {
		k = i * 7 % ARRAY_SIZE(specs);
		build_fde(&eh, &specs[k], cies[k], BUILD_TEXT + i * 0x100, 0x60,
			  PUSHES);
	}
	compile(60 * 0x100);
	for (i = 0; i < 60; i++) {
		k = i * 7 % ARRAY_SIZE(specs);
		at = i * 0x100 + (k == 4 ? 2 : 1);
		assert_int_equal(cfa_at(at - 1), 8);
		rules = synth_rules(&table, at);
		assert_int_equal(rules.cfa.off, 16);
		assert_int_equal(rules.cfa.reg, k == 1 ? RBP : RSP);
		assert_int_equal(rules.kind, k == 2 ? KUW_RULES_SIGNAL :
						      KUW_RULES_FRAME);
		assert_int_equal(rules.reg[RBP].off, k == 3 ? -32 : -16);
		at = i * 0x100 + (k == 4 ? 0x48 : 0x24);
		assert_int_equal(cfa_at(at - 1), 48);
		assert_int_equal(cfa_at(at), 8);
	}
}

/* Programs of every length, of which each has one other byte. */
static void test_one_byte(void **state)
{
	u32 cie = build_cie(&eh, &usual), rows, odd, i, fdes = 0, at;
	u8 program[3 * 30];

	/* Then all of it again: with what has been seen, and what it displaced. */
	for (rows = 1; rows <= 60; rows++) {
		for (odd = 0; odd <= rows % 31; odd++) {
			for (i = 0; i < rows % 31; i++) {
				program[3 * i] = DW_CFA_advance_loc | 1;
				program[3 * i + 1] = DW_CFA_def_cfa_offset;
				program[3 * i + 2] = i == odd ? 24 : i % 2 ? 8 : 16;
			}
			put(cie, fdes++ * 0x40, 0x30,
			    (struct prog){ program, 3 * (rows % 31) });
		}
	}
	compile(fdes * 0x40);
	assert_int_equal(table.table->nr_fdes, fdes);
	at = 0;
	for (rows = 1; rows <= 60; rows++) {
		for (odd = 0; odd <= rows % 31; odd++) {
			assert_int_equal(cfa_at(at), 8);
			for (i = 0; i < rows % 31; i++)
				assert_int_equal(cfa_at(at + i + 1), i == odd ? 24 :
						 i % 2 ? 8 : 16);
			at += 0x40;
		}
	}
}

/* A program that does not hold costs each of its FDEs, and no other one. */
static void test_refused(void **state)
{
	u32 cie = build_cie(&eh, &usual), i;

	for (i = 0; i < 20; i++) {
		put(cie, i * 0x200, 0x40,
		    PROG(DW_CFA_advance_loc | 1, DW_CFA_def_cfa_offset, 16,
			 DW_CFA_restore_state));
		put(cie, i * 0x200 + 0x100, 0x40, PUSHES);
	}
	compile(20 * 0x200);
	assert_int_equal(table.table->nr_fdes, 20);
	assert_int_equal(table.table->nr_bad, 20);
	for (i = 0; i < 20; i++) {
		assert_int_equal(cfa_at(i * 0x200), -1);
		check_pushes(i * 0x200 + 0x100, 0x40);
	}
}

/* Rows that hold for as long as 16 bits can say, and for longer. */
static void test_long(void **state)
{
	static const u32 lens[] = { 0xfffe, 0xffff, 0x10000, 0x1fffe };
	u32 cie = build_cie(&eh, &usual), i, k;
	struct buf p = { 0 };
	u64 at = 0;

	for (i = 0; i < 3 * ARRAY_SIZE(lens); i++, at += 0x40000) {
		k = i % ARRAY_SIZE(lens);
		p.len = 0;
		buf_put(&p, (const u8[]){ DW_CFA_advance_loc | 2,
			DW_CFA_def_cfa_offset, 16, DW_CFA_advance_loc4 }, 4);
		buf_uint(&p, lens[k], 4);
		buf_put(&p, (const u8[]){ DW_CFA_def_cfa_offset, 24,
			DW_CFA_advance_loc2, 0xff, 0xff,
			DW_CFA_def_cfa_offset, 32 }, 7);
		put(cie, at, 0x30000 + i, (struct prog){ p.bytes, p.len });
	}
	buf_free(&p);
	compile(at);
	for (i = 0, at = 0; i < 3 * ARRAY_SIZE(lens); i++, at += 0x40000) {
		k = i % ARRAY_SIZE(lens);
		assert_int_equal(cfa_at(at + 1), 8);
		assert_int_equal(cfa_at(at + 2), 16);
		assert_int_equal(cfa_at(at + 2 + lens[k] - 1), 16);
		assert_int_equal(cfa_at(at + 2 + lens[k]), 24);
		assert_int_equal(cfa_at(at + 2 + lens[k] + 0xfffe), 24);
		assert_int_equal(cfa_at(at + 2 + lens[k] + 0xffff), 32);
		assert_int_equal(cfa_at(at + 0x30000 + i - 1), 32);
		assert_int_equal(cfa_at(at + 0x30000 + i + 15), -1);
	}
}

/* Areas grow when they are full, whatever an FDE adds: here a gap and a row. */
static void test_room(void **state)
{
	u32 cie = build_cie(&eh, &usual), i;

	for (i = 0; i < 1000; i++)
		put(cie, i * 0x100, 0x80, PROG(DW_CFA_def_cfa_offset, 16 + i % 2 * 8));
	compile(1000 * 0x100);
	assert_int_equal(table.table->nr_rows, 1999);
	for (i = 0; i < 1000; i++) {
		assert_int_equal(cfa_at(i * 0x100 + 0x7f), 16 + i % 2 * 8);
		assert_int_equal(cfa_at(i * 0x100 + 0x80), -1);
	}
}

#define TEST(name)	cmocka_unit_test_teardown(name, drop)

static const struct CMUnitTest tests[] = {
	TEST(test_same),
	TEST(test_clipped),
	TEST(test_overlap),
	TEST(test_set_loc),
	TEST(test_cies),
	TEST(test_one_byte),
	TEST(test_refused),
	TEST(test_long),
	TEST(test_room),
};

TEST_MAIN(tests)
