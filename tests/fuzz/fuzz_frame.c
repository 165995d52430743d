// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* Records of .eh_frame, one by one: heads, CIEs, FDEs, encoded pointers. */
#include "frame.h"
#include "fuzz.h"

static void check_cur(const struct kuw_section *s, const struct kuw_cur *c)
{
	must(c->p >= s->bytes && c->p <= c->end && c->end <= s->bytes + s->len);
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
	struct kuw_section section = {
		.bytes = data, .len = (u32)size, .word = KUW_WORD,
		.vaddr = FUZZ_EH,
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
		if (!kuw_parse_fde(&section, &record, &cie, &fde))
			check_cur(&section, &fde.instrs);
	}
	return 0;
}
