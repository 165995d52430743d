// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* Go's function table: what it gives, and tables that lie, in one thing each. */
#include <elf.h>
#include "test.h"
#include "build_eh_frame.h"
#include "load.h"

#define MAGIC_118	0xfffffff0u
#define MAGIC_120	0xfffffff1u
#define TOPFRAME	1
#define SPWRITE		2
/* The text of Go's code: other code may come first. */
#define GO_TEXT		(BUILD_TEXT + 0x100)

/* Where the words of the header are. */
enum { NFUNC = 8, TEXT = 24, NAMES = 32, PCTAB = 56, FUNCS = 64, HEADER = 72 };

struct func {
	const char *name;
	u32 start;
	u32 flags;
	struct prog pcsp;	/* without one, there is none */
};

static struct buf pcln, file;
static struct elf_layout layout;
static struct host_table table;

static int drop(void **state)
{
	(void)state;
	host_table_free(&table);
	buf_free(&file);
	buf_free(&pcln);
	return 0;
}

/* A list: as Go's linker before 1.21 makes it, with one instruction that opens the frame. */
#define OPENS	PROG(2, 4, 0x40, 0x1c, 0x3f, 1, 0)
/* The same since 1.21: push %rbp; mov %rsp,%rbp; sub $0x18,%rsp; …; add; pop; ret. */
#define PUSHES	PROG(2, 1, 16, 3, 48, 0x16, 47, 1, 15, 1, 0)
#define EMPTY	PROG(2, 0x20, 0)

static const struct func usual[] = {
	{ "main.main", 0x00, 0, OPENS },
	{ "main.push", 0x40, 0, PUSHES },
	{ "runtime.goexit", 0x60, TOPFRAME, EMPTY },
	{ "runtime.mstart", 0x80, TOPFRAME, EMPTY },
	{ "runtime.gogo", 0xa0, SPWRITE, EMPTY },
	{ "runtime.sigpanic", 0xc0, 0, PUSHES },
	{ "runtime.sigreturn__sigaction", 0xe0, 0, EMPTY },
	{ "c_function", 0x100, 0, NO_PROG },
	{ "_rt0_amd64_linux", 0x120, 0, EMPTY },
	{ "main.last", 0x140, 0, EMPTY },
};

#define NR	ARRAY_SIZE(usual)
#define END	0x160

/* Where the entry of function @i is, and its struct _func. */
static u32 entry_of(u32 i)
{
	return (u32)get_unaligned_le64(pcln.bytes + FUNCS) + 8 * i;
}

static u32 func_of(u32 i)
{
	return entry_of(0) + get_unaligned_le32(pcln.bytes + entry_of(i) + 4);
}

static void set(u32 at, u64 value, u32 len)
{
	u32 i;

	assert_in_range(at, 0, pcln.len - len);
	for (i = 0; i < len; i++)
		pcln.bytes[at + i] = (u8)(value >> 8 * i);
}

static void build(u32 magic)
{
	u32 names[NR], lists[NR], i, entries;

	drop(NULL);
	buf_uint(&pcln, magic, 4);
	buf_uint(&pcln, 0x08010000, 4);
	buf_uint(&pcln, NR, 8);
	buf_uint(&pcln, 0, 8);
	buf_uint(&pcln, GO_TEXT, 8);
	while (pcln.len < HEADER)
		buf_uint(&pcln, 0, 8);
	set(NAMES, pcln.len, 8);
	for (i = 0; i < NR; i++) {
		names[i] = pcln.len - HEADER;
		buf_put(&pcln, usual[i].name, strlen(usual[i].name) + 1);
	}
	set(PCTAB, pcln.len, 8);
	entries = pcln.len;
	buf_uint(&pcln, 0, 1);
	for (i = 0; i < NR; i++) {
		lists[i] = usual[i].pcsp.len ? pcln.len - entries : 0;
		buf_put(&pcln, usual[i].pcsp.bytes, usual[i].pcsp.len);
	}
	buf_align(&pcln, 8, 0);
	set(FUNCS, pcln.len, 8);
	for (i = 0; i < NR; i++) {
		buf_uint(&pcln, usual[i].start, 4);
		buf_uint(&pcln, 0, 4);
	}
	buf_uint(&pcln, END, 4);
	for (i = 0; i < NR; i++) {
		set(entry_of(i) + 4, pcln.len - entry_of(0), 4);
		buf_uint(&pcln, usual[i].start, 4);
		buf_uint(&pcln, names[i], 4);
		buf_uint(&pcln, 0, 8);
		buf_uint(&pcln, lists[i], 4);
		buf_uint(&pcln, 0, 8);
		buf_uint(&pcln, 0, magic == MAGIC_118 ? 8 : 4);
		if (magic != MAGIC_118)
			buf_uint(&pcln, 0, 8);
		buf_uint(&pcln, usual[i].flags << 8, 4);
	}
}

