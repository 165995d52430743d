// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* The ELF reader: what it finds, and files that lie, in one thing each. */
#include <elf.h>
#include <dwarf.h>
#include <stdlib.h>
#include "test.h"
#include "build_eh_frame.h"
#include "load.h"

static struct buf file;
static struct elf_layout layout;
static struct host_table table;

static int drop(void **state)
{
	host_table_free(&table);
	buf_free(&file);
	return 0;
}

/* A valid file with two FDEs. */
static void make(struct elf_spec spec)
{
	const struct cie_spec usual = { 0 };
	struct buf eh = { 0 };
	u32 cie = build_cie(&eh, &usual);

	drop(NULL);
	build_fde(&eh, &usual, cie, BUILD_TEXT, 0x10, NO_PROG);
	build_fde(&eh, &usual, cie, BUILD_TEXT + 0x20, 0x10, NO_PROG);
	build_terminator(&eh);
	spec.eh_frame = &eh;
	build_elf(&file, &spec, &layout);
	buf_free(&eh);
}

static Elf64_Ehdr *ehdr(void)
{
	return (Elf64_Ehdr *)file.bytes;
}

static Elf64_Phdr *phdr(u32 i)
{
	return (Elf64_Phdr *)(file.bytes + layout.phdrs) + i;
}

static Elf64_Shdr *shdr(u32 i)
{
	return (Elf64_Shdr *)(file.bytes + layout.shdrs) + i;
}

static int load(void)
{
	host_table_free(&table);
	return host_load_bytes(&table, file.bytes, file.len);
}

static void check_good(void)
{
	struct kuw_rules rules;

	assert_int_equal(load(), 0);
	assert_int_equal(table.elf.eh_frame.off, layout.eh_frame);
	assert_int_equal(table.elf.eh_frame.vaddr, BUILD_EH);
	assert_int_equal(table.table->nr_fdes, 2);
	assert_int_equal(table.table->nr_bad, 0);
	host_rules(table.table, BUILD_TEXT + 0x2f, &rules);
	assert_int_equal(rules.kind, KUW_RULES_FRAME);
	host_rules(table.table, BUILD_TEXT + 0x40, &rules);
	assert_int_equal(rules.kind, KUW_RULES_NONE);
}

static void test_good(void **state)
{
	u32 i;

	make((struct elf_spec){ 0 });
	check_good();
	assert_true(table.elf.eh_frame_exact);
	assert_int_equal(table.elf.nr_segments, 1);
	assert_int_equal(table.elf.segments[0].vaddr, BUILD_TEXT);
	assert_int_equal(table.elf.build_id_len, 20);
	for (i = 0; i < 20; i++)
		assert_int_equal(table.elf.build_id[i], i + 1);
	make((struct elf_spec){ .hdr_entries = true });
	check_good();
}

/* A program instead of a library; no section headers; no build ID; no header. */
static void test_variants(void **state)
{
	make((struct elf_spec){ 0 });
	ehdr()->e_type = ET_EXEC;
	check_good();
	make((struct elf_spec){ .no_sections = true });
	check_good();
	assert_false(table.elf.eh_frame_exact);
	make((struct elf_spec){ .no_build_id = true });
	check_good();
	assert_int_equal(table.elf.build_id_len, 0);
	make((struct elf_spec){ .no_hdr = true });
	check_good();
	assert_true(table.elf.eh_frame_exact);
	make((struct elf_spec){ .no_hdr = true, .no_sections = true });
	assert_int_equal(load(), -ENODATA);
}

/* Debian's programs have the build ID in the second PT_NOTE. */
static void test_two_notes(void **state)
{
	const u32 property[] = { 4, 16, 5, 0x00554e47, 0xc0000002, 4, 3, 0 };
	Elf64_Phdr *text;

	make((struct elf_spec){ 0 });
	/* .note.gnu.property, at the end of the text's bytes. */
	memcpy(file.bytes + 0x1f00, property, sizeof(property));
	assert_int_equal(phdr(layout.nr_phdrs - 1)->p_type, PT_NOTE);
	text = phdr(2);
	memmove(phdr(3), phdr(2), sizeof(*text) * (layout.nr_phdrs - 2));
	*text = *phdr(layout.nr_phdrs);
	text->p_type = PT_NOTE;
	text->p_offset = 0x1f00;
	text->p_vaddr = 0x1f00;
	text->p_filesz = sizeof(property);
	text->p_memsz = sizeof(property);
	text->p_align = 8;
	ehdr()->e_phnum++;
	check_good();
	assert_int_equal(table.elf.build_id_len, 20);
}

