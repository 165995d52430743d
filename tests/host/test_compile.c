// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* Whole sections: order, overlaps, gaps, damage, and memory that runs out. */
#include <dwarf.h>
#include <stdlib.h>
#include "test.h"
#include "one_section.h"
#include "budgets.h"

#define RSP	7

static void compile(void)
{
	host_table_free(&table);
	assert_int_equal(synth_compile(&table, &eh), 0);
}

/* An FDE of @len bytes at @off whose CFA is rsp+@cfa. */
static void put_fde(u32 cie, u64 off, u64 len, u8 cfa)
{
	build_fde(&eh, &usual, cie, BUILD_TEXT + off, len,
		  PROG(DW_CFA_def_cfa_offset, cfa));
}

/* The CFA's offset from rsp at @off; -1 if there is no rule. */
static s64 cfa_at(u64 off)
{
	struct kuw_rules rules = synth_rules(&table, off);

	if (rules.kind == KUW_RULES_NONE)
		return -1;
	assert_int_equal(rules.cfa.how, KUW_REG);
	assert_int_equal(rules.cfa.reg, RSP);
	return rules.cfa.off;
}

/* FDEs in any order of addresses. */
static void test_order(void **state)
{
	u32 cie, i;

	drop(NULL);
	cie = build_cie(&eh, &usual);
	for (i = 0; i < 100; i++)
		put_fde(cie, (i * 37 % 100) * 0x100, 0x100,
			(u8)(8 + 8 * (i * 37 % 10)));
	compile();
	assert_int_equal(table.table->nr_fdes, 100);
	for (i = 0; i < 100; i++) {
		assert_int_equal(cfa_at(i * 0x100), 8 + 8 * (i % 10));
		assert_int_equal(cfa_at(i * 0x100 + 0xff), 8 + 8 * (i % 10));
	}
	assert_int_equal(cfa_at(100 * 0x100), -1);
}

/*
 * So many that a pass of the sort looks at more bits, none of them in order, and two at
 * each address: the later one is right.
 */
static void test_descending(void **state)
{
	const u32 n = 6000;
	u32 cie = build_cie(&eh, &usual), i;

	for (i = 0; i < 2 * n; i++)
		put_fde(cie, (2 * n - 1 - i) % n * 8, 8,
			i < n ? 16 + 8 * (i % 10) : 8);
	compile();
	assert_int_equal(table.table->nr_fdes, 2 * n);
	for (i = 0; i < n; i++)
		assert_int_equal(cfa_at((n - 1 - i) * 8), 16 + 8 * (i % 10));
}

/* Gaps have no rule, except for the padding before an aligned function. */
static void test_gaps(void **state)
{
	u32 cie;

	cie = build_cie(&eh, &usual);
	put_fde(cie, 0x000, 0x21, 16);
	put_fde(cie, 0x030, 0x11, 24);
	put_fde(cie, 0x060, 0x10, 32);
	put_fde(cie, 0x40000, 0x10, 40);
	compile();
	assert_int_equal(cfa_at(0x20), 16);
	assert_int_equal(cfa_at(0x30), 24);
	assert_int_equal(cfa_at(0x40), 24);
	assert_int_equal(cfa_at(0x50), -1);
	assert_int_equal(cfa_at(0x5f), -1);
	assert_int_equal(cfa_at(0x60), 32);
	assert_int_equal(cfa_at(0x70), -1);
}

/* Some of what is too short for aligned code may be assembly; and none of it ends a stack. */
static void test_code_in_gaps(void **state)
{
	u32 cie = build_cie(&eh, &usual);

	put_fde(cie, 0x00, 0x06, 16);
	put_fde(cie, 0x10, 0x07, 24);
	build_fde(&eh, &usual, cie, BUILD_TEXT + 0x20, 0x0f, PROG(DW_CFA_undefined, 16));
	put_fde(cie, 0x30, 0x10, 32);
	compile();
	assert_int_equal(cfa_at(0x05), 16);
	assert_int_equal(cfa_at(0x06), -1);
	assert_int_equal(cfa_at(0x0f), -1);
	assert_int_equal(cfa_at(0x17), 24);
	assert_int_equal(cfa_at(0x1f), 24);
	assert_int_equal(cfa_at(0x2f), -1);
	assert_int_equal(cfa_at(0x30), 32);
}

