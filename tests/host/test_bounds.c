// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* Where the compiler's budgets end, and sections that are large or odd. */
#include <dwarf.h>
#include <stdlib.h>
#include "test.h"
#include "synth.h"
#include "budgets.h"

static struct host_table table;
static struct buf eh;
static const struct cie_spec usual;

static int drop(void **state)
{
	host_table_free(&table);
	buf_free(&eh);
	return 0;
}

/* Compile with what there is, except for segments. */
static int compile_segments(bool exact)
{
	table.elf.word = KUW_WORD;
	table.elf.eh_frame = (struct kuw_range){ .vaddr = BUILD_EH, .len = eh.len };
	table.elf.eh_frame_exact = exact;
	table.eh_frame = malloc(eh.len);
	assert_non_null(table.eh_frame);
	memcpy(table.eh_frame, eh.bytes, eh.len);
	return host_compile(&table);
}

/* With @text bytes of text. */
static int compile(u64 text, bool exact)
{
	table.elf.segments[0] = (struct kuw_segment){
		.vaddr = BUILD_TEXT, .filesz = text,
	};
	table.elf.nr_segments = 1;
	return compile_segments(exact);
}

/* The CFA's offset from rsp at @off; -1 if there is no rule. */
static s64 cfa_at(u64 off)
{
	struct kuw_rules rules = synth_rules(&table, off);

	return rules.kind == KUW_RULES_NONE ? -1 : rules.cfa.off;
}

static void put_cfa(struct buf *p, u32 cfa)
{
	buf_uint(p, DW_CFA_def_cfa_offset, 1);
	buf_uleb(p, cfa);
}

static void put_fde(const struct cie_spec *cie, u32 at, u64 off, u64 len, u32 cfa)
{
	struct buf p = { 0 };

	put_cfa(&p, cfa);
	build_fde(&eh, cie, at, BUILD_TEXT + off, len, (struct prog){ p.bytes, p.len });
	buf_free(&p);
}

/* Of FDEs that start at one address, the first one holds; the others have no row. */
static void test_same_begin(void **state)
{
	u32 cie = build_cie(&eh, &usual);

	put_fde(&usual, cie, 0x100, 0x40, 16);
	put_fde(&usual, cie, 0x100, 0x20, 24);
	put_fde(&usual, cie, 0x100, 0x80, 32);
	assert_int_equal(compile(0x1000, true), 0);
	assert_int_equal(cfa_at(0x100), 16);
	assert_int_equal(cfa_at(0x13f), 16);
	assert_int_equal(cfa_at(0x140), -1);
}

/* FDEs of two segments in turn, one that goes beyond its segment, and some of neither. */
static void test_segments(void **state)
{
	u32 cie = build_cie(&eh, &usual), i;

	for (i = 0; i < 4; i++) {
		put_fde(&usual, cie, i * 0x20, 0x20, 16 + 8 * i);
		put_fde(&usual, cie, 0x8000 + i * 0x20, 0x20, 64 + 8 * i);
		put_fde(&usual, cie, 0x1000 + i * 0x20, 0x20, 128);
		put_fde(&usual, cie, 0x9000 + i * 0x20, 0x20, 128);
	}
	put_fde(&usual, cie, 0xff0, 0x20, 104);
	table.elf.segments[0] = (struct kuw_segment){
		.vaddr = BUILD_TEXT, .filesz = 0x1000,
	};
	table.elf.segments[1] = (struct kuw_segment){
		.vaddr = BUILD_TEXT + 0x8000, .filesz = 0x1000,
	};
	table.elf.nr_segments = 2;
	assert_int_equal(compile_segments(true), 0);
	assert_int_equal(table.table->nr_fdes, 9);
	assert_int_equal(table.table->nr_bad, 0);
	for (i = 0; i < 4; i++) {
		assert_int_equal(cfa_at(i * 0x20 + 0x1f), 16 + 8 * i);
		assert_int_equal(cfa_at(0x8000 + i * 0x20 + 0x1f), 64 + 8 * i);
		assert_int_equal(cfa_at(0x1000 + i * 0x20), -1);
	}
	assert_int_equal(cfa_at(0xfff), 104);
	assert_int_equal(cfa_at(0x9000), -1);
}