static void test_no_elf(void **state)
{
	static const struct {
		u32 off;
		u8 value;
	} cases[] = {
		{ 0, 0x7e }, { 1, 'e' }, { 3, 'f' },
		{ EI_CLASS, ELFCLASS32 }, { EI_DATA, ELFDATA2MSB },
		{ EI_VERSION, 2 }, { 16, ET_REL }, { 16, ET_CORE },
		{ 18, EM_AARCH64 }, { 18, EM_386 },
	};
	u32 i, len;

	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		make((struct elf_spec){ 0 });
		file.bytes[cases[i].off] = cases[i].value;
		assert_int_equal(load(), -ENOEXEC);
	}
	/* Too short for a header, or empty. */
	for (len = 0; len < sizeof(Elf64_Ehdr); len++) {
		make((struct elf_spec){ 0 });
		file.len = len;
		assert_int_equal(load(), -ENOEXEC);
	}
}

/* Any length: it never reads beyond, and never crashes. */
static void test_cut(void **state)
{
	u32 len, whole;

	make((struct elf_spec){ 0 });
	whole = file.len;
	for (len = sizeof(Elf64_Ehdr); len < whole;
	     len += len >= 0x180 && len < 0x1f80 ? 64 : 1) {
		file.len = len;
		load();
	}
}

static void test_program_headers(void **state)
{
	static const struct {
		u16 entsize, num;
		u64 off;
	} cases[] = {
		{ 55, 4, 64 }, { 57, 4, 64 }, { 0, 4, 64 }, { 56, 0, 64 },
		{ 56, 0xffff, 64 }, { 56, 1171, 64 }, { 56, 4, 1ULL << 40 },
		{ 56, 4, ~0ULL }, { 56, 4, ~0ULL - 100 },
	};
	u32 i;

	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		make((struct elf_spec){ 0 });
		ehdr()->e_phentsize = cases[i].entsize;
		ehdr()->e_phnum = cases[i].num;
		ehdr()->e_phoff = cases[i].off;
		assert_int_equal(load(), -EINVAL);
	}
}

static void test_segments(void **state)
{
	/* No text. */
	make((struct elf_spec){ 0 });
	phdr(0)->p_flags = PF_R;
	assert_int_equal(load(), -ENODATA);
	/* Text beyond the file; none of it in the file. */
	make((struct elf_spec){ 0 });
	phdr(0)->p_offset = 1ULL << 62;
	assert_int_equal(load(), -ENODATA);
	make((struct elf_spec){ 0 });
	phdr(0)->p_filesz = 0;
	assert_int_equal(load(), -ENODATA);
	/* An address that wraps around. */
	make((struct elf_spec){ 0 });
	phdr(0)->p_vaddr = ~0ULL - 0x800;
	assert_int_equal(load(), -EINVAL);
	/* Longer than the file: what the file has counts. */
	make((struct elf_spec){ 0 });
	phdr(0)->p_filesz = 1ULL << 62;
	assert_int_equal(load(), 0);
	assert_int_equal(table.elf.segments[0].filesz, file.len - 0x1000);
	/* Text and data at the same address. */
	make((struct elf_spec){ 0 });
	phdr(1)->p_vaddr = BUILD_TEXT;
	load();
}

static void test_many_segments(void **state)
{
	struct buf big = { 0 };
	Elf64_Ehdr *e;
	u32 i, n;

	for (n = KUW_MAX_SEGMENTS; n <= KUW_MAX_SEGMENTS + 1; n++) {
		make((struct elf_spec){ 0 });
		/* The headers move to the end of the file. */
		buf_put(&big, file.bytes, file.len);
		buf_put(&big, phdr(0), sizeof(Elf64_Phdr) * layout.nr_phdrs);
		for (i = 2; i < n; i++)
			buf_put(&big, phdr(1), sizeof(Elf64_Phdr));
		e = (Elf64_Ehdr *)big.bytes;
		e->e_phoff = file.len;
		e->e_phnum = (u16)(layout.nr_phdrs + n - 2);
		host_table_free(&table);
		assert_int_equal(host_load_bytes(&table, big.bytes, big.len),
				 n == KUW_MAX_SEGMENTS ? 0 : -EINVAL);
		buf_free(&big);
	}
}