/* As in i386's vDSO: a system call comes from the byte behind the first one. */
static void test_signal_gap(void **state)
{
	const struct cie_spec signal_frame = { .aug = "zRS" };
	u32 cie = build_cie(&eh, &signal_frame);

	build_fde(&eh, &signal_frame, cie, BUILD_TEXT + 0xf, 9,
		  PROG(DW_CFA_def_cfa_offset, 16));
	build_fde(&eh, &signal_frame, cie, BUILD_TEXT + 0x1f, 9,
		  PROG(DW_CFA_def_cfa_offset, 24));
	/* The same distance, but of a function. */
	put_fde(build_cie(&eh, &usual), 0x2f, 9, 32);
	compile();
	assert_int_equal(cfa_at(0x17), 16);
	assert_int_equal(cfa_at(0x18), 16);
	assert_int_equal(cfa_at(0x1e), 16);
	assert_int_equal(cfa_at(0x1f), 24);
	assert_int_equal(cfa_at(0x28), -1);
	assert_int_equal(cfa_at(0x2f), 32);
}

/* A mispredicted look-up takes any byte for a code: the rule of each must be in the table. */
static void test_room_for_rules(void **state)
{
	put_fde(build_cie(&eh, &usual), 0x00, 0x10, 16);
	compile();
	assert_true(table.table->nr_rules < 4);
	assert_true((u8 *)&table.table->rules[U8_MAX + 1] <=
		    (u8 *)table.table + table.table->bytes);
}

/* Whole blocks without a row, and rows on both sides of their edges. */
static void test_blocks(void **state)
{
	static const u64 at[] = {
		0, 0xff, 0x100, 0x7fff, 0x8000, 0x8001, 0xfffe, 0xffff,
	};
	u32 cie = build_cie(&eh, &usual), i;

	for (i = 0; i < ARRAY_SIZE(at); i++)
		put_fde(cie, at[i], (i + 1 < ARRAY_SIZE(at) ? at[i + 1] :
				     BUILD_TEXT_LEN) - at[i], (u8)(8 + 8 * i));
	compile();
	for (i = 0; i < ARRAY_SIZE(at); i++) {
		assert_int_equal(cfa_at(at[i]), 8 + 8 * i);
		if (i)
			assert_int_equal(cfa_at(at[i] - 1), 8 * i);
	}
	assert_int_equal(cfa_at(BUILD_TEXT_LEN - 1), 8 * i);
	assert_int_equal(cfa_at(BUILD_TEXT_LEN), -1);
}

/* A row at every byte, and more rules than there are codes. */
static void test_dense(void **state)
{
	struct buf p = { 0 };
	u32 i;

	for (i = 1; i < 2000; i++) {
		buf_uint(&p, DW_CFA_advance_loc | 1, 1);
		buf_uint(&p, DW_CFA_def_cfa_offset, 1);
		buf_uleb(&p, 8 + 8 * (i % 700));
	}
	build_one(&eh, BUILD_TEXT, 2000, (struct prog){ p.bytes, p.len });
	buf_free(&p);
	compile();
	for (i = 0; i < 2000; i++)
		assert_int_equal(cfa_at(i), 8 + 8 * (i % 700));
	assert_true(table.table->nr_rules > KUW_CODE_PAIR);
}

/* One FDE with a row at each byte, no two of @n with the same rule. */
static void build_distinct(u32 n)
{
	const u32 most = 0x4000;	/* in one FDE: KUW_MAX_RECORD */
	struct buf p = { 0 };
	u32 first, len, i;

	for (first = 0; first < n; first += most) {
		len = min_t(u32, n - first, most);
		p.len = 0;
		for (i = 0; i < len; i++) {
			if (i)
				buf_uint(&p, DW_CFA_advance_loc | 1, 1);
			buf_uint(&p, DW_CFA_def_cfa_offset, 1);
			buf_uleb(&p, 8 + 8 * (first + i));
		}
		build_one(&eh, BUILD_TEXT + first, len, (struct prog){ p.bytes, p.len });
	}
	buf_free(&p);
}

/* A mispredicted look-up may compare a cell behind the last one. */
static void test_cell_behind_cells(void **state)
{
	const struct kuw_cell *last;

	build_distinct(2000);
	compile();
	last = kuw_table_look(table.table).cells + table.table->nr_cells;
	assert_true((u8 *)(last + 1) <= (u8 *)table.table + table.table->bytes);
	assert_int_equal(last->low, 0);
}