/* Compile a file with an FDE of 16 bytes at the start of the text. Return: as host_compile(). */
static int load_as(struct elf_spec spec)
{
	const struct cie_spec cie = { 0 };
	struct buf eh = { 0 };

	if (!spec.no_hdr) {
		build_fde(&eh, &cie, build_cie(&eh, &cie), BUILD_TEXT, 0x10, NO_PROG);
		build_terminator(&eh);
	}
	spec.eh_frame = &eh;
	spec.gopclntab = &pcln;
	buf_free(&file);
	build_elf(&file, &spec, &layout);
	buf_free(&eh);
	host_table_free(&table);
	return host_load_bytes(&table, file.bytes, file.len);
}

static int load(void)
{
	return load_as((struct elf_spec){ 0 });
}

static struct kuw_rules rules_at(s32 off)
{
	struct kuw_rules rules;

	host_rules(table.table, GO_TEXT + (u64)(s64)off, &rules);
	return rules;
}

/* Check the frame at an offset: @size bytes, with rbp saved or not. */
static void check_frame(s32 off, s32 size, bool saved)
{
	struct kuw_rules rules = rules_at(off);

	assert_int_equal(rules.kind, KUW_RULES_FRAME);
	assert_int_equal(rules.cfa.how, KUW_REG);
	assert_int_equal(rules.cfa.reg, KUW_RSP);
	assert_int_equal(rules.cfa.off, size + 8);
	assert_int_equal(rules.reg[KUW_RA].how, KUW_AT_CFA);
	assert_int_equal(rules.reg[KUW_RA].off, -8);
	assert_int_equal(rules.reg[KUW_RBP].how, saved ? KUW_AT_CFA : KUW_SAME);
	if (saved)
		assert_int_equal(rules.reg[KUW_RBP].off, -16);
}

static void check_none(s32 off)
{
	assert_int_equal(rules_at(off).kind, KUW_RULES_NONE);
}

static void check_all(void)
{
	/* The frame is open, but rbp is not saved yet. */
	check_frame(0, 0, false);
	check_frame(3, 0, false);
	check_frame(4, 32, false);
	check_frame(6, 32, false);
	check_frame(7, 32, true);
	check_frame(0x1f, 32, true);
	/* The end of the list, and padding up to the next function. */
	check_frame(0x20, 0, false);
	check_frame(0x3f, 0, false);
	check_frame(0x40, 0, false);
	check_frame(0x41, 8, false);
	check_frame(0x43, 8, false);
	check_frame(0x44, 32, true);
	check_frame(0x5a, 8, true);
	check_frame(0x5b, 0, false);
	assert_int_equal(rules_at(0x60).reg[KUW_RA].how, KUW_UNDEF);
	check_frame(0x80, 0, false);
	check_none(0xa0);
	assert_int_equal(rules_at(0xc0).kind, KUW_RULES_SIGNAL);
	check_none(0xe0);
	check_none(0x100);
	check_frame(END - 1, 0, false);
}

static void check_good(void)
{
	assert_int_equal(load(), 0);
	assert_int_equal(table.table->nr_bad, 0);
	/* Six of Go, and one of .eh_frame. */
	assert_int_equal(table.table->nr_fdes, 7);
	check_all();
	/* The process starts elsewhere. */
	check_none(0x120);
}

static void test_good(void **state)
{
	build(MAGIC_120);
	check_good();
	build(MAGIC_118);
	check_good();
}