/* An offset has 32 bits: an FDE that ends behind them is left out. */
static void test_far(void **state)
{
	const struct cie_spec absolute = { .aug = "" };
	u32 cie = build_cie(&eh, &absolute);

	put_fde(&absolute, cie, 0x100, 0x20, 16);
	put_fde(&absolute, cie, U32_MAX - 0x20, 0x20, 24);
	put_fde(&absolute, cie, U32_MAX - 0x10, 0x20, 32);
	assert_int_equal(compile(1ULL << 33, true), 0);
	assert_int_equal(table.table->nr_bad, 1);
	assert_int_equal(table.table->span, U32_MAX);
	assert_int_equal(cfa_at(0x100), 16);
	assert_int_equal(cfa_at(0x12345678), -1);
	assert_int_equal(cfa_at(U32_MAX - 0x20), 24);
	assert_int_equal(cfa_at(U32_MAX - 1), 24);
	assert_int_equal(cfa_at(U32_MAX), -1);
}

/* A compilation by hand. Which pause ends it, and how many there were. */
struct by_hand {
	struct kuw_compile compile;
	u32 last;
	u32 pauses;
};

static int grow(struct kuw_areas *areas, u32 id, u64 bytes)
{
	areas->area[id].mem = realloc(areas->area[id].mem, bytes);
	assert_non_null(areas->area[id].mem);
	areas->area[id].bytes = bytes;
	return 0;
}

static int pause_by_hand(struct kuw_areas *areas)
{
	struct by_hand *b = (struct by_hand *)areas;

	return ++b->pauses == b->last ? -EINTR : 0;
}

/* Compile once more, up to a pause: the same comes out. Return: the pauses. */
static u32 pauses_up_to(u32 last)
{
	struct by_hand *b = calloc(1, sizeof(*b));
	struct kuw_compile *c = &b->compile;
	u32 i, n;

	assert_non_null(b);
	b->last = last;
	kuw_compile_init(c, &table.elf, table.eh_frame, NULL);
	c->areas.grow = grow;
	c->areas.pause = pause_by_hand;
	if (last) {
		assert_int_equal(kuw_compile(c), -EINTR);
		assert_int_equal(b->pauses, last);
	} else {
		assert_int_equal(kuw_compile(c), 0);
		assert_memory_equal(c->areas.area[KUW_AREA_TABLE].mem, table.table, table.bytes);
	}
	for (i = 0; i < KUW_NR_AREAS; i++)
		free(c->areas.area[i].mem);
	n = b->pauses;
	free(b);
	return n;
}

/* The same to its end. Any pause can end it. */
static u32 pauses(void)
{
	u32 n = pauses_up_to(0), i;

	for (i = 1; i <= n; i++)
		pauses_up_to(i);
	return n;
}

/* Few rows in much text. */
static void test_pauses(void **state)
{
	u32 cie = build_cie(&eh, &usual), i;

	for (i = 0; i < 200; i++)
		put_fde(&usual, cie, i * 0x4000, 0x20, 16 + 8 * (i % 7));
	assert_int_equal(compile(200 * 0x4000, true), 0);
	for (i = 0; i < 200; i++)
		assert_int_equal(cfa_at(i * 0x4000 + 0x1f),
				 16 + 8 * (i % 7));
	/* FDEs are scanned and placed; buckets are indexed, and the index is copied. */
	assert_int_equal(pauses(), (200 * 2 * KUW_FDE_WORK +
				    200 * 0x40 * (1 + sizeof(u32))) / KUW_BATCH);
}

/* A program of @len bytes that says nothing but the CFA, at its end. */
static struct prog long_program(struct buf *p, u32 len, u32 cfa)
{
	while (p->len < len - 3)
		buf_uint(p, DW_CFA_nop, 1);
	buf_put(p, (const u8[]){ DW_CFA_def_cfa, 7, (u8)cfa }, 3);
	return (struct prog){ p->bytes, p->len };
}

