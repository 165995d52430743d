// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* Records: lengths, CIEs and their augmentations, pointer encodings. */
#include <dwarf.h>
#include <stdlib.h>
#include "test.h"
#include "build_eh_frame.h"
#include "frame.h"

static struct kuw_section section;

/* The section, alone in its allocation. */
static void place(struct buf *b)
{
	free((void *)section.bytes);
	section.bytes = malloc(b->len ? b->len : 1);
	assert_non_null(section.bytes);
	if (b->len)
		memcpy((void *)section.bytes, b->bytes, b->len);
	section.len = b->len;
	section.vaddr = BUILD_EH;
	section.word = KUW_WORD;
	buf_free(b);
}

static int drop_section(void **state)
{
	free((void *)section.bytes);
	section.bytes = NULL;
	return 0;
}

static int parse_cie(const struct cie_spec *spec, struct kuw_cie *cie)
{
	struct buf b = { 0 };

	build_cie(&b, spec);
	place(&b);
	return kuw_parse_cie(&section, 0, cie);
}

static void test_cie(void **state)
{
	const struct cie_spec spec = { 0 };
	struct kuw_cie cie;

	assert_int_equal(parse_cie(&spec, &cie), 0);
	assert_int_equal(cie.code_align, 1);
	assert_int_equal(cie.data_align, -8);
	assert_int_equal(cie.enc, DW_EH_PE_pcrel | DW_EH_PE_sdata4);
	assert_true(cie.augmented);
	assert_false(cie.signal);
	assert_int_equal(*cie.instrs.p, DW_CFA_def_cfa);
}

static void test_versions(void **state)
{
	u32 version;

	for (version = 1; version < 256; version++) {
		const struct cie_spec spec = { .version = version };
		bool known = version == 1 || version == 3 || version == 4;
		struct kuw_cie cie;

		assert_int_equal(parse_cie(&spec, &cie), known ? 0 : -EOPNOTSUPP);
	}
}

static void test_augmentations(void **state)
{
	static const struct {
		const char *aug;
		int ret;
		bool augmented, signal;
	} cases[] = {
		{ "", 0, false, false },
		{ "z", 0, true, false },
		{ "zR", 0, true, false },
		{ "zRS", 0, true, true },
		{ "zSR", 0, true, true },
		{ "zPLR", 0, true, false },
		{ "zPLRS", 0, true, true },
		{ "zRB", 0, true, false },
		{ "zRG", 0, true, false },
		{ "eh", -EOPNOTSUPP, false, false },
		/* "z" gives the length, so what is unknown can be left out. */
		{ "zR?", 0, true, false },
		{ "R", -EOPNOTSUPP, false, false },
		{ "?", -EOPNOTSUPP, false, false },
		{ "armcc+", -EOPNOTSUPP, false, false },
	};
	u32 i;

	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		const struct cie_spec spec = {
			.aug = cases[i].aug,
			.personality_enc = DW_EH_PE_pcrel | DW_EH_PE_sdata4 |
					   DW_EH_PE_indirect,
			.lsda_enc = DW_EH_PE_pcrel | DW_EH_PE_sdata4,
			.aug_extra = strchr(cases[i].aug, '?') ? 7 : 0,
		};
		struct kuw_cie cie;

		assert_int_equal(parse_cie(&spec, &cie), cases[i].ret);
		if (cases[i].ret)
			continue;
		assert_int_equal(cie.augmented, cases[i].augmented);
		assert_int_equal(cie.signal, cases[i].signal);
		assert_int_equal(*cie.instrs.p, DW_CFA_def_cfa);
		assert_int_equal(cie.enc, strchr(cases[i].aug, 'R') ?
				 DW_EH_PE_pcrel | DW_EH_PE_sdata4 :
				 DW_EH_PE_absptr);
	}
}