/* So many rules that some have codes of three bytes. */
static void test_longest(void **state)
{
	const u32 n = 12000;
	u32 i;

	assert_true(n > (KUW_CODE_LONGEST - KUW_CODE_LONG) << 8);
	build_distinct(n);
	compile();
	for (i = 0; i < n; i++)
		assert_int_equal(cfa_at(i), 8 + 8 * i);
}

/* Nearly as many cells in each bucket as there can be. */
static void test_densest(void **state)
{
	const u32 n = 0xc000;
	u32 i;

	build_distinct(n);
	compile();
	assert_true(table.table->nr_cells > 5 * n / 3);
	for (i = 0; i < n; i++)
		assert_int_equal(cfa_at(i), 8 + 8 * i);
}

/* An advance by nothing begins no row, however many there are at an address. */
static void test_standstill(void **state)
{
	struct buf p = { 0 };
	u32 i;

	for (i = 0; i < 40000; i++) {
		buf_uint(&p, DW_CFA_def_cfa_offset, 1);
		buf_uint(&p, 8 + 8 * (i % 8), 1);
		buf_uint(&p, DW_CFA_advance_loc, 1);
	}
	buf_uint(&p, DW_CFA_def_cfa_offset, 1);
	buf_uint(&p, 80, 1);
	build_one(&eh, BUILD_TEXT, 0x100, (struct prog){ p.bytes, p.len });
	buf_free(&p);
	compile();
	assert_int_equal(table.table->nr_rows, 1);
	assert_int_equal(cfa_at(0), 80);
	assert_int_equal(cfa_at(0xff), 80);
}

/* A function that pushes @regs, makes room for @room words and undoes both. */
static void put_function(u32 cie, u64 at, u32 regs, u32 room)
{
	static const u8 order[] = { 15, 14, 13, 12, 6, 3 };
	u32 cfa = 16, i, words = 1;
	struct buf p = { 0 };

	for (i = 0; i < ARRAY_SIZE(order); i++) {
		if (!(regs & 1u << i))
			continue;
		buf_uint(&p, DW_CFA_advance_loc | (order[i] < 8 ? 1 : 2), 1);
		buf_uint(&p, DW_CFA_def_cfa_offset, 1);
		buf_uleb(&p, cfa);
		buf_uint(&p, DW_CFA_offset | order[i], 1);
		buf_uleb(&p, ++words);
		cfa += 8;
	}
	buf_uint(&p, DW_CFA_advance_loc | 4, 1);
	buf_uint(&p, DW_CFA_def_cfa_offset, 1);
	buf_uleb(&p, cfa - 8 + 8 * room);
	buf_uint(&p, DW_CFA_advance_loc | 33, 1);
	for (cfa -= 8; cfa >= 8; cfa -= 8) {
		buf_uint(&p, DW_CFA_def_cfa_offset, 1);
		buf_uleb(&p, cfa);
		buf_uint(&p, DW_CFA_advance_loc | 2, 1);
	}
	build_fde(&eh, &usual, cie, BUILD_TEXT + at, 64, (struct prog){ p.bytes, p.len });
	buf_free(&p);
}

/* What put_function() says of its byte @at. */
static int cfa_in_function(u32 at, u32 regs, u32 room)
{
	u32 loc = 0, cfa = 8, i;

	for (i = 0; i < 6; i++) {
		if (!(regs & 1u << i))
			continue;
		loc += i < 4 ? 2 : 1;
		if (at < loc)
			return (int)cfa;
		cfa += 8;
	}
	loc += 4;
	if (at < loc)
		return (int)cfa;
	loc += 33;
	if (at < loc)
		return (int)(cfa + 8 * room);
	for (; cfa > 8; cfa -= 8) {
		loc += 2;
		if (at < loc)
			return (int)cfa;
	}
	return 8;
}

/*
 * The same prologues and epilogues over and over, at every distance from a
 * bucket's end.
 */
static void check_pairs(u32 kinds, u32 rooms)
{
	const u32 n = BUILD_TEXT_LEN / 67;
	u32 cie = build_cie(&eh, &usual), i, at;

	for (i = 0; i < n; i++)
		put_function(cie, i * 67, i % kinds, 1 + i % rooms);
	compile();
	for (i = 0; i < n; i++)
		for (at = 0; at < 64; at++)
			assert_int_equal(cfa_at(i * 67 + at),
					 cfa_in_function(at, i % kinds,
							 1 + i % rooms));
}