/* A record is looked at in one piece: if it is too long, its neighbours stay. */
static void test_long_record(void **state)
{
	struct cie_spec spec = { 0 };
	struct buf p = { 0 };
	u32 cie = build_cie(&eh, &usual);

	/* Before the program there are some bytes, and behind it are some, too. */
	build_fde(&eh, &usual, cie, BUILD_TEXT, 0x20,
		  long_program(&p, KUW_MAX_RECORD - 32, 16));
	build_fde(&eh, &usual, cie, BUILD_TEXT + 0x100, 0x20,
		  long_program(&p, KUW_MAX_RECORD, 24));
	put_fde(&usual, cie, 0x200, 0x20, 32);
	spec.instrs = (struct prog){ p.bytes, p.len };
	put_fde(&spec, build_cie(&eh, &spec), 0x300, 0x20, 40);
	buf_free(&p);
	assert_int_equal(compile(0x1000, true), 0);
	/* The FDE, the CIE, and the FDE of that. */
	assert_int_equal(table.table->nr_bad, 3);
	assert_int_equal(cfa_at(0), 16);
	assert_int_equal(cfa_at(0x100), -1);
	assert_int_equal(cfa_at(0x200), 32);
	assert_int_equal(cfa_at(0x300), -1);
}

/*
 * Compile FDEs of two CIEs in turn, which have one place among those that are remembered.
 * Return: 0, or the error.
 */
static int build_in_turn(const struct cie_spec *spec, u32 n)
{
	u32 cies[2], i;

	drop(NULL);
	cies[0] = build_cie(&eh, spec);
	while ((eh.len - cies[0]) % (4 * KUW_CIE_SLOTS))
		build_cie(&eh, &usual);
	cies[1] = build_cie(&eh, spec);
	for (i = 0; i < n; i++)
		put_fde(spec, cies[i % 2], i * 0x20, 0x20, 16 + 8 * i);
	return compile(n * 0x20, true);
}

/* A pause follows so many bytes of records, however few FDEs that are. */
static void test_long_records(void **state)
{
	const u32 n = 40, len = KUW_BATCH / 2;
	struct buf p = { 0 }, aug = { 0 };
	struct cie_spec spec = { 0 };
	u32 cie, i;

	/* Programs of CIEs, and their augmentations. */
	spec.instrs = long_program(&p, len, 8);
	assert_int_equal(build_in_turn(&spec, n), 0);
	assert_true(pauses() >= n * len / KUW_BATCH);
	buf_put(&aug, "zR", 2);
	while (aug.len < len)
		buf_uint(&aug, '?', 1);
	buf_uint(&aug, 0, 1);
	spec = (struct cie_spec){ .aug = (char *)aug.bytes };
	assert_int_equal(build_in_turn(&spec, n), 0);
	assert_true(pauses() >= n * len / KUW_BATCH);
	buf_free(&aug);
	/* And programs of FDEs. */
	drop(NULL);
	cie = build_cie(&eh, &usual);
	for (i = 0; i < n; i++)
		build_fde(&eh, &usual, cie, BUILD_TEXT + i * 0x20, 0x20,
			  (struct prog){ p.bytes, p.len });
	buf_free(&p);
	assert_int_equal(compile(0x1000, true), 0);
	assert_true(pauses() >= n * len / KUW_BATCH);
}

/* A pause follows so many searches for sets of registers' rules, even in a single FDE. */
static void test_many_searches(void **state)
{
	u32 cie = build_cie(&eh, &usual), n = 20000, i;
	struct buf p = { 0 };

	for (i = 0; i < n; i++) {
		buf_uint(&p, DW_CFA_offset | 3, 1);
		buf_uleb(&p, i);
	}
	build_fde(&eh, &usual, cie, BUILD_TEXT, 0x20, (struct prog){ p.bytes, p.len });
	buf_free(&p);
	assert_int_equal(compile(0x1000, true), 0);
	assert_true(pauses() >= n / (KUW_BATCH / KUW_SEARCH_WORK));
}