/* A header that leads nowhere: the sections still say where .eh_frame is. */
static void test_eh_frame_hdr(void **state)
{
	static const struct {
		u32 off;
		u8 value;
	} cases[] = {
		{ 0, 2 }, { 1, 0xff }, { 1, 0x9b }, { 1, 0x2b }, { 7, 0x40 },
	};
	u32 i;

	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		make((struct elf_spec){ 0 });
		file.bytes[layout.eh_frame_hdr + cases[i].off] = cases[i].value;
		check_good();
	}
	/* Too short; outside. */
	make((struct elf_spec){ 0 });
	phdr(2)->p_filesz = 3;
	check_good();
	make((struct elf_spec){ 0 });
	phdr(2)->p_vaddr = 0x7fffffff;
	check_good();
	make((struct elf_spec){ 0 });
	phdr(2)->p_filesz = 0;
	check_good();
}

/* Section headers that lie count as absent. */
static void test_sections(void **state)
{
	make((struct elf_spec){ 0 });
	ehdr()->e_shoff = ~0ULL - 8;
	check_good();
	make((struct elf_spec){ 0 });
	ehdr()->e_shnum = 0xffff;
	check_good();
	make((struct elf_spec){ 0 });
	ehdr()->e_shentsize = 63;
	check_good();
	make((struct elf_spec){ 0 });
	ehdr()->e_shstrndx = 4;
	check_good();
	/* .eh_frame's length is beyond its segment. */
	make((struct elf_spec){ 0 });
	shdr(2)->sh_size = 1ULL << 40;
	check_good();
	make((struct elf_spec){ 0 });
	shdr(2)->sh_size = 0;
	check_good();
	/* Names that are not there. */
	make((struct elf_spec){ .no_hdr = true });
	shdr(3)->sh_offset = ~0ULL - 3;
	assert_int_equal(load(), -ENODATA);
	make((struct elf_spec){ .no_hdr = true });
	shdr(2)->sh_name = 0xffffffff;
	assert_int_equal(load(), -ENODATA);
	make((struct elf_spec){ .no_hdr = true });
	shdr(2)->sh_addr = 0x7fffffff;
	assert_int_equal(load(), -ENODATA);
}

static void test_notes(void **state)
{
	u32 *note;

	/* Longer than the note; no "GNU"; another type; empty; too long. */
	make((struct elf_spec){ 0 });
	note = (u32 *)(file.bytes + layout.note);
	note[1] = 0xfffffff0;
	check_good();
	assert_int_equal(table.elf.build_id_len, 0);
	make((struct elf_spec){ 0 });
	note = (u32 *)(file.bytes + layout.note);
	note[0] = 0xffffffff;
	check_good();
	assert_int_equal(table.elf.build_id_len, 0);
	make((struct elf_spec){ 0 });
	file.bytes[layout.note + 12] = 'g';
	check_good();
	assert_int_equal(table.elf.build_id_len, 0);
	make((struct elf_spec){ 0 });
	note = (u32 *)(file.bytes + layout.note);
	note[2] = NT_GNU_ABI_TAG;
	check_good();
	assert_int_equal(table.elf.build_id_len, 0);
	make((struct elf_spec){ 0 });
	phdr(3)->p_offset = ~0ULL;
	check_good();
	assert_int_equal(table.elf.build_id_len, 0);
}

/* A file of which only some pieces can be read. */
struct failing {
	struct kuw_elf_file file;
	u32 left;
};

static int read_failing(struct kuw_elf_file *f, u32 piece, u64 off, u32 len, const u8 **bytes)
{
	struct failing *failing = (struct failing *)f;

	assert_true(piece < KUW_ELF_PIECES && len && off <= f->size && len <= f->size - off);
	*bytes = file.bytes + off;
	return failing->left-- ? 0 : -EIO;
}

/* The caller's own error comes out, and a build ID that was found before it stays. */
static void test_read_errors(void **state)
{
	struct failing failing = { .file.read = read_failing };
	static struct kuw_elf elf;
	u32 n;

	make((struct elf_spec){ 0 });
	failing.file.size = file.len;
	/* Head, program headers, note, .eh_frame_hdr, section headers, names. */
	for (n = 0; n < 6; n++) {
		failing.left = n;
		assert_int_equal(kuw_elf_read(&elf, &failing.file), -EIO);
		assert_int_equal(elf.build_id_len, n < 3 ? 0 : 20);
	}
	failing.left = n;
	assert_int_equal(kuw_elf_read(&elf, &failing.file), 0);
	assert_int_equal(failing.left, 0);
}