static void test_pairs(void **state)
{
	check_pairs(8, 3);
	assert_in_range(table.table->nr_pairs, 8, KUW_MAX_PAIRS - 1);
	/* Two bytes an entry, and most rows have none. */
	assert_true(table.bytes < 2 * table.table->nr_rows);
}

/* More than there are codes for. */
static void test_many_pairs(void **state)
{
	check_pairs(64, 5);
	assert_int_equal(table.table->nr_pairs, KUW_MAX_PAIRS);
	assert_true(table.table->nr_rules > KUW_CODE_PAIR);
}

/* Every register's rule too is right in each row of a pair. */
static void test_pair_registers(void **state)
{
	u32 cie = build_cie(&eh, &usual), i;
	struct kuw_rules rules;

	for (i = 0; i < 100; i++)
		put_function(cie, i * 80, 0x30, 2);
	compile();
	assert_true(table.table->nr_pairs > 0);
	for (i = 0; i < 100; i++) {
		rules = synth_rules(&table, i * 80);
		assert_int_equal(rules.reg[KUW_RBP].how, KUW_SAME);
		rules = synth_rules(&table, i * 80 + 1);
		assert_int_equal(rules.reg[KUW_RBP].how, KUW_AT_CFA);
		assert_int_equal(rules.reg[KUW_RBP].off, -16);
		assert_int_equal(rules.reg[3].how, KUW_SAME);
		rules = synth_rules(&table, i * 80 + 2);
		assert_int_equal(rules.reg[3].how, KUW_AT_CFA);
		assert_int_equal(rules.reg[3].off, -24);
	}
}

/* libgcc: where FDEs overlap, the one that begins last is right. */
static void test_overlap(void **state)
{
	u32 cie = build_cie(&eh, &usual);

	put_fde(cie, 0x000, 0x100, 16);
	put_fde(cie, 0x080, 0x100, 24);
	put_fde(cie, 0x200, 0x100, 32);
	/* Inside another one. */
	put_fde(cie, 0x240, 0x010, 40);
	/* At the same address, the first one is right, longer or shorter. */
	put_fde(cie, 0x400, 0x100, 48);
	put_fde(cie, 0x500, 0x100, 56);
	put_fde(cie, 0x400, 0x0f0, 64);
	put_fde(cie, 0x400, 0x010, 72);
	put_fde(cie, 0x700, 0x020, 80);
	put_fde(cie, 0x700, 0x080, 88);
	/* Unless it reaches into the next one. */
	put_fde(cie, 0x800, 0x041, 96);
	put_fde(cie, 0x800, 0x010, 104);
	put_fde(cie, 0x840, 0x010, 112);
	put_fde(cie, 0x800, 0x020, 120);
	compile();
	assert_int_equal(cfa_at(0x7f), 16);
	assert_int_equal(cfa_at(0x80), 24);
	assert_int_equal(cfa_at(0x17f), 24);
	assert_int_equal(cfa_at(0x23f), 32);
	assert_int_equal(cfa_at(0x240), 40);
	assert_int_equal(cfa_at(0x400), 48);
	assert_int_equal(cfa_at(0x4ff), 48);
	assert_int_equal(cfa_at(0x500), 56);
	assert_int_equal(cfa_at(0x71f), 80);
	assert_int_equal(cfa_at(0x720), -1);
	assert_int_equal(cfa_at(0x800), 120);
	assert_int_equal(cfa_at(0x81f), 120);
	assert_int_equal(cfa_at(0x820), -1);
	assert_int_equal(cfa_at(0x840), 112);
}

static void test_outside(void **state)
{
	u32 cie = build_cie(&eh, &usual);

	/* Dropped by the linker; before, across and behind the text. */
	put_fde(cie, -BUILD_TEXT, 0x10, 16);
	put_fde(cie, -8ULL, 0x10, 24);
	put_fde(cie, BUILD_TEXT_LEN - 8, 0x10, 32);
	put_fde(cie, BUILD_TEXT_LEN + 0x100, 0x10, 40);
	put_fde(cie, 0x100, 0, 48);
	put_fde(cie, 0x200, ~0U >> 1, 56);
	compile();
	assert_int_equal(cfa_at(0), -1);
	assert_int_equal(cfa_at(0x100), -1);
	assert_int_equal(cfa_at(0x200), 56);
	assert_int_equal(cfa_at(BUILD_TEXT_LEN - 1), 32);
	assert_int_equal(cfa_at(BUILD_TEXT_LEN), -1);
}