/* The same for searches for an expression, among as many as are looked at. */
static void test_many_expressions(void **state)
{
	u32 cie = build_cie(&eh, &usual), n = 3000, i, j;
	struct buf p = { 0 };

	for (i = 0; i < n; i++) {
		buf_uint(&p, DW_CFA_val_expression, 1);
		buf_uleb(&p, 3);
		buf_uleb(&p, 1 + i % KUW_MAX_EXPR_SEARCH);
		for (j = 0; j < i % KUW_MAX_EXPR_SEARCH; j++)
			buf_uint(&p, DW_OP_nop, 1);
		buf_uint(&p, DW_OP_lit1, 1);
	}
	build_fde(&eh, &usual, cie, BUILD_TEXT, 0x20, (struct prog){ p.bytes, p.len });
	buf_free(&p);
	assert_int_equal(compile(0x1000, true), 0);
	assert_true(pauses() >= n / (KUW_BATCH / KUW_SEARCH_WORK));
}

/* Rules in full, which the table has as a CFA program makes them: bytes to copy. */
static void test_many_full_rules(void **state)
{
	u32 cie = build_cie(&eh, &usual), n = 5000, i;
	struct buf p = { 0 };

	for (i = 0; i < n; i++) {
		buf_uint(&p, DW_CFA_def_cfa, 1);
		buf_uleb(&p, 3);
		buf_uleb(&p, i);
		buf_uint(&p, DW_CFA_advance_loc | 1, 1);
	}
	build_fde(&eh, &usual, cie, BUILD_TEXT, n, (struct prog){ p.bytes, p.len });
	buf_free(&p);
	assert_int_equal(compile(0x10000, true), 0);
	assert_int_equal(table.table->nr_full, n);
	assert_true(pauses() >= n * (KUW_SEARCH_WORK + sizeof(struct kuw_rules)) / KUW_BATCH);
}

/* CIEs that are parsed again for each FDE: a file can have many such FDEs. */
static void test_cies_again(void **state)
{
	const u32 len = KUW_MAX_RECORD / 2, fit = KUW_MAX_CIE_BYTES / len;
	struct buf p = { 0 };
	const struct cie_spec spec = { .instrs = long_program(&p, len, 8) };

	assert_int_equal(build_in_turn(&spec, fit - fit / 8), 0);
	assert_int_equal(build_in_turn(&spec, fit + 1), -E2BIG);
	buf_free(&p);
}

/* Pauses for @n FDEs with @len bytes of text each, of which @progs have a row each @apart. */
static u32 pauses_of_rows(u32 n, u32 len, u32 apart, u32 progs)
{
	u32 cie, i;
	struct buf p = { 0 };

	drop(NULL);
	cie = build_cie(&eh, &usual);
	for (i = 0; i < len / apart; i++)
		buf_put(&p, (const u8[]){ DW_CFA_def_cfa_offset, i & 1 ? 16 : 24,
			(u8)(DW_CFA_advance_loc | apart) }, 3);
	for (i = 0; i < n; i++)
		build_fde(&eh, &usual, cie, BUILD_TEXT + i * len, len,
			  (struct prog){ p.bytes, i < progs ? p.len : 3 });
	buf_free(&p);
	assert_int_equal(compile(n * len, true), 0);
	return pauses();
}

/*
 * The same where rows are put in order and encoded: many of a few FDEs, alone and in pairs.
 * A pause follows each program, and the rows of two FDEs. One follows the entries of as many; of
 * rows that are all in pairs, there are few.
 */
static void test_many_rows(void **state)
{
	const u32 n = 12, rows = KUW_BATCH / 2;
	u32 few = pauses_of_rows(n, rows * 17, 17, 1);

	assert_true(pauses_of_rows(n, rows * 17, 17, n) >=
		    few + n - 1 + n / 2 - 2 + n / 2 - 2);
	assert_int_equal(table.table->nr_rows, n * rows);
	few = pauses_of_rows(n, rows, 1, 1);
	assert_true(pauses_of_rows(n, rows, 1, n) >= few + n - 1 + n / 2 - 2);
	assert_int_equal(table.table->nr_rows, n * rows);
}