static void test_bias(void **state)
{
	u64 bias = 1;

	make((struct elf_spec){ 0 });
	assert_int_equal(load(), 0);
	assert_true(kuw_table_bias(table.table, 0x7f0000001000, 0x1000, 0x1000,
				   &bias));
	assert_int_equal(bias, 0x7f0000000000);
	/* The second page of a split mapping would be this. */
	assert_false(kuw_table_bias(table.table, 0x7f0000001000, 0x1000,
				    0x2000, &bias));
	assert_false(kuw_table_bias(table.table, 0x7f0000001000, 0x1000, 0,
				    &bias));
	/* A mapping that begins before the segment. */
	assert_true(kuw_table_bias(table.table, 0x7f0000000000, 0x2000, 0,
				   &bias));
	assert_int_equal(bias, 0x7f0000000000);
	assert_false(kuw_table_bias(table.table, 0x7f0000000000, 0x1000,
				    -0x1000ULL, &bias));
}

/* Two executable segments share a page of the file, which is mapped twice. */
static void check_two(u64 off, u64 split, u64 end, u64 start, u64 len, u64 at, u64 want)
{
	struct {
		struct kuw_table table;
		struct kuw_segment segments[2];
	} t = {
		.table.nr_segments = 2,
		.table.segments_off = sizeof(t.table),
		.segments = {
			{ .off = off, .vaddr = 0x10000 + off, .filesz = split - off },
			{ .off = split, .vaddr = 0x20000 + split, .filesz = end - split },
		},
	};
	u64 bias = ~want;

	if (want == 1) {
		assert_false(kuw_table_bias(&t.table, start, len, at, &bias));
		return;
	}
	assert_true(kuw_table_bias(&t.table, start, len, at, &bias));
	assert_int_equal(bias, want);
}

/* Two segments with one bias do not outweigh a third in between. */
static void test_three_segments(void **state)
{
	struct {
		struct kuw_table table;
		struct kuw_segment segments[3];
	} t = {
		.table.nr_segments = 3,
		.table.segments_off = sizeof(t.table),
		.segments = {
			{ .off = 0x1100, .vaddr = 0x11100, .filesz = 0x100 },
			{ .off = 0x1200, .vaddr = 0x21200, .filesz = 0x100 },
			{ .off = 0x1300, .vaddr = 0x11300, .filesz = 0x100 },
		},
	};
	u64 bias;

	assert_false(kuw_table_bias(&t.table, 0x7f0000001000, 0x1000, 0x1000, &bias));
	t.segments[1].vaddr = 0x11200;
	assert_true(kuw_table_bias(&t.table, 0x7f0000001000, 0x1000, 0x1000, &bias));
	assert_int_equal(bias, 0x7effffff0000);
}

static void test_shared_page(void **state)
{
	const u64 base = 0x7f0000000000;

	/* The first one's last page is the second one's first. */
	check_two(0x1100, 0x2200, 0x4300, base + 0x11000, 0x2000, 0x1000, base);
	check_two(0x1100, 0x2200, 0x4300, base + 0x22000, 0x3000, 0x2000, base);
	/* All of the second one is in it. */
	check_two(0x1100, 0x2200, 0x2300, base + 0x11000, 0x2000, 0x1000, base);
	check_two(0x1100, 0x2200, 0x2300, base + 0x22000, 0x1000, 0x2000, base);
	/* All of the first one. */
	check_two(0x1100, 0x1200, 0x3300, base + 0x11000, 0x1000, 0x1000, base);
	check_two(0x1100, 0x1200, 0x3300, base + 0x21000, 0x3000, 0x1000, base);
	/* Both: nobody knows, but of a program that is not moved. */
	check_two(0x1100, 0x1200, 0x1300, base + 0x11000, 0x1000, 0x1000, 1);
	check_two(0x1100, 0x1200, 0x1300, 0x11000, 0x1000, 0x1000, 0);
	check_two(0x1100, 0x1200, 0x1300, 0x21000, 0x1000, 0x1000, 0);
}

#define TEST(name)	cmocka_unit_test_teardown(name, drop)

static const struct CMUnitTest tests[] = {
	TEST(test_good),
	TEST(test_variants),
	TEST(test_two_notes),
	TEST(test_no_elf),
	TEST(test_cut),
	TEST(test_program_headers),
	TEST(test_segments),
	TEST(test_many_segments),
	TEST(test_eh_frame_hdr),
	TEST(test_sections),
	TEST(test_notes),
	TEST(test_read_errors),
	TEST(test_bias),
	TEST(test_three_segments),
	TEST(test_shared_page),
};

TEST_MAIN(tests)