/* A personality is passed over; if it is written as no compiler does, the CIE is refused. */
static void test_personalities(void **state)
{
	static const u8 encs[] = {
		DW_EH_PE_absptr, DW_EH_PE_udata4, DW_EH_PE_udata8,
		DW_EH_PE_sdata4, DW_EH_PE_sdata8,
		DW_EH_PE_pcrel | DW_EH_PE_sdata4,
		DW_EH_PE_pcrel | DW_EH_PE_sdata4 | DW_EH_PE_indirect,
		DW_EH_PE_datarel | DW_EH_PE_sdata4,
	};
	static const u8 bad[] = {
		DW_EH_PE_udata2, DW_EH_PE_sdata2, DW_EH_PE_uleb128, DW_EH_PE_sleb128,
		DW_EH_PE_aligned,
	};
	u32 i;

	for (i = 0; i < ARRAY_SIZE(bad); i++) {
		const struct cie_spec spec = { .aug = "zPR", .personality_enc = bad[i] };
		struct kuw_cie cie;

		assert_int_equal(parse_cie(&spec, &cie), -EINVAL);
	}

	for (i = 0; i < ARRAY_SIZE(encs); i++) {
		const struct cie_spec spec = {
			.aug = "zPR", .personality_enc = encs[i],
			.enc = DW_EH_PE_pcrel | DW_EH_PE_udata4,
		};
		struct kuw_cie cie;

		assert_int_equal(parse_cie(&spec, &cie), 0);
		assert_int_equal(cie.enc, DW_EH_PE_pcrel | DW_EH_PE_udata4);
		assert_int_equal(*cie.instrs.p, DW_CFA_def_cfa);
	}
}

static void test_cie_faults(void **state)
{
	const struct cie_spec other_ra = { .ra = 15 };
	struct kuw_cie cie;
	struct buf b = { 0 };
	u32 len;

	assert_int_equal(parse_cie(&other_ra, &cie), -EOPNOTSUPP);

	/* Its augmentation string has no end. */
	build_cie(&b, &(struct cie_spec){ 0 });
	memset(b.bytes + 9, 'z', b.len - 9);
	place(&b);
	assert_int_equal(kuw_parse_cie(&section, 0, &cie), -EINVAL);

	/* The augmentation data is longer than the record. */
	build_cie(&b, &(struct cie_spec){ 0 });
	b.bytes[15] = 0x7f;
	place(&b);
	assert_int_equal(kuw_parse_cie(&section, 0, &cie), -EINVAL);

	/* The augmentation data ends before what the letters promise. */
	build_cie(&b, &(struct cie_spec){ 0 });
	b.bytes[15] = 0;
	place(&b);
	assert_int_equal(kuw_parse_cie(&section, 0, &cie), -EINVAL);

	/* Cut short anywhere, its length being right. */
	for (len = 4; len < 17; len++) {
		build_cie(&b, &(struct cie_spec){ 0 });
		b.len = 4 + len;
		buf_set32(&b, 0, len);
		place(&b);
		assert_int_equal(kuw_parse_cie(&section, 0, &cie) < 0,
				 len < 13);
	}

	/* It is an FDE; it is a terminator; it is not there. */
	build_one(&b, BUILD_TEXT, 16, NO_PROG);
	len = b.len;
	build_terminator(&b);
	place(&b);
	assert_int_equal(kuw_parse_cie(&section, 0x18, &cie), -EINVAL);
	assert_int_equal(kuw_parse_cie(&section, len, &cie), -EINVAL);
	assert_int_equal(kuw_parse_cie(&section, len + 4, &cie), -EINVAL);
	assert_int_equal(kuw_parse_cie(&section, len + 5, &cie), -EINVAL);
}

/* DWARF 4's two additional bytes must be those of a flat 64-bit machine. */
static void test_cie_v4(void **state)
{
	struct kuw_cie cie;
	struct buf b = { 0 };
	u32 i;

	for (i = 0; i < 2; i++) {
		build_cie(&b, &(struct cie_spec){ .version = 4 });
		b.bytes[12 + i] ^= 4;
		place(&b);
		assert_int_equal(kuw_parse_cie(&section, 0, &cie), -EOPNOTSUPP);
	}
}