/* Compile @n FDEs, of which the @ith found lies at place at(@i). */
static void check_order(u32 n, u32 (*at)(u32 i, u32 n))
{
	u32 cie, i;

	drop(NULL);
	cie = build_cie(&eh, &usual);
	for (i = 0; i < n; i++)
		put_fde(&usual, cie, at(i, n) * 0x10, 0x10, 16 + 8 * (at(i, n) % 11));
	assert_int_equal(compile(n * 0x10, true), 0);
	assert_int_equal(table.table->nr_rows, n);
	for (i = 0; i < n; i++)
		assert_int_equal(cfa_at(i * 0x10 + 0xf), 16 + 8 * (i % 11));
}

static u32 ascending(u32 i, u32 n)
{
	return i;
}

static u32 descending(u32 i, u32 n)
{
	return n - 1 - i;
}

static u32 first_last(u32 i, u32 n)
{
	return (i + 1) % n;
}

/* Nobody knows where the next one is; @n is not a multiple of 7. */
static u32 scattered(u32 i, u32 n)
{
	return (u64)i * 823543 % n;
}

static void test_many_fdes(void **state)
{
	const u32 n = 3 * KUW_BATCH + 2;

	check_order(n, ascending);
	check_order(n, first_last);
	check_order(n, descending);
	check_order(n, scattered);
}

/* And where they are sorted: counted and moved by each byte of their keys. */
static void test_sort(void **state)
{
	const u32 n = 3 * KUW_BATCH + 2;
	struct kuw_item *items = calloc(2 * n, sizeof(*items));
	struct by_hand b = { .compile.areas.pause = pause_by_hand };
	u32 i;

	assert_non_null(items);
	/* Two of each key. */
	for (i = 0; i < n; i++)
		items[i] = (struct kuw_item){ scattered(i, n) / 2 * 0x10001, scattered(i, n) };
	assert_int_equal(kuw_sort(&b.compile.sort, &b.compile.areas, items, n), 0);
	assert_int_equal(b.pauses, 8 * n / KUW_BATCH);
	for (i = 1; i < n; i++)
		assert_true(items[i - 1].key <= items[i].key);
	/* Each pause can end it. */
	for (b.last = 1; b.last <= 24; b.last++) {
		b.pauses = 0;
		b.compile.areas.work = 0;
		assert_int_equal(kuw_sort(&b.compile.sort, &b.compile.areas, items, n), -EINTR);
	}
	free(items);
}

/* Where the section's length is known, objects behind a terminator count, too. */
static void test_terminator(void **state)
{
	u32 exact, cie;

	for (exact = 0; exact < 2; exact++) {
		drop(NULL);
		cie = build_cie(&eh, &usual);
		put_fde(&usual, cie, 0, 0x10, 16);
		build_terminator(&eh);
		cie = build_cie(&eh, &usual);
		put_fde(&usual, cie, 0x20, 0x10, 24);
		assert_int_equal(compile(0x1000, exact), 0);
		assert_int_equal(table.table->nr_bad, 0);
		assert_int_equal(cfa_at(0), 16);
		assert_int_equal(cfa_at(0x20), exact ? 24 : -1);
	}
}

/* All that is behind a damaged length is lost. */
static void test_damaged_length(void **state)
{
	u32 cie = build_cie(&eh, &usual), bad;

	put_fde(&usual, cie, 0, 0x10, 16);
	bad = eh.len;
	put_fde(&usual, cie, 0x20, 0x10, 24);
	put_fde(&usual, cie, 0x40, 0x10, 32);
	buf_set32(&eh, bad, 0x7ffffff0);
	assert_int_equal(compile(0x1000, true), 0);
	assert_int_equal(table.table->nr_bad, 1);
	assert_int_equal(cfa_at(0), 16);
	assert_int_equal(cfa_at(0x20), -1);
	assert_int_equal(cfa_at(0x40), -1);
}

