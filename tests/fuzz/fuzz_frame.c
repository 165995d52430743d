// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * Records of .eh_frame, one by one: heads, CIEs, FDEs, encoded pointers; as those of a
 * file for x86-64 and of one for i386.
 */
#include "frame.h"
#include "fuzz.h"

static void check_cur(const struct kuw_section *s, const struct kuw_cur *c)
{
	must(c->p >= s->bytes && c->p <= c->end && c->end <= s->bytes + s->len);
}

static void parse(const u8 *data, size_t size, u32 word)
{
	struct kuw_section section = {
		.bytes = data, .len = (u32)size, .word = word, .vaddr = FUZZ_EH,
	};
	struct kuw_record record;
	struct kuw_cie cie;
	struct kuw_fde fde;
	u32 pos = 0;
	int ret;

	while (pos < section.len) {
		ret = kuw_read_record(&section, pos, &record);
		if (ret < 0)
			break;
		must(record.next > pos && record.next <= section.len);
		pos = record.next;
		if (!ret)
			continue;
		check_cur(&section, &record.body);
		if (record.cie == KUW_IS_CIE)
			continue;
		must(record.cie <= section.len);
		if (kuw_parse_cie(&section, record.cie, &cie))
			continue;
		check_cur(&section, &cie.instrs);
		must(cie.len <= section.len);
		if (kuw_parse_fde(&section, &record, &cie, &fde))
			continue;
		check_cur(&section, &fde.instrs);
		must(word == KUW_WORD || fde.start <= U32_MAX);
	}
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
	parse(data, size, KUW_WORD);
	parse(data, size, KUW_I386_WORD);
	return 0;
}