static int parse_fde(const struct cie_spec *spec, u64 start, u64 len,
		     struct kuw_fde *fde)
{
	struct kuw_record record;
	struct kuw_cie cie;
	struct buf b = { 0 };
	u32 pos;

	/* Let "aligned" have something to do. */
	build_cie(&b, spec);
	buf_uint(&b, 4, 4);
	buf_uint(&b, 0, 4);
	pos = b.len;
	build_fde(&b, spec, 0, start, len, PROG(DW_CFA_remember_state));
	place(&b);
	assert_int_equal(kuw_parse_cie(&section, 0, &cie), 0);
	assert_int_equal(kuw_read_record(&section, pos, &record), 1);
	assert_int_equal(record.cie, 0);
	assert_int_equal(record.next, section.len);
	return kuw_parse_fde(&section, &record, &cie, fde);
}

static void test_encodings(void **state)
{
	static const u8 encs[] = {
		DW_EH_PE_udata4, DW_EH_PE_udata8,
		DW_EH_PE_sdata4, DW_EH_PE_sdata8,
		DW_EH_PE_pcrel | DW_EH_PE_absptr,
		DW_EH_PE_pcrel | DW_EH_PE_sdata4,
		DW_EH_PE_pcrel | DW_EH_PE_sdata8,
		DW_EH_PE_pcrel | DW_EH_PE_udata8,
	};
	u32 i;

	for (i = 0; i < ARRAY_SIZE(encs); i++) {
		const struct cie_spec spec = { .enc = 0x100 | encs[i] };
		struct kuw_fde fde;

		assert_int_equal(parse_fde(&spec, 0x1234, 0x56, &fde), 0);
		assert_int_equal(fde.start, 0x1234);
		assert_int_equal(fde.len, 0x56);
		assert_int_equal(*fde.instrs.p, DW_CFA_remember_state);
	}
}

/* No "R": absolute addresses, 8 bytes. */
static void test_absptr(void **state)
{
	const struct cie_spec spec = { .aug = "z" };
	struct kuw_fde fde;

	assert_int_equal(parse_fde(&spec, 0x123456789a, 0x56, &fde), 0);
	assert_int_equal(fde.start, 0x123456789a);
	assert_int_equal(fde.len, 0x56);
}

/* Signs: a library's text may lie below its .eh_frame, by more than 2 GiB. */
static void test_signs(void **state)
{
	const struct cie_spec wide = { .enc = DW_EH_PE_pcrel | DW_EH_PE_sdata8 };
	const struct cie_spec u4 = { .enc = DW_EH_PE_pcrel | DW_EH_PE_udata4 };
	const struct cie_spec s4 = { .enc = DW_EH_PE_pcrel | DW_EH_PE_sdata4 };
	const u64 far = 3ULL << 30;
	struct kuw_fde fde;

	assert_int_equal(parse_fde(&wide, BUILD_EH + far, 1, &fde), 0);
	assert_true(fde.start == BUILD_EH + far);
	assert_int_equal(parse_fde(&wide, BUILD_EH - far, 1, &fde), 0);
	assert_true(fde.start == BUILD_EH - far);
	assert_int_equal(parse_fde(&u4, BUILD_EH + far, 1, &fde), 0);
	assert_true(fde.start == BUILD_EH + far);
	assert_int_equal(parse_fde(&s4, BUILD_TEXT, 1, &fde), 0);
	assert_true(fde.start == BUILD_TEXT);
}

/* Encodings that have no meaning in a file, or none at all, and those that nobody writes. */
static void test_bad_encodings(void **state)
{
	u32 enc;

	for (enc = 0; enc < 256; enc++) {
		const struct cie_spec spec = { .enc = 0x100 | enc };
		const u32 format = enc & 0x0f, base = enc & 0x70;
		bool good = !(enc & DW_EH_PE_indirect) &&
			(format == DW_EH_PE_absptr || format == DW_EH_PE_udata4 ||
			 format == DW_EH_PE_udata8 || format == DW_EH_PE_sdata4 ||
			 format == DW_EH_PE_sdata8) &&
			(base == DW_EH_PE_absptr || base == DW_EH_PE_pcrel);
		struct kuw_fde fde;

		assert_int_equal(parse_fde(&spec, BUILD_EH, 0x10, &fde),
				 good ? 0 : -EINVAL);
	}
}

