// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* Find FDEs and run their programs. */
#include "compile.h"
#include "limits.h"

/* Fill a slot with the CIE at @pos: with its initial state, or with the error. */
static noinline void read_cie(struct kuw_compile *c, struct kuw_cie_slot *slot, u32 pos)
{
	slot->pos = pos;
	slot->err = kuw_parse_cie(&c->eh_frame, pos, &slot->cie);
	c->batch_bytes += slot->cie.len;
	if (slot->err)
		return;
	memset(&slot->initial, 0, sizeof(slot->initial));
	slot->initial.cfa = kuw_loc_pack(KUW_UNDEF, 0, 0, 0);
	slot->err = kuw_cfi_run(c, &slot->initial, NULL, &slot->cie,
				slot->cie.instrs, 0, 0);
	/* Try again when the caller has grown the area. */
	if (slot->err == -ENOSPC)
		slot->pos = KUW_IS_CIE;
}

/* Return: the slot with the CIE at @pos, which may be a damaged one. */
static struct kuw_cie_slot *get_cie(struct kuw_compile *c, u32 pos)
{
	struct kuw_cie_slot *slot = c->slots + (pos >> 2) % KUW_CIE_SLOTS;

	if (unlikely(slot->pos != pos))
		read_cie(c, slot, pos);
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
static const struct kuw_segment *segment_of(struct kuw_compile *c, u64 vaddr)
{
	const struct kuw_segment *seg = c->segment;

	if (likely(has(seg, vaddr)))
		return seg;
	for (seg = c->elf->segments; seg < c->elf->segments + c->elf->nr_segments; seg++)
		if (has(seg, vaddr)) {
			c->segment = seg;
			return seg;
		}
	return NULL;
}

/*
 * Read the FDE at @pos. Return: 0; 1 if the record is a CIE; -EINVAL if it is damaged;
 * -EOPNOTSUPP; -ENODATA at a terminator; -EBADMSG if the length is damaged, so that the next
 * record cannot be found; -ENOSPC; -E2BIG.
 */
static int get_fde(struct kuw_compile *c, u32 pos, struct kuw_fde *fde,
			    struct kuw_cie_slot **slot, u32 *next)
{
	struct kuw_record record;
	int ret;

