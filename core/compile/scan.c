// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* Find FDEs and run their programs. */
#include "scan.h"
#include "budgets.h"

static struct kuw_cfi_run run_of(struct kuw_scan *s)
{
	return (struct kuw_cfi_run){
		.section = &s->eh_frame, .base = s->base,
		.intern = s->intern, .found = &s->found,
	};
}

/* Fill a slot with the CIE at @pos: with its initial state, or with the error. */
static noinline void read_cie(struct kuw_scan *s, struct kuw_cie_slot *slot, u32 pos)
{
	const struct kuw_cfi_run run = run_of(s);

	slot->pos = pos;
	slot->err = kuw_parse_cie(&s->eh_frame, pos, &slot->cie);
	s->batch_bytes += slot->cie.len;
	if (!slot->err)
		slot->err = kuw_cfi_cie(&run, &slot->cie, &slot->initial);
	/* Try again when the caller has grown the area. */
	if (slot->err == -ENOSPC)
		slot->pos = KUW_IS_CIE;
}

/* Return: the slot with the CIE at @pos, which may be a damaged one. */
static struct kuw_cie_slot *get_cie(struct kuw_scan *s, u32 pos)
{
	struct kuw_cie_slot *slot = s->slots + (pos >> 2) % KUW_CIE_SLOTS;

	if (slot->pos != pos)
		read_cie(s, slot, pos);
	return slot;
}

static bool has(const struct kuw_segment *seg, u64 vaddr)
{
	return vaddr - seg->vaddr < seg->filesz;
}

/*
 * Return: the segment in which an FDE starts, nearly always that of the previous FDE; NULL
 * if there is none: linkers leave FDEs of dropped sections, at address 0. If segments
 * overlap, which no linker does, any of them will do.
 */
static const struct kuw_segment *segment_of(struct kuw_scan *s, u64 vaddr)
{
	const struct kuw_segment *seg = s->segment;

	if (has(seg, vaddr))
		return seg;
	for (seg = s->elf->segments; seg < s->elf->segments + s->elf->nr_segments; seg++)
		if (has(seg, vaddr)) {
			s->segment = seg;
			return seg;
		}
	return NULL;
}

/*
 * Read the FDE at @pos. Return: 0; 1 if the record is a CIE; -EINVAL if it is damaged;
 * -EOPNOTSUPP; -ENODATA at a terminator; -EBADMSG if the length is damaged, so that the next
 * record cannot be found; -ENOSPC; -E2BIG.
 */
static int get_fde(struct kuw_scan *s, u32 pos, struct kuw_fde *fde,
		   struct kuw_cie_slot **slot, u32 *next)
{
	struct kuw_record record;
	int ret;

	ret = kuw_read_record(&s->eh_frame, pos, &record);
	*next = record.next;
	if (ret < 0)
		return record.next ? -EINVAL : -EBADMSG;
	if (!ret)
		return -ENODATA;
	s->batch_bytes += kuw_left(&record.body);
	if (record.cie == KUW_IS_CIE)
		return 1;
	*slot = get_cie(s, record.cie);
	ret = (*slot)->err;
	if (ret)
		return ret == -ENOSPC || ret == -E2BIG ? ret : -EINVAL;
	return kuw_parse_fde(&s->eh_frame, &record, &(*slot)->cie, fde);
}

int kuw_scan_clip(struct kuw_scan *s, u64 start, u64 *len)
{
	const struct kuw_segment *seg = segment_of(s, start);

	if (!seg)
		return 1;
	*len = min_t(u64, *len, seg->vaddr + seg->filesz - start);
	/* An offset has 32 bits. */
	if (start + *len - s->base > U32_MAX)
		return -EINVAL;
	return *len ? 0 : 1;
}

int kuw_scan_room(struct kuw_scan *s)
{
	/* Twice as many: sorting needs the second half. */
	const u64 bytes = 2 * sizeof(struct kuw_item);

	if (s->nr_fdes == KUW_MAX_FDES)
		return -E2BIG;
	return kuw_area_room(s->areas, KUW_AREA_FDES, (s->nr_fdes + 1) * bytes) ? 0 : -ENOSPC;
}

void kuw_scan_put(struct kuw_scan *s, u32 off, u32 len)
{
	struct kuw_item *fdes = kuw_area(s->areas, KUW_AREA_FDES);

	fdes[s->nr_fdes++] = (struct kuw_item){ off, kuw_found_end(&s->found, len) };
}

/* Add an FDE with all its rows, or nothing. Return: 0, -EINVAL, -EOPNOTSUPP, -E2BIG, -ENOSPC. */
static int add_fde(struct kuw_scan *s, const struct kuw_fde *fde,
		   const struct kuw_cie_slot *slot)
{
	const struct kuw_cfi_run run = run_of(s);
	u32 off = fde->start - s->base;
	int ret = kuw_scan_room(s);

	if (ret)
		return ret;
	kuw_found_begin(&s->found, off);
	ret = kuw_cfi_fde(&run, &slot->cie, &slot->initial, fde->instrs, off, off + fde->len);
	if (ret) {
		kuw_found_undo(&s->found);
		return ret;
	}
	kuw_scan_put(s, off, fde->len);
	return 0;
}