/* An .eh_frame that is longer than the compiler reads is cut, in the middle of a record. */
static void test_cut_section(void **state)
{
	u8 *bytes = calloc(1, KUW_MAX_EH_FRAME);
	struct by_hand *b = calloc(1, sizeof(*b));
	struct kuw_compile *c = &b->compile;
	u32 cie = build_cie(&eh, &usual), i, id;
	struct kuw_elf elf;

	assert_non_null(bytes);
	assert_non_null(b);
	put_fde(&usual, cie, 0, 0x10, 16);
	assert_int_equal(compile(0x1000, true), 0);
	elf = table.elf;
	memcpy(bytes, eh.bytes, eh.len);
	put_unaligned_le32(KUW_MAX_EH_FRAME, bytes + eh.len);
	for (i = 0; i < 2; i++) {
		elf.eh_frame.len = i ? KUW_MAX_EH_FRAME : eh.len + 4;
		elf.eh_frame_exact = false;
		kuw_compile_init(c, &elf, bytes, NULL);
		c->areas.grow = grow;
		c->areas.pause = pause_by_hand;
		assert_int_equal(kuw_compile(c), 0);
		assert_int_equal(c->scan.nr_fdes, 1);
		/* Without section headers, what is behind the last record may be anything. */
		assert_int_equal(c->scan.nr_bad, i);
		for (id = 0; id < KUW_NR_AREAS; id++)
			free(c->areas.area[id].mem);
	}
	free(b);
	free(bytes);
}

/* @one puts an instruction for the i-th row; a program may not be of any length. */
static void build_rows(u32 n, void (*one)(struct buf *p, u32 i))
{
	u32 cie = build_cie(&eh, &usual), first = 0, i;
	struct buf p = { 0 };

	for (i = 0; i < n; i++) {
		one(&p, i);
		buf_uint(&p, DW_CFA_advance_loc | 1, 1);
		if (i + 1 < n && (i + 1) % 1000)
			continue;
		build_fde(&eh, &usual, cie, BUILD_TEXT + first, i + 1 - first,
			  (struct prog){ p.bytes, p.len });
		first = i + 1;
		p.len = 0;
	}
	buf_free(&p);
}

static void put_distinct_cfa(struct buf *p, u32 i)
{
	put_cfa(p, 8 + 8 * i);
}

static void put_distinct_reg(struct buf *p, u32 i)
{
	buf_put(p, (const u8[]){ DW_CFA_val_offset, 3 }, 2);
	buf_uleb(p, i);
}

/* As long as an expression may be, and each another one. */
static void put_distinct_expr(struct buf *p, u32 i)
{
	u32 k;

	buf_put(p, (const u8[]){ DW_CFA_val_expression, 3 }, 2);
	buf_uleb(p, KUW_MAX_EXPR_BYTES);
	buf_uint(p, DW_OP_const4u, 1);
	buf_uint(p, i, 4);
	for (k = 5; k < KUW_MAX_EXPR_BYTES; k++)
		buf_uint(p, DW_OP_nop, 1);
}

static void test_rules(void **state)
{
	/* Rule 0 is one of them. */
	build_rows(KUW_MAX_RULES, put_distinct_cfa);
	assert_int_equal(compile(1 << 20, true), -E2BIG);
	assert_string_equal(table.stage, "compile");
}

static void test_register_sets(void **state)
{
	build_rows(KUW_MAX_RULES, put_distinct_reg);
	assert_int_equal(compile(1 << 20, true), -E2BIG);
}

static u32 collisions[KUW_MAX_PROBES + 1];

static u64 word_of(u8 how, u8 reg, u8 target, s32 off)
{
	const struct kuw_loc loc = { .how = how, .reg = reg, .target = target, .off = off };

	return get_unaligned_le64(&loc);
}

/*
 * Offsets of @n states that all have one slot of a hash of 2^12: of the sets in
 * which rbx is CFA-8*i; or, by @rule, of the rules of one set whose CFA is rsp+8*i.
 * As core/compile/intern.c has them.
 */
static void collide(u32 n, bool rule)
{
	u32 i, k, slot = 0, found = 0;
	u64 h, reg;

	for (i = 0; found < n; i++) {
		if (rule) {
			/* The second word of the key is 0: set 0, and no signal frame. */
			h = word_of(KUW_REG, KUW_RSP, 0, 8 * (s32)i) * KUW_MIX * KUW_MIX;
		} else {
			for (h = 0, k = 0; k < KUW_NR_REGS; k++) {
				reg = word_of(KUW_SAME, 0, (u8)k, 0);
				if (k == KUW_RBX)
					reg = word_of(KUW_CFA_PLUS, 0, KUW_RBX, -8 * (s32)i);
				if (k == KUW_RA)
					reg = word_of(KUW_AT_CFA, 0, KUW_RA, -8);
				h = (h ^ reg) * KUW_MIX;
			}
		}
		h = (h ^ h >> 29) * KUW_MIX;
		if (!i)
			slot = h >> 32 & 0xfff;
		if ((h >> 32 & 0xfff) == slot)
			collisions[found++] = i;
	}
}