	ret = kuw_read_record(&c->eh_frame, pos, &record);
	*next = record.next;
	if (ret < 0)
		return record.next ? -EINVAL : -EBADMSG;
	if (!ret)
		return -ENODATA;
	c->batch_bytes += kuw_left(&record.body);
	if (record.cie == KUW_IS_CIE)
		return 1;
	*slot = get_cie(c, record.cie);
	ret = (*slot)->err;
	if (ret)
		return ret == -ENOSPC || ret == -E2BIG ? ret : -EINVAL;
	return kuw_parse_fde(&c->eh_frame, &record, &(*slot)->cie, fde);
}

/* Cut an FDE to its segment. Return: 0; 1 if the FDE covers no code of the file; -EINVAL. */
static int clip_fde(struct kuw_compile *c, struct kuw_fde *fde)
{
	const struct kuw_segment *seg = segment_of(c, fde->start);

	if (!seg)
		return 1;
	fde->len = min_t(u64, fde->len, seg->vaddr + seg->filesz - fde->start);
	/* An offset has 32 bits. */
	if (fde->start + fde->len - c->base > U32_MAX)
		return -EINVAL;
	return fde->len ? 0 : 1;
}

/* Run the program of an FDE that starts at @off. Return: as kuw_cfi_run(). */
static int run_program(struct kuw_compile *c, const struct kuw_fde *fde,
		       const struct kuw_cie_slot *slot, u32 off)
{
	u32 at = c->nr_found, max_rows = c->max_rows, *found;
	struct kuw_cfi cfi = slot->initial;
	int err;

	c->signal = slot->cie.signal;
	c->last_rule = 0;
	c->last_off = off;
	err = kuw_cfi_run(c, &cfi, &slot->initial, &slot->cie, fde->instrs, off,
			  off + fde->len);
	if (unlikely(err)) {
		c->nr_found = at;
		c->max_rows = max_rows;
		return err;
	}
	c->longest = max_t(u32, c->longest, c->max_rows - max_rows);
	/* There is room: the last row has made sure of it. */
	found = c->areas[KUW_AREA_FOUND].mem;
	found[c->nr_found++] = kuw_found_row(KUW_FOUND_LAST, c->last_rule);
	found[at] = fde->len;
	return 0;
}

/* Make room for one more FDE. Return: 0, -ENOSPC, -E2BIG. */
static noinline int grow_fdes(struct kuw_compile *c)
{
	/* Twice as many: sorting needs the second half. */
	const u64 bytes = 2 * sizeof(struct kuw_pair);

	if (c->nr_fdes == KUW_MAX_FDES)
		return -E2BIG;
	if (!kuw_compile_room(c, KUW_AREA_FDES, (c->nr_fdes + 1) * bytes))
		return -ENOSPC;
	c->max_fdes = min_t(u64, KUW_MAX_FDES, c->areas[KUW_AREA_FDES].bytes / bytes);
	return 0;
}

/* Add an FDE with all its rows, or nothing. Return: 0, -EINVAL, -EOPNOTSUPP, -E2BIG, -ENOSPC. */
static int add_fde(struct kuw_compile *c, const struct kuw_fde *fde,
		   const struct kuw_cie_slot *slot)
{
	u32 off = fde->start - c->base, n = c->nr_fdes, at = c->nr_found;
	struct kuw_pair *fdes;
	int ret;

	ret = likely(n < c->max_fdes) ? 0 : grow_fdes(c);
	if (likely(!ret))
		ret = run_program(c, fde, slot, off);
	if (unlikely(ret))
		return ret;
	if (unlikely(c->max_rows > KUW_MAX_ROWS))
		return -E2BIG;
	fdes = c->areas[KUW_AREA_FDES].mem;
	fdes[n].key = off;
	fdes[n].value = at;
	c->nr_fdes++;
	return 0;
}

/* Scan one record; a damaged one counts as such. Return: 0, -ENODATA, -EBADMSG, -ENOSPC, -E2BIG. */
static int scan_one(struct kuw_compile *c, u32 pos, u32 *next)
{
	struct kuw_cie_slot *slot;
	struct kuw_fde fde;
	int ret = get_fde(c, pos, &fde, &slot, next);

	if (likely(!ret))
		ret = clip_fde(c, &fde);
	if (likely(!ret))
		ret = add_fde(c, &fde, slot);
	if (ret == -EINVAL || ret == -EOPNOTSUPP) {
		c->nr_bad++;
		return 0;
	}
	return ret == 1 ? 0 : ret;
}

/* Return: whether a step has scanned enough records; @budget more are allowed. */
static bool batch_done(const struct kuw_compile *c, u32 budget)
{
	return !budget || c->batch_bytes >= KUW_BATCH_BYTES;
}

/*
 * Scan records from *@pos to @end, @budget of them at most. Return: 0; KUW_AGAIN; an error of
 * scan_one(), with *@pos at that record.
 */
static int scan_records(struct kuw_compile *c, u32 *pos, u32 end, u32 budget)
{
	u32 at, next;
	int ret = 0;

	for (at = *pos; at < end; at = next) {
		ret = batch_done(c, budget--) ? KUW_AGAIN : scan_one(c, at, &next);
		if (unlikely(ret))
			break;
	}
	*pos = at;
	return ret;
}

int kuw_scan(struct kuw_compile *c)
{
	int ret = scan_records(c, &c->pos, c->eh_frame.len, KUW_BATCH_FDES);

	if (ret == -ENODATA && c->elf->eh_frame_exact) {
		/* crtend.o ends with a terminator; objects may follow it. */
		c->pos += KUW_TERMINATOR;
		return KUW_AGAIN;
	}
	if (ret == -EBADMSG)
		c->nr_bad += c->elf->eh_frame_exact;
	else if (ret && ret != -ENODATA)
		return ret;
	c->scanned = c->pos;
	return 0;
}

/*
 * The binary search table of .eh_frame_hdr names every FDE (LSB Core 10.6.2). Add those that
 * the scan did not reach. There are some if a record's length is damaged, or if the section's
 * length is unknown and a terminator is in the middle.
 */
int kuw_scan_header(struct kuw_compile *c)
{
	const struct kuw_section *hdr = &c->eh_frame_hdr;
	struct kuw_cur cur;
	u32 budget = KUW_BATCH_FDES, pos;
	u64 count, start, addr;
	u8 enc, count_enc;
	int ret;

	if (!hdr->len || c->scanned >= c->eh_frame.len)
		return 0;
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
	kuw_bytes(&cur, c->pos * 8ULL);
	for (; c->pos < count; c->pos++) {
		if (batch_done(c, budget--))
			return KUW_AGAIN;
		start = hdr->vaddr + (s32)kuw_u32(&cur);
		addr = hdr->vaddr + (s32)kuw_u32(&cur) - c->eh_frame.vaddr;
		if (start == 0 || addr < c->scanned || addr >= c->eh_frame.len)
			continue;
		pos = addr;
		ret = scan_records(c, &pos, pos + 1, 1);
		if (ret == -ENOSPC || ret == -E2BIG)
			return ret;
	}
	return 0;
}