/* Scan one record; a damaged one counts as such. Return: 0, -ENODATA, -EBADMSG, -ENOSPC, -E2BIG. */
static int scan_one(struct kuw_scan *s, u32 pos, u32 *next)
{
	struct kuw_cie_slot *slot;
	struct kuw_fde fde;
	int ret = get_fde(s, pos, &fde, &slot, next);

	if (!ret)
		ret = kuw_scan_clip(s, fde.start, &fde.len);
	if (!ret)
		ret = add_fde(s, &fde, slot);
	if (ret == -EINVAL || ret == -EOPNOTSUPP) {
		s->nr_bad++;
		return 0;
	}
	return ret == 1 ? 0 : ret;
}

/* Return: whether a batch has scanned enough records; @budget more are allowed. */
static bool batch_done(const struct kuw_scan *s, u32 budget)
{
	return !budget || s->batch_bytes >= KUW_BATCH_BYTES;
}

/*
 * Scan records from *@pos to @end, @budget of them at most. Return: 0; KUW_AGAIN; an error of
 * scan_one(), with *@pos at that record.
 */
static int scan_records(struct kuw_scan *s, u32 *pos, u32 end, u32 budget)
{
	u32 at, next;
	int ret = 0;

	for (at = *pos; at < end; at = next) {
		ret = batch_done(s, budget--) ? KUW_AGAIN : scan_one(s, at, &next);
		if (ret)
			break;
	}
	*pos = at;
	return ret;
}

void kuw_scan_begin(struct kuw_scan *s)
{
	u32 i;

	s->found.areas = s->areas;
	s->segment = s->elf->segments;
	for (i = 0; i < KUW_CIE_SLOTS; i++)
		s->slots[i].pos = KUW_IS_CIE;
}

int kuw_scan_records(struct kuw_scan *s)
{
	int ret;

	s->batch_bytes = 0;
	ret = scan_records(s, &s->pos, s->eh_frame.len, KUW_BATCH_FDES);
	if (ret == -ENODATA && s->elf->eh_frame_exact) {
		/* crtend.o ends with a terminator; objects may follow it. */
		s->pos += KUW_TERMINATOR;
		return KUW_AGAIN;
	}
	if (ret == -EBADMSG)
		s->nr_bad += s->elf->eh_frame_exact;
	else if (ret && ret != -ENODATA)
		return ret;
	s->scanned = s->pos;
	s->pos = 0;
	return 0;
}

/*
 * The binary search table of .eh_frame_hdr names every FDE (LSB Core 10.6.2). Add those that
 * the scan did not reach. There are some if a record's length is damaged, or if the section's
 * length is unknown and a terminator is in the middle.
 */
int kuw_scan_header(struct kuw_scan *s)
{
	const struct kuw_section *hdr = &s->eh_frame_hdr;
	struct kuw_cur cur;
	u32 budget = KUW_BATCH_FDES, pos;
	u64 count, start, addr;
	u8 enc, count_enc;
	int ret;

	if (!hdr->len || s->scanned >= s->eh_frame.len)
		return 0;
	s->batch_bytes = 0;
	cur = kuw_cur(hdr->bytes, hdr->len);
	if (kuw_u8(&cur) != 1)
		return 0;
	enc = kuw_u8(&cur);
	count_enc = kuw_u8(&cur);
	/* Every linker writes pairs of 32-bit offsets from the header. */
	if (kuw_u8(&cur) != (DW_EH_PE_datarel | DW_EH_PE_sdata4) ||
	    count_enc == DW_EH_PE_omit)
		return 0;
	kuw_read_encoded(&cur, enc, hdr, hdr->vaddr);
	count = kuw_read_encoded(&cur, count_enc, hdr, hdr->vaddr);
	if (!kuw_good(&cur))
		return 0;
	count = min_t(u64, count, kuw_left(&cur) / 8);
	kuw_bytes(&cur, s->pos * 8ULL);
	for (; s->pos < count; s->pos++) {
		if (batch_done(s, budget--))
			return KUW_AGAIN;
		start = hdr->vaddr + (s32)kuw_u32(&cur);
		addr = hdr->vaddr + (s32)kuw_u32(&cur) - s->eh_frame.vaddr;
		if (start == 0 || addr < s->scanned || addr >= s->eh_frame.len)
			continue;
		pos = addr;
		ret = scan_records(s, &pos, pos + 1, 1);
		if (ret == -ENOSPC || ret == -E2BIG)
			return ret;
	}
	return 0;
}