static void test_lsda(void **state)
{
	const struct cie_spec spec = {
		.aug = "zLR", .lsda_enc = DW_EH_PE_pcrel | DW_EH_PE_sdata4,
	};
	struct kuw_fde fde;

	assert_int_equal(parse_fde(&spec, 0x1234, 0x56, &fde), 0);
	assert_int_equal(*fde.instrs.p, DW_CFA_remember_state);
}

static void test_64bit(void **state)
{
	const struct cie_spec spec = { .is_64bit = true };
	struct kuw_fde fde;

	assert_int_equal(parse_fde(&spec, 0x1234, 0x56, &fde), 0);
	assert_int_equal(fde.start, 0x1234);
	assert_int_equal(*fde.instrs.p, DW_CFA_remember_state);
}

static int read_head(struct buf *b)
{
	struct kuw_record record;

	place(b);
	return kuw_read_record(&section, 0, &record);
}

static void test_lengths(void **state)
{
	struct buf b = { 0 };
	struct kuw_record record;
	u32 i;

	/* Nothing, or not even a length. */
	for (i = 0; i < 4; i++) {
		buf_put(&b, "\1\1\1", i);
		assert_int_equal(read_head(&b), -EINVAL);
	}
	build_terminator(&b);
	place(&b);
	assert_int_equal(kuw_read_record(&section, 0, &record), 0);
	assert_int_equal(record.next, 4);

	/* One byte too long, and very much so. */
	for (i = 0; i < 3; i++) {
		static const u32 lens[] = { 9, 0x7fffffff, 0xfffffff0 };

		buf_uint(&b, lens[i], 4);
		buf_uint(&b, 0, 8);
		assert_int_equal(read_head(&b), -EINVAL);
	}
	/* Too short for a CIE ID. */
	for (i = 1; i < 4; i++) {
		buf_uint(&b, i, 4);
		buf_uint(&b, 0, 8);
		assert_int_equal(read_head(&b), -EINVAL);
	}
	/* 64 bits: cut off, too long, wrapping around. */
	buf_uint(&b, 0xffffffff, 4);
	buf_uint(&b, 0, 7);
	assert_int_equal(read_head(&b), -EINVAL);
	buf_uint(&b, 0xffffffff, 4);
	buf_uint(&b, 9, 8);
	buf_uint(&b, 0, 8);
	assert_int_equal(read_head(&b), -EINVAL);
	buf_uint(&b, 0xffffffff, 4);
	buf_uint(&b, ~0ULL, 8);
	buf_uint(&b, 0, 8);
	assert_int_equal(read_head(&b), -EINVAL);
}

/* A CIE pointer that points before the section. */
static void test_cie_pointer(void **state)
{
	struct buf b = { 0 };
	struct kuw_record record;

	buf_uint(&b, 8, 4);
	buf_uint(&b, 5, 4);
	buf_uint(&b, 0, 4);
	assert_int_equal(read_head(&b), -EINVAL);
	buf_uint(&b, 8, 4);
	buf_uint(&b, 4, 4);
	buf_uint(&b, 0, 4);
	place(&b);
	assert_int_equal(kuw_read_record(&section, 0, &record), 1);
	assert_int_equal(record.cie, 0);
}

#define TEST(name)	cmocka_unit_test_teardown(name, drop_section)

static const struct CMUnitTest tests[] = {
	TEST(test_cie),
	TEST(test_versions),
	TEST(test_augmentations),
	TEST(test_personalities),
	TEST(test_cie_faults),
	TEST(test_cie_v4),
	TEST(test_encodings),
	TEST(test_absptr),
	TEST(test_signs),
	TEST(test_bad_encodings),
	TEST(test_lsda),
	TEST(test_64bit),
	TEST(test_lengths),
	TEST(test_cie_pointer),
};

TEST_MAIN(tests)