/* The other name of the section; a file without .eh_frame; the text by the entry point. */
static void test_variants(void **state)
{
	build(MAGIC_120);
	assert_int_equal(load_as((struct elf_spec){ .relro = true }), 0);
	check_all();
	assert_int_equal(load_as((struct elf_spec){ .no_hdr = true }), 0);
	assert_int_equal(table.table->nr_fdes, 6);
	check_all();
	/* runtime.goexit() has a caller if its flags do not say that it has none. */
	assert_int_equal(pcln.bytes[func_of(2) + 41], TOPFRAME);
	pcln.bytes[func_of(2) + 41] = 0;
	assert_int_equal(load(), 0);
	check_frame(0x60, 0, false);
	pcln.bytes[func_of(2) + 41] = TOPFRAME;
	set(TEXT, 0, 8);
	assert_int_equal(load(), 0);
	((Elf64_Ehdr *)file.bytes)->e_entry = GO_TEXT + 0x120;
	host_table_free(&table);
	assert_int_equal(host_load_bytes(&table, file.bytes, file.len), 0);
	check_all();
	assert_int_equal(rules_at(0x120).reg[KUW_RA].how, KUW_UNDEF);
	/* Without a start, nothing is known. */
	set(HEADER + get_unaligned_le32(pcln.bytes + func_of(8) + 4), '-', 1);
	assert_int_equal(load(), 0);
	assert_int_equal(table.table->nr_fdes, 1);
}

/* Since Go 1.26, another section says where the text is. */
static void test_text_elsewhere(void **state)
{
	Elf64_Shdr *section;

	build(MAGIC_120);
	/* The header says it. */
	assert_int_equal(load_as((struct elf_spec){ .go_data = 1 }), 0);
	check_all();
	/* The header does not say it, nor does the entry point. */
	set(TEXT, 0, 8);
	set(HEADER + get_unaligned_le32(pcln.bytes + func_of(8) + 4), '-', 1);
	assert_int_equal(load_as((struct elf_spec){ .go_data = GO_TEXT }), 0);
	check_all();
	/* It is about another function table, or is too short, or in no segment. */
	file.bytes[layout.go_data] ^= 1;
	host_table_free(&table);
	assert_int_equal(host_load_bytes(&table, file.bytes, file.len), 0);
	assert_int_equal(table.table->nr_fdes, 1);
	file.bytes[layout.go_data] ^= 1;
	section = (Elf64_Shdr *)(file.bytes + layout.shdrs) + layout.nr_shdrs - 1;
	section->sh_size--;
	host_table_free(&table);
	assert_int_equal(host_load_bytes(&table, file.bytes, file.len), 0);
	assert_int_equal(table.table->nr_fdes, 1);
	section->sh_size++;
	section->sh_addr = 0x1000;
	host_table_free(&table);
	assert_int_equal(host_load_bytes(&table, file.bytes, file.len), 0);
	assert_int_equal(table.table->nr_fdes, 1);
	/* The relocations say it. */
	assert_int_equal(load_as((struct elf_spec){ .go_data = 0 }), 0);
	assert_int_equal(table.table->nr_fdes, 1);
}

/* Files that Go's linker has not made are as if they had no such section. */
static void test_not_go(void **state)
{
	static const struct { u32 at; u8 value; } faults[] = {
		{ 0, 0xfb }, { 4, 1 }, { 6, 4 }, { 7, 4 }, { NAMES + 7, 1 }, { PCTAB + 4, 1 },
		{ FUNCS + 4, 1 },
	};
	u32 i;

	for (i = 0; i < ARRAY_SIZE(faults); i++) {
		build(MAGIC_120);
		set(faults[i].at, faults[i].value, 1);
		assert_int_equal(load(), 0);
		assert_int_equal(table.table->nr_fdes, 1);
		assert_int_equal(table.table->nr_bad, i >= 4);
	}
	/* Nothing else in the file. */
	assert_int_equal(load_as((struct elf_spec){ .no_hdr = true }), -ENODATA);
	build(MAGIC_120);
	assert_int_equal(load_as((struct elf_spec){ .no_sections = true }), 0);
	assert_int_equal(table.table->nr_fdes, 1);
}

/* A section that ends in the middle of anything. */
static void test_short(void **state)
{
	u32 len;

	build(MAGIC_120);
	for (len = pcln.len; len--;) {
		pcln.len = len;
		assert_int_equal(load(), 0);
	}
}

/* One function is left out, and counted. */
static void check_bad(s32 start, s32 after)
{
	assert_int_equal(load(), 0);
	assert_int_equal(table.table->nr_bad, 1);
	assert_int_equal(table.table->nr_fdes, 6);
	check_none(start + 0x10);
	if (after)
		check_frame(after, 0, false);
}

