// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* Find FDEs and run their programs. */
#include "scan.h"
#include "budgets.h"

/* Return: the slot with the CIE at @pos: with its initial state, or with the error. */
static struct kuw_cie_slot *get_cie(struct kuw_scan *s, u32 pos)
{
	struct kuw_cie_slot *slot = s->slots + (pos >> 2) % KUW_CIE_SLOTS;

	if (slot->pos == pos)
		return slot;
	slot->pos = pos;
	slot->err = kuw_parse_cie(&s->eh_frame, pos, &slot->cie);
	s->areas->work += slot->cie.len;
	s->cie_bytes += slot->cie.len;
	if (s->cie_bytes > KUW_MAX_CIE_BYTES)
		slot->err = -E2BIG;
	if (!slot->err)
		slot->err = kuw_cfi_cie(&s->run, &slot->cie, &slot->initial);
	return slot;
}

int kuw_scan_begin_fde(struct kuw_scan *s, u64 start, u64 *len, u32 *off)
{
	const struct kuw_segment *seg = kuw_segment_of(s->elf->segments, s->elf->nr_segments,
						       start);

	/* Linkers leave FDEs of dropped sections, at address 0, where no code is. */
	if (!seg || !start)
		return 1;
	*len = min_t(u64, *len, seg->vaddr + seg->filesz - start);
	/* An offset has 32 bits. */
	if (start + *len - s->base > U32_MAX)
		return -EINVAL;
	if (!*len)
		return 1;
	*off = start - s->base;
	kuw_found_begin(&s->found, *off);
	/* Twice as many: sorting needs the second half. */
	return kuw_area_room(s->areas, KUW_AREA_FDES,
			     (s->nr_fdes + 1) * 2ULL * sizeof(struct kuw_item));
}

int kuw_scan_end_fde(struct kuw_scan *s, u32 off, u32 len, int err)
{
	struct kuw_item *fdes = kuw_area(s->areas, KUW_AREA_FDES);

	if (err) {
		kuw_found_undo(&s->found);
		return err;
	}
	fdes[s->nr_fdes++] = (struct kuw_item){ off, kuw_found_end(&s->found, off, len) };
	s->end = max_t(u32, s->end, off + len);
	return 0;
}

/*
 * Scan one record. Return: 0; 1 if it is an FDE that covers no code of the file; -EINVAL,
 * -EOPNOTSUPP if it is damaged; -ENODATA at a terminator; -EBADMSG if the length is damaged, so
 * that the next record cannot be found; -E2BIG; an error of the caller's functions.
 */
static int scan_one(struct kuw_scan *s, u32 pos, u32 *next)
{
	struct kuw_cie_slot *slot;
	struct kuw_record record;
	struct kuw_fde fde;
	u32 off;
	int ret;

	ret = kuw_read_record(&s->eh_frame, pos, &record);
	*next = record.next;
	if (ret < 0)
		return record.next ? ret : -EBADMSG;
	if (!ret)
		return -ENODATA;
	s->areas->work += kuw_left(&record.body);
	if (record.cie == KUW_IS_CIE)
		return 0;
	slot = get_cie(s, record.cie);
	ret = slot->err ?: kuw_parse_fde(&s->eh_frame, &record, &slot->cie, &fde) ?:
	      kuw_scan_begin_fde(s, fde.start, &fde.len, &off);
	if (ret)
		return ret;
	return kuw_scan_end_fde(s, off, fde.len,
				kuw_cfi_fde(&s->run, &slot->cie, &slot->initial, fde.instrs, off,
					    off + fde.len));
}

int kuw_scan(struct kuw_scan *s)
{
	u32 next, i;
	int ret;

	s->found.areas = s->areas;
	s->run = (struct kuw_cfi_run){
		.section = &s->eh_frame, .base = s->base,
		.intern = s->intern, .found = &s->found,
	};
	for (i = 0; i < KUW_CIE_SLOTS; i++)
		s->slots[i].pos = KUW_IS_CIE;
	for (; s->pos < s->eh_frame.len; s->pos = next) {
		ret = kuw_pause_after(s->areas, KUW_FDE_WORK);
		if (ret)
			return ret;
		ret = scan_one(s, s->pos, &next);
		/* crtend.o ends with a terminator; objects may follow it. */
		if (ret == -ENODATA && s->elf->eh_frame_exact)
			continue;
		/* Without section headers, that can be what is behind the section. */
		if (ret == -EBADMSG)
			s->nr_bad += s->elf->eh_frame_exact || s->eh_frame.len == KUW_MAX_EH_FRAME;
		if (ret == -EBADMSG || ret == -ENODATA)
			break;
		if (ret == -EINVAL || ret == -EOPNOTSUPP)
			s->nr_bad++;
		else if (ret < 0)
			return ret;
	}
	return 0;
}