/* The same where the linker has put the ELF header, at address 0, into the text's segment. */
static void test_dropped(void **state)
{
	u32 cie = build_cie(&eh, &usual);

	put_fde(cie, -BUILD_TEXT, BUILD_TEXT, 16);
	put_fde(cie, 0, 0x10, 24);
	compile();
	free(table.table);
	table.elf.segments[0] = (struct kuw_segment){ .filesz = BUILD_TEXT + BUILD_TEXT_LEN };
	assert_int_equal(host_compile(&table), 0);
	assert_int_equal(table.table->nr_fdes, 1);
	assert_int_equal(table.table->nr_bad, 0);
	assert_int_equal(cfa_at(-BUILD_TEXT), -1);
	assert_int_equal(cfa_at(-1ULL), -1);
	assert_int_equal(cfa_at(0), 24);
}

/* A damaged record costs itself, and is counted. */
static void test_damage(void **state)
{
	const struct cie_spec foreign = { .ra = 30 };
	u32 cie = build_cie(&eh, &usual), bad;

	put_fde(cie, 0x000, 0x80, 16);
	bad = build_cie(&eh, &foreign);
	put_fde(bad, 0x100, 0x80, 24);
	put_fde(cie, 0x200, 0x80, 32);
	/* Its CIE is an FDE. */
	put_fde(bad + 0x18, 0x300, 0x80, 40);
	put_fde(cie, 0x400, 0x80, 48);
	compile();
	assert_int_equal(cfa_at(0x000), 16);
	assert_int_equal(cfa_at(0x100), -1);
	assert_int_equal(cfa_at(0x200), 32);
	assert_int_equal(cfa_at(0x300), -1);
	assert_int_equal(cfa_at(0x400), 48);
	assert_int_equal(table.table->nr_bad, 2);
}

/*
 * A fault of an FDE is the same whether its CIE was parsed lately or not: where it was, the
 * usual form of an FDE is read in another way.
 */
static void test_damaged_fde(void **state)
{
	static const struct {
		u8 pos;
		u8 size;
		u32 value;
	} faults[] = {
		/* Lengths: without, and with half of, what must be there; up to the program. */
		{ 0, 4, 3 }, { 0, 4, 8 }, { 0, 4, 11 }, { 0, 4, 12 }, { 0, 4, 13 },
		{ 0, 4, 0x7ffffff0 }, { 0, 4, 0xfffffff0 }, { 0, 4, 0xffffffff },
		/* CIE pointers: a CIE's, to the record itself, the start, before it, after it. */
		{ 4, 4, 0 }, { 4, 4, 1 }, { 4, 4, 4 }, { 4, 4, 0x1c }, { 4, 4, 0x40 },
		{ 4, 4, 0x7fffffff }, { 4, 4, 0xffffffe0 }, { 4, 4, 0xffffffff },
		/* Addresses, and lengths of code. */
		{ 8, 4, 0 }, { 8, 4, 0x80000000 }, { 12, 4, 0 }, { 12, 4, 0x80000000 },
		{ 12, 4, 0xffffffff },
		/* Augmentation data: some, all that there is, too much, a length of two bytes. */
		{ 16, 1, 2 }, { 16, 1, 3 }, { 16, 2, 0x0180 }, { 16, 2, 0x0181 },
		{ 16, 2, 0x0080 }, { 16, 1, 0xff },
	};
	/* So long that such a length may be right. */
	u8 program[130] = { [128] = DW_CFA_def_cfa_offset, [129] = 24 };
	u32 i, known, cies[2], pos, bad[2];
	s64 cfas[2][2];

	for (i = 0; i < ARRAY_SIZE(faults); i++) {
		for (known = 0; known < 2; known++) {
			drop(NULL);
			cies[1] = build_cie(&eh, &usual);
			cies[0] = build_cie(&eh, &usual);
			put_fde(cies[known], 0x000, 0x80, 16);
			pos = eh.len;
			build_fde(&eh, &usual, cies[1], BUILD_TEXT + 0x100, 0x80,
				  (struct prog){ program, sizeof(program) });
			put_fde(cies[1], 0x200, 0x80, 32);
			memcpy(eh.bytes + pos + faults[i].pos, &faults[i].value,
			       faults[i].size);
			compile();
			assert_int_equal(cfa_at(0x000), 16);
			cfas[known][0] = cfa_at(0x100);
			cfas[known][1] = cfa_at(0x200);
			bad[known] = table.table->nr_bad;
		}
		assert_memory_equal(cfas[0], cfas[1], sizeof(cfas[0]));
		assert_int_equal(bad[0], bad[1]);
	}
}

