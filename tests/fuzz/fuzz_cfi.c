// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * CFA programs in valid records: the input is cut at its 0xff 0xff into a CIE's
 * program and those of its FDEs, so that every byte is an instruction. A
 * program can be repeated up to 2^15 times, which no input of 4 KiB could be.
 */
#include "build_eh_frame.h"
#include "fuzz.h"

static struct prog next(const u8 **p, const u8 *end)
{
	struct prog prog = { .bytes = *p };

	while (*p < end && !(**p == 0xff && *p + 1 < end && (*p)[1] == 0xff))
		(*p)++;
	prog.len = (u32)(*p - prog.bytes);
	*p = end - *p > 2 ? *p + 2 : end;
	return prog;
}

/* Return: the program as many times, but 64 KiB at most, in @b. */
static struct prog repeat(struct buf *b, struct prog prog, u32 times)
{
	b->len = 0;
	while (times-- && b->len < 1u << 16)
		buf_put(b, prog.bytes, prog.len);
	return (struct prog){ b->bytes, b->len };
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
	const u8 *end = data + size;
	struct cie_spec spec = { 0 };
	struct buf b = { 0 }, program = { 0 };
	struct host_table t;
	u32 cie, i, times, word;

	if (!size)
		return 0;
	spec.aug = *data & 1 ? "zRS" : "zR";
	spec.code_align = *data & 2 ? 4 : 1;
	word = *data & 4 ? 4 : KUW_WORD;
	spec.data_align = *data & 8 ? 3 : -(s64)word;
	times = 1u << (*data >> 4);
	data++;
	spec.instrs = next(&data, end);
	cie = build_cie(&b, &spec);
	for (i = 0; i < 16 && data < end; i++)
		build_fde(&b, &spec, cie, FUZZ_TEXT + i * 0x180, 0x200,
			  repeat(&program, next(&data, end), times));
	if (!fuzz_compile(&t, word, b.bytes, b.len))
		fuzz_table(&t);
	host_table_free(&t);
	buf_free(&b);
	buf_free(&program);
	return 0;
}