static void test_damaged(void **state)
{
	u32 list;

	/* It ends before it starts: with the next one, as that starts earlier. */
	build(MAGIC_120);
	set(entry_of(NR), 0x13f, 4);
	check_bad(0x140, 0);
	/* Its struct _func is beyond the section; so is its list. */
	build(MAGIC_120);
	set(entry_of(0) + 4, 0xfffffff0, 4);
	check_bad(0, 0x40);
	build(MAGIC_120);
	set(func_of(0) + 16, 0xfffffff0, 4);
	check_bad(0, 0x40);
	/* The frame has less than nothing, or not whole words, or too much. */
	build(MAGIC_120);
	list = (u32)get_unaligned_le64(pcln.bytes + PCTAB) + 1;
	assert_int_equal(pcln.bytes[list + 2], 0x40);
	set(list + 2, 0x0f, 1);
	check_bad(0, 0x40);
	set(list + 2, 0x42, 1);
	check_bad(0, 0x40);
	/* A row of no bytes; a list of no rows. */
	set(list + 2, 0x40, 1);
	set(list + 3, 0, 1);
	check_bad(0, 0x40);
	set(list + 3, 0x1c, 1);
	set(list, 0xff, 1);
	set(list + 1, 0xff, 1);
	set(list + 2, 0xff, 1);
	set(list + 3, 0xff, 1);
	set(list + 4, 0xff, 1);
	set(list + 5, 0x7f, 1);
	check_bad(0, 0x40);
}

/* The text is elsewhere, or beyond what offsets reach: nothing is known of it. */
static void test_no_text(void **state)
{
	build(MAGIC_120);
	set(TEXT, 1ULL << 40, 8);
	assert_int_equal(load(), 0);
	assert_int_equal(table.table->nr_fdes, 1);
	set(TEXT, BUILD_TEXT + 0x1000 - 0x10, 8);
	assert_int_equal(load(), 0);
	assert_int_equal(table.table->nr_fdes, 2);
	assert_int_equal(table.table->span, 0x1000);
}

/* Where both start at one address, the FDE is right. */
static void test_overlap(void **state)
{
	build(MAGIC_120);
	set(TEXT, BUILD_TEXT, 8);
	assert_int_equal(load(), 0);
	/* The FDE ends, and what comes next is not known. */
	check_frame(-0x100 + 4, 0, false);
	check_none(-0x100 + 0x10);
	check_frame(-0x100 + 0x44, 32, true);
}

/* Functions that share a list cannot cost more than a file that has them all. */
static void test_steps(void **state)
{
	const u32 n = 1000, steps = 200;
	u32 i, list, name = HEADER;

	build(MAGIC_120);
	list = pcln.len - (u32)get_unaligned_le64(pcln.bytes + PCTAB);
	buf_uint(&pcln, 2, 1);
	for (i = 1; i < steps; i++) {
		buf_uint(&pcln, 1, 1);
		buf_uint(&pcln, i % 2 ? 16 : 15, 1);
	}
	buf_uint(&pcln, 1, 2);
	buf_align(&pcln, 8, 0);
	set(FUNCS, pcln.len, 8);
	set(NFUNC, n, 8);
	set(NAMES, name, 8);
	for (i = 0; i < n; i++) {
		buf_uint(&pcln, i, 4);
		buf_uint(&pcln, 8 * n + 8, 4);
	}
	/* The last one ends far behind; the others have a byte each. */
	buf_uint(&pcln, 0x400, 8);
	for (i = 0; i < 11; i++)
		buf_uint(&pcln, i == 4 ? list : 0, 4);
	assert_int_equal(load(), 0);
	assert_int_equal(table.table->nr_fdes, n + 1);
	/* The same functions from the text's end to its start, so that each is longer. */
	for (i = 0; i < n; i++)
		set(entry_of(i), i % 2 ? 0x800 : 0, 4);
	assert_int_equal(load(), 0);
	assert_in_range(table.table->nr_fdes, 2, pcln.len / steps + 2);
	/* What is left out is counted. */
	assert_int_equal(table.table->nr_fdes - 1 + table.table->nr_bad, n);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(test_good, drop),
		cmocka_unit_test_teardown(test_variants, drop),
		cmocka_unit_test_teardown(test_text_elsewhere, drop),
		cmocka_unit_test_teardown(test_not_go, drop),
		cmocka_unit_test_teardown(test_short, drop),
		cmocka_unit_test_teardown(test_damaged, drop),
		cmocka_unit_test_teardown(test_no_text, drop),
		cmocka_unit_test_teardown(test_overlap, drop),
		cmocka_unit_test_teardown(test_steps, drop),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