/* Behind a damaged length nothing is known; what came before stays. */
static void test_damaged_length(void **state)
{
	u32 cie = build_cie(&eh, &usual), pos;

	put_fde(cie, 0x000, 0x80, 16);
	pos = eh.len;
	put_fde(cie, 0x100, 0x80, 24);
	buf_set32(&eh, pos, 0x7ffffff0);
	compile();
	assert_int_equal(cfa_at(0x000), 16);
	assert_int_equal(cfa_at(0x100), -1);
	assert_int_equal(table.table->nr_bad, 1);
}

static void check_nothing(void)
{
	host_table_free(&table);
	assert_int_equal(synth_compile(&table, &eh), -ENODATA);
}

static void test_nothing(void **state)
{
	/* No byte; a terminator; a CIE alone; garbage. */
	check_nothing();
	build_terminator(&eh);
	check_nothing();
	buf_free(&eh);
	build_cie(&eh, &usual);
	check_nothing();
	buf_free(&eh);
	buf_put(&eh, "\xfe\xff\xff\x7f garbage", 12);
	check_nothing();
}

/* Cut anywhere: rules that are left are the right ones. */
static void test_cut(void **state)
{
	u32 cie = build_cie(&eh, &usual), whole, len, i;

	for (i = 0; i < 8; i++)
		put_fde(cie, i * 0x100, 0x100, (u8)(8 + 8 * i));
	whole = eh.len;
	for (len = 0; len < whole; len++) {
		eh.len = len;
		host_table_free(&table);
		if (synth_compile(&table, &eh))
			continue;
		for (i = 0; i < 8; i++)
			if (cfa_at(i * 0x100) != -1)
				assert_int_equal(cfa_at(i * 0x100), 8 + 8 * i);
	}
}

/* Each byte of a section in turn is another one. */
static void test_flips(void **state)
{
	u32 cie = build_cie(&eh, &usual), pos, bit, off;

	put_fde(cie, 0x000, 0x80, 16);
	build_fde(&eh, &usual, cie, BUILD_TEXT + 0x100, 0x100,
		  PROG(DW_CFA_advance_loc | 1, DW_CFA_def_cfa_offset, 16,
		       DW_CFA_offset | 6, 2, DW_CFA_remember_state,
		       DW_CFA_advance_loc | 3, DW_CFA_def_cfa_expression, 3,
		       DW_OP_breg6, 0x78, DW_OP_deref, DW_CFA_advance_loc1,
		       0x20, DW_CFA_restore_state));
	for (pos = 0; pos < eh.len; pos++)
		for (bit = 0; bit < 8; bit++) {
			eh.bytes[pos] ^= (u8)(1 << bit);
			host_table_free(&table);
			if (!synth_compile(&table, &eh))
				for (off = 0; off < 0x200; off += 16)
					synth_rules(&table, off);
			eh.bytes[pos] ^= (u8)(1 << bit);
		}
}

/* Memory for so many requests. */
struct poor {
	struct kuw_compile compile;
	u32 allowed;
};

static int grow(struct kuw_areas *areas, u32 id, u64 bytes)
{
	struct poor *p = (struct poor *)areas;

	if (!p->allowed--)
		return -ENOMEM;
	areas->area[id].mem = realloc(areas->area[id].mem, bytes);
	areas->area[id].bytes = bytes;
	return 0;
}

/* Any request for memory can fail. */
static void test_no_memory(void **state)
{
	struct poor *p;
	u32 allowed, i;
	int ret;

	build_one(&eh, BUILD_TEXT, 0x100, PROG(DW_CFA_remember_state,
		  DW_CFA_advance_loc | 1, DW_CFA_def_cfa_expression, 1,
		  DW_OP_lit1));
	compile();
	for (allowed = 0, ret = -ENOMEM; ret; allowed++) {
		p = calloc(1, sizeof(*p));
		assert_non_null(p);
		p->allowed = allowed;
		kuw_compile_init(&p->compile, &table.elf, table.eh_frame, NULL);
		p->compile.areas.grow = grow;
		ret = kuw_compile(&p->compile);
		assert_true(!ret || ret == -ENOMEM);
		for (i = 0; i < KUW_NR_AREAS; i++)
			free(p->compile.areas.area[i].mem);
		free(p);
	}
	assert_int_equal(allowed - 1, table.grown);
	assert_true(table.grown >= KUW_NR_AREAS - 1);
}