static void put_colliding_reg(struct buf *p, u32 i)
{
	put_distinct_reg(p, collisions[i]);
}

static void put_colliding_cfa(struct buf *p, u32 i)
{
	put_cfa(p, 8 * collisions[i]);
}

/* Who writes a file for the hash gets no table, and not the time of many comparisons. */
static void test_collisions(void **state)
{
	/* Others may have come to a slot behind theirs. */
	static const u32 few = KUW_MAX_PROBES - 8, many = KUW_MAX_PROBES + 1;
	u32 rule;

	for (rule = 0; rule < 2; rule++) {
		collide(many, rule);
		drop(NULL);
		build_rows(few, rule ? put_colliding_cfa : put_colliding_reg);
		assert_int_equal(compile(1 << 20, true), 0);
		drop(NULL);
		build_rows(many, rule ? put_colliding_cfa : put_colliding_reg);
		assert_int_equal(compile(1 << 20, true), -E2BIG);
	}
}

/* One in each FDE: what runs again because an area grew is stored once more. */
static void build_expressions(u32 n)
{
	u32 cie = build_cie(&eh, &usual), i;
	struct buf p = { 0 };

	for (i = 0; i < n; i++) {
		p.len = 0;
		put_distinct_expr(&p, i);
		build_fde(&eh, &usual, cie, BUILD_TEXT + i, 1,
			  (struct prog){ p.bytes, p.len });
	}
	buf_free(&p);
}

static void test_expressions(void **state)
{
	const u32 fit = KUW_MAX_EXPR_POOL / (KUW_MAX_EXPR_BYTES + 2);

	/* An area or two grow in the middle of one. */
	build_expressions(fit - 20);
	assert_int_equal(compile(1 << 20, true), 0);
	assert_int_equal(table.table->nr_rows, fit - 20);
	drop(NULL);
	build_expressions(fit + 1);
	assert_int_equal(compile(1 << 20, true), -E2BIG);
}

/* An advance that leaves 64 bits costs its FDE. */
static void test_advance(void **state)
{
	static const u64 factors[] = { 1ULL << 62, U64_MAX, U64_MAX - BUILD_TEXT };
	struct cie_spec spec = { 0 };
	u32 i;

	for (i = 0; i < ARRAY_SIZE(factors); i++) {
		drop(NULL);
		spec.code_align = factors[i];
		build_fde(&eh, &spec, build_cie(&eh, &spec), BUILD_TEXT + 0x100, 0x20,
			  PROG(DW_CFA_advance_loc | 5));
		put_fde(&usual, build_cie(&eh, &usual), 0, 0x20, 16);
		assert_int_equal(compile(0x1000, true), 0);
		assert_int_equal(table.table->nr_bad, 1);
		assert_int_equal(cfa_at(0x100), -1);
		assert_int_equal(cfa_at(0), 16);
	}
}

#define TEST(name)	cmocka_unit_test_teardown(name, drop)

static const struct CMUnitTest tests[] = {
	TEST(test_same_begin),
	TEST(test_segments),
	TEST(test_far),
	TEST(test_pauses),
	TEST(test_long_record),
	TEST(test_long_records),
	TEST(test_many_searches),
	TEST(test_many_expressions),
	TEST(test_many_full_rules),
	TEST(test_cies_again),
	TEST(test_many_rows),
	TEST(test_many_fdes),
	TEST(test_sort),
	TEST(test_terminator),
	TEST(test_damaged_length),
	TEST(test_cut_section),
	TEST(test_rules),
	TEST(test_register_sets),
	TEST(test_collisions),
	TEST(test_expressions),
	TEST(test_advance),
};

TEST_MAIN(tests)