/*
 * More sequences of rows than are looked at that have one hash, as core/compile/pairs.c has it:
 * those that are too many are no pairs, and no mistake either.
 */
static void test_collisions(void **state)
{
	/* How many slots there are for so many rows. */
	const u32 slots = 1024, nr_rules = 64, uses = 10;
	u32 pairs[KUW_MAX_SEQUENCE_TRIES + 8][3], n = 0, cie, delta, a, b, i;
	const u32 nr_pairs = ARRAY_SIZE(pairs);
	struct buf p = { 0 };

	for (i = 0; n < nr_pairs && i < nr_rules * nr_rules * KUW_PAIR_NEAR; i++) {
		u64 key;

		a = i % nr_rules + 1;
		b = i / nr_rules % nr_rules + 1;
		delta = i / nr_rules / nr_rules + 1;
		key = (u64)a << 32 | b << 8 | delta;
		if (a == b || (key * KUW_MIX >> 32) % slots)
			continue;
		pairs[n][0] = delta;
		pairs[n][1] = a;
		pairs[n++][2] = b;
	}
	assert_int_equal(n, nr_pairs);
	drop(NULL);
	cie = build_cie(&eh, &usual);
	/* Rules have the numbers of their first rows; rows as long are in no pair. */
	for (i = 1; i <= nr_rules; i++)
		buf_put(&p, (const u8[]){ DW_CFA_def_cfa_offset, (u8)i,
			DW_CFA_advance_loc | 32 }, 3);
	build_fde(&eh, &usual, cie, BUILD_TEXT, nr_rules * 32,
		  (struct prog){ p.bytes, p.len });
	buf_free(&p);
	for (i = 0; i < uses * nr_pairs; i++) {
		const u32 *pair = pairs[i % nr_pairs];

		build_fde(&eh, &usual, cie, BUILD_TEXT + 0x1000 + i * 0x40, 0x40,
			  PROG(DW_CFA_def_cfa_offset, 100, DW_CFA_advance_loc | 16,
			       DW_CFA_def_cfa_offset, (u8)pair[1],
			       (u8)(DW_CFA_advance_loc | pair[0]),
			       DW_CFA_def_cfa_offset, (u8)pair[2],
			       DW_CFA_advance_loc | 3,
			       DW_CFA_def_cfa_offset, 100));
	}
	compile();
	/* Each of them would be one. */
	assert_in_range(table.table->nr_pairs, KUW_MAX_SEQUENCE_TRIES / 2, nr_pairs - 1);
	for (i = 0; i < uses * nr_pairs; i++) {
		const u32 *pair = pairs[i % nr_pairs], at = 0x1000 + i * 0x40;

		assert_int_equal(cfa_at(at + 15), 100);
		assert_int_equal(cfa_at(at + 16), pair[1]);
		assert_int_equal(cfa_at(at + 15 + pair[0]), pair[1]);
		assert_int_equal(cfa_at(at + 16 + pair[0]), pair[2]);
		assert_int_equal(cfa_at(at + 18 + pair[0]), pair[2]);
		assert_int_equal(cfa_at(at + 19 + pair[0]), 100);
	}
}

#define TEST(name)	cmocka_unit_test_teardown(name, drop)

static const struct CMUnitTest tests[] = {
	TEST(test_order),
	TEST(test_descending),
	TEST(test_gaps),
	TEST(test_code_in_gaps),
	TEST(test_signal_gap),
	TEST(test_room_for_rules),
	TEST(test_cell_behind_cells),
	TEST(test_blocks),
	TEST(test_dense),
	TEST(test_longest),
	TEST(test_densest),
	TEST(test_standstill),
	TEST(test_pairs),
	TEST(test_many_pairs),
	TEST(test_pair_registers),
	TEST(test_overlap),
	TEST(test_outside),
	TEST(test_dropped),
	TEST(test_damage),
	TEST(test_damaged_fde),
	TEST(test_damaged_length),
	TEST(test_nothing),
	TEST(test_cut),
	TEST(test_flips),
	TEST(test_no_memory),
	TEST(test_collisions),
};

TEST_MAIN(tests)
