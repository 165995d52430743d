// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* The compiler's phases: find the FDEs, run their programs, order their rows. */
#include "compile.h"
#include "limits.h"
#include "table.h"

enum phase {
	PHASE_INIT,
	PHASE_SCAN,	/* through .eh_frame from its begin */
	PHASE_HEADER,	/* FDEs behind its end, by .eh_frame_hdr */
	PHASE_SPLIT,	/* FDEs that are not in order are sorted and merged */
	PHASE_SORT,
	PHASE_MERGE,
	PHASE_PREPARE,
	PHASE_ROWS,	/* FDE by FDE in the order of addresses */
	PHASE_RUNS,
	PHASE_LAYOUT,
	PHASE_ENCODE,
	PHASE_DONE,
};

/* FDEs are found in another order than they lie in: fetch their rows in time. */
#define FETCH_AHEAD	8

bool kuw_compile_grow(struct kuw_compile *c, u32 area, u64 bytes)
{
	/* What ordinary files need, so that large areas are not copied. */
	if (area == KUW_AREA_FOUND)
		bytes = max_t(u64, bytes, c->eh_frame.len);
	if (area == KUW_AREA_FDES)
		bytes = max_t(u64, bytes, c->eh_frame.len / 3);
	if (area == KUW_AREA_ROWS)
		bytes = max_t(u64, bytes, c->max_rows * (sizeof(u64) / 2));
	c->grow = area;
	c->grow_bytes = max_t(u64, bytes, 2 * c->areas[area].bytes);
	c->grow_bytes = max_t(u64, c->grow_bytes, 1024);
	return false;
}

void kuw_compile_init(struct kuw_compile *c, const struct kuw_image *image)
{
	const struct kuw_elf *elf = image->elf;
	u32 i;

	memset(c, 0, offsetof(struct kuw_compile, scratch));
	c->elf = elf;
	c->eh_frame.bytes = image->eh_frame;
	c->eh_frame.len = elf->eh_frame.len;
	c->eh_frame.vaddr = elf->eh_frame.vaddr;
	c->eh_frame.word = elf->word;
	if (image->eh_frame_hdr) {
		c->eh_frame_hdr.bytes = image->eh_frame_hdr;
		c->eh_frame_hdr.len = elf->eh_frame_hdr.len;
		c->eh_frame_hdr.vaddr = elf->eh_frame_hdr.vaddr;
		c->eh_frame_hdr.word = elf->word;
	}
	c->base = ~0ULL;
	for (i = 0; i < elf->nr_segments; i++)
		c->base = min_t(u64, c->base, elf->segments[i].vaddr);
	/* Aligned, so that an offset is as aligned as its address. */
	c->base &= -(u64)KUW_FDE_ALIGN;
	for (i = 0; i < KUW_CIE_SLOTS; i++)
		c->slots[i].pos = KUW_IS_CIE;
}

/* Return: the CIE at @pos with its initial state, or NULL: c->slots say why. */
static struct kuw_cie_slot *get_cie(struct kuw_compile *c, u32 pos)
{
	struct kuw_cie_slot *slot = &c->slots[(pos >> 2) % KUW_CIE_SLOTS];
	u64 loc = 0;

	if (slot->pos == pos && slot->err != -ENOSPC)
		return slot;
	slot->pos = pos;
	slot->err = kuw_parse_cie(&c->eh_frame, pos, &slot->cie);
	c->batch_bytes += slot->cie.len;
	if (slot->err)
		return slot;
	memset(&slot->initial, 0, sizeof(slot->initial));
	slot->initial.cfa = kuw_loc_pack(KUW_UNDEF, 0, 0, 0);
	slot->err = kuw_cfi_run(c, &slot->initial, NULL, &slot->cie,
				slot->cie.instrs, &loc, 0);
	return slot;
}

/*
 * Return: 0 with the FDE whose record is at @pos, 1 if it is a CIE or covers
 * nothing that can run, -EINVAL if the record is damaged, -ENODATA at a
 * terminator, -EBADMSG if nothing can be known of what follows, -ENOSPC.
 */
static int get_fde(struct kuw_compile *c, u32 pos, struct kuw_fde *fde,
		   struct kuw_cie_slot **slot, u32 *next)
{
	const struct kuw_segment *seg = c->elf->segments;
	struct kuw_record record;
	u32 i;
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
	ret = kuw_parse_fde(&c->eh_frame, &record, &(*slot)->cie, fde);
	if (ret)
		return ret;
	/* Linkers leave FDEs of dropped sections behind, at address 0. */
	for (i = 0; i < c->elf->nr_segments; i++, seg++) {
		if (fde->start - seg->vaddr >= seg->filesz)
			continue;
		fde->len = min_t(u64, fde->len,
				 seg->vaddr + seg->filesz - fde->start);
		/* An offset has 32 bits. */
		if (fde->start + fde->len - c->base > U32_MAX)
			return -EINVAL;
		return fde->len ? 0 : 1;
	}
	return 1;
}

/* Run the program of an FDE that begins at @off. Return: as kuw_cfi_run(), -E2BIG. */
static int run_program(struct kuw_compile *c, const struct kuw_fde *fde,
		       const struct kuw_cie_slot *slot, u32 off,
		       struct kuw_program *program)
{
	u32 at = c->nr_found, first = at + KUW_FOUND_FDE, max_rows = c->max_rows;
	struct kuw_cfi cfi = slot->initial;
	u64 loc = off;
	u32 *found;
	int ret;

	/* kuw_compile_append() writes the second word. */
	c->nr_found++;
	c->signal = slot->cie.signal;
	c->last_rule = 0;
	c->last_off = off;
	ret = kuw_cfi_run(c, &cfi, &slot->initial, &slot->cie, fde->instrs, &loc,
			  off + fde->len);
	if (unlikely(ret)) {
		c->nr_found = at;
		c->max_rows = max_rows;
		return ret;
	}
	c->longest = max_t(u32, c->longest, c->max_rows - max_rows);
	/* There is room: the last row that began asked for it. */
	found = c->areas[KUW_AREA_FOUND].mem;
	found[c->nr_found++] = kuw_found_row(KUW_FOUND_LAST, c->last_rule);
	found[at] = first;
	found[at + 1] = fde->len;
	/* What the FDE's end cut off may be within that of another one. */
	if (program && loc < off + fde->len) {
		program->cie = slot->pos;
		program->pos = fde->instrs.p - c->eh_frame.bytes;
		program->len = kuw_left(&fde->instrs);
		program->first = first;
		program->nr_rows = c->max_rows - max_rows;
	}
	return 0;
}

/* Rows of one FDE, or none of them. Return: 0, -EINVAL, -EOPNOTSUPP, -E2BIG, -ENOSPC. */
static int add_fde(struct kuw_compile *c, const struct kuw_fde *fde,
		   const struct kuw_cie_slot *slot)
{
	u32 off = fde->start - c->base, n = c->nr_fdes, at = c->nr_found, *found;
	struct kuw_program *program;
	struct kuw_pair *fdes;
	bool there;
	int ret;

	if (n == KUW_MAX_FDES)
		return -E2BIG;
	/* Twice as many: sorting moves them to and fro. */
	if (!kuw_compile_room(c, KUW_AREA_FDES, 2 * (n + 1ULL) * sizeof(*fdes)))
		return -ENOSPC;
	ret = kuw_compile_found_room(c);
	if (unlikely(ret))
		return ret;
	program = kuw_program_find(c, slot->pos, &fde->instrs, &there);
	if (there) {
		/* If this FDE ends before, put_fde() stops there. */
		found = c->areas[KUW_AREA_FOUND].mem;
		found[at] = program->first;
		found[at + 1] = fde->len;
		c->nr_found += KUW_FOUND_FDE;
		c->max_rows += program->nr_rows;
	} else {
		ret = run_program(c, fde, slot, off, program);
		if (unlikely(ret))
			return ret;
	}
	if (unlikely(c->max_rows > KUW_MAX_ROWS))
		return -E2BIG;
	fdes = c->areas[KUW_AREA_FDES].mem;
	fdes[n].key = off;
	fdes[n].value = at;
	c->nr_fdes++;
	return 0;
}

/* Look at one record. Return: 0, -E2BIG, or what get_fde() does. */
static int scan_one(struct kuw_compile *c, u32 pos, u32 *next)
{
	struct kuw_cie_slot *slot;
	struct kuw_fde fde;
	int ret = get_fde(c, pos, &fde, &slot, next);

	if (!ret)
		ret = add_fde(c, &fde, slot);
	if (ret == -EINVAL || ret == -EOPNOTSUPP) {
		c->nr_bad++;
		return 0;
	}
	return ret == 1 ? 0 : ret;
}

/* Return: whether a step has looked at enough records, of which @budget were left. */
static bool batch_done(const struct kuw_compile *c, u32 budget)
{
	return !budget || c->batch_bytes >= KUW_BATCH_BYTES;
}

static int scan(struct kuw_compile *c)
{
	u32 budget = KUW_BATCH_FDES, next;
	int ret;

	while (c->pos < c->eh_frame.len) {
		if (batch_done(c, budget--))
			return KUW_AGAIN;
		ret = scan_one(c, c->pos, &next);
		if (ret == -EBADMSG) {
			c->nr_bad += c->elf->eh_frame_exact;
			break;
		}
		if (ret == -ENODATA) {
			/* crtend.o ends with one; objects may follow it. */
			if (!c->elf->eh_frame_exact)
				break;
		} else if (ret) {
			return ret;
		}
		c->pos = next;
	}
	c->scanned = c->pos;
	c->pos = 0;
	c->phase = PHASE_HEADER;
	return KUW_AGAIN;
}

/*
 * The binary search table of .eh_frame_hdr names every FDE (LSB Core 10.6.2).
 * Those that the scan has not come to are added; that is rare: a section
 * whose length is unknown, with a terminator in it or a damaged record.
 */
static int read_header(struct kuw_compile *c)
{
	const struct kuw_section *hdr = &c->eh_frame_hdr;
	struct kuw_cur cur;
	u32 budget = KUW_BATCH_FDES, next;
	u64 count, start, addr;
	u8 enc, count_enc;
	int ret;

	c->phase = PHASE_SPLIT;
	if (!hdr->len || c->scanned >= c->eh_frame.len)
		return KUW_AGAIN;
	cur = kuw_cur(hdr->bytes, hdr->len);
	if (kuw_u8(&cur) != 1)
		return KUW_AGAIN;
	enc = kuw_u8(&cur);
	count_enc = kuw_u8(&cur);
	/* Every linker's table: pairs of 32-bit offsets from the header. */
	if (kuw_u8(&cur) != (DW_EH_PE_datarel | DW_EH_PE_sdata4) ||
	    count_enc == DW_EH_PE_omit)
		return KUW_AGAIN;
	kuw_read_encoded(&cur, enc, hdr, hdr->vaddr);
	count = kuw_read_encoded(&cur, count_enc, hdr, hdr->vaddr);
	if (cur.bad)
		return KUW_AGAIN;
	count = min_t(u64, count, kuw_left(&cur) / 8);
	kuw_bytes(&cur, c->pos * 8ULL);
	for (; c->pos < count; c->pos++) {
		if (batch_done(c, budget--)) {
			c->phase = PHASE_HEADER;
			return KUW_AGAIN;
		}
		start = hdr->vaddr + (s32)kuw_u32(&cur);
		addr = hdr->vaddr + (s32)kuw_u32(&cur) - c->eh_frame.vaddr;
		if (start == 0 || addr < c->scanned || addr >= c->eh_frame.len)
			continue;
		ret = scan_one(c, addr, &next);
		if (ret == -ENOSPC || ret == -E2BIG) {
			c->phase = PHASE_HEADER;
			return ret;
		}
	}
	return KUW_AGAIN;
}

/*
 * Nearly all FDEs are in the order of addresses; those of sections such as .text.unlikely
 * come in between. What is not in order goes away into the area's second half, and as
 * many pairs are then free behind what stays.
 */
static int split(struct kuw_compile *c)
{
	struct kuw_pair *from = c->areas[KUW_AREA_FDES].mem, *to = from, *end, *away;
	u32 last = 0, keys = 0;

	if (!c->nr_fdes)
		return -ENODATA;
	end = from + c->nr_fdes;
	for (away = end; from < end; from++) {
		if (from->key >= last) {
			last = from->key;
			*to++ = *from;
		} else {
			keys |= from->key;
			*away++ = *from;
		}
	}
	c->nr_away = away - end;
	c->away_keys = keys;
	c->phase = PHASE_SORT;
	return KUW_AGAIN;
}

static int sort(struct kuw_compile *c)
{
	struct kuw_pair *fdes = c->areas[KUW_AREA_FDES].mem, *away = fdes + c->nr_fdes;
	struct kuw_pair *room = away - c->nr_away;
	u32 bits = kuw_sort_bits(c->nr_away);
	bool odd = c->shift / bits & 1;

	/* Offsets have no more digits than the greatest. */
	if ((u64)c->away_keys >> c->shift) {
		kuw_sort_pass(odd ? room : away, odd ? away : room, c->nr_away, c->shift,
			      c->scratch);
		c->shift += bits;
		return KUW_AGAIN;
	}
	if (odd)
		memcpy(away, room, c->nr_away * sizeof(*away));
	c->phase = PHASE_MERGE;
	return KUW_AGAIN;
}

/* From the end, where there is room. At the same address, what stayed was found first. */
static int merge(struct kuw_compile *c)
{
	struct kuw_pair *fdes = c->areas[KUW_AREA_FDES].mem, *away = fdes + c->nr_fdes;
	u32 left = c->nr_fdes - c->nr_away, more, stay, key;

	for (more = c->nr_away; more; more--) {
		key = away[more - 1].key;
		for (stay = left; stay && fdes[stay - 1].key > key; stay--)
			;
		memmove(fdes + stay + more, fdes + stay, (left - stay) * sizeof(*fdes));
		fdes[stay + more - 1] = away[more - 1];
		left = stay;
	}
	c->phase = PHASE_PREPARE;
	return KUW_AGAIN;
}

/* Return: whether there is room for one more FDE's rows by address, behind @placed. */
static bool rows_room(struct kuw_compile *c, u64 placed)
{
	/* Before them, one may say that there is none. */
	return kuw_compile_room(c, KUW_AREA_ROWS, (placed + c->longest + 1) * sizeof(u64));
}

static int prepare(struct kuw_compile *c)
{
	if (!rows_room(c, 0) || kuw_runs_init(c))
		return -ENOSPC;
	c->pos = 0;
	c->last_rule = 0;
	c->last_off = ~0u;
	c->phase = PHASE_ROWS;
	return KUW_AGAIN;
}

/* Go to the next row of an FDE of which @left bytes are left. Return: its length. */
static __always_inline u32 take_row(const u32 **row, u32 left, u32 *rule)
{
	u32 word = *(*row)++, len = kuw_found_len(word);

	*rule = kuw_found_rule(word);
	if (len == KUW_FOUND_LAST)
		return left;
	if (unlikely(len == KUW_FOUND_LONG))
		return *(*row)++;
	return len;
}

/*
 * Find out what the rows from *@off on are together, of an FDE that ends at @end, up to
 * @stop. Return: their node, with the last one's @rule; or 0 if the first row stays
 * alone, and *@row and *@off are where they were.
 */
static __always_inline u32 take_run(struct kuw_compile *c, const struct kuw_tree *tree,
				    const u32 **row, u32 *off, u32 end, u32 stop, u32 *rule)
{
	u32 at = *off, len, step, next;
	const u32 *word = *row, *head = word;
	/* A run lies in one bucket. */
	u32 last = min_t(u32, stop - 1, at | ((1u << KUW_BUCKET_SHIFT) - 1));
	u64 node = 0, hash = 0, found;

	step = kuw_found_rule(*word) << 16;
	for (;;) {
		len = kuw_found_len(*word);
		if (len - 1 >= KUW_RUN_NEAR) {
			if (len != KUW_FOUND_LAST || end - at > KUW_RUN_NEAR)
				break;
			len = end - at;
		}
		found = kuw_runs_child(tree, node, step, &hash);
		if (unlikely(found > U16_MAX)) {
			next = kuw_runs_grow(c, tree, node, step, hash);
			if (!next)
				break;
			found = next;
		}
		node = found;
		at += len;
		word++;
		if (at > last)
			break;
		step = kuw_found_step(word);
	}
	if (word == head)
		return 0;
	*rule = kuw_found_rule(word[-1]);
	*row = word;
	*off = at;
	return node;
}

/* Put the rows of an FDE behind the others, which end at @to. Return: their end. */
static __always_inline u64 *put_fde(struct kuw_compile *c, const struct kuw_pair *fde,
				    const struct kuw_tree *tree, u64 *to)
{
	const struct kuw_pair *last = (struct kuw_pair *)
		c->areas[KUW_AREA_FDES].mem + c->nr_fdes - 1;
	const u32 *found = c->areas[KUW_AREA_FOUND].mem, *row = found + found[fde->value];
	struct kuw_ruleset *rules = c->areas[KUW_AREA_RULES].mem;
	u32 off = fde->key, end = off + found[fde->value + 1], stop = end;
	u32 rule = 0, node, head;

	/* Where FDEs overlap, the one that begins last is right (libgcc). */
	if (fde < last) {
		stop = min_t(u32, end, fde[1].key);
		if (stop == off)
			return to;
	}
	/* Padding before an aligned function is never run. It belongs to the
	 * function before, which saves a row for each function; code without an
	 * FDE that is itself aligned needs 16 bytes at least. (The FDE of a signal
	 * frame begins a byte before its code.)
	 */
	if (c->covered < off && c->last_rule &&
	    (off - c->covered >= KUW_FDE_ALIGN ||
	     (off + rules[kuw_found_rule(*row)].signal) % KUW_FDE_ALIGN)) {
		*to++ = kuw_row(c->covered, 0);
		c->last_rule = 0;
		rules[0].uses++;
	}
	/* The one before may end with the rule that this one begins with. */
	if (kuw_found_rule(*row) == c->last_rule)
		off += take_row(&row, end - off, &rule);
	while (off < stop) {
		head = off;
		node = 0;
		/* Bodies of functions stay rows: that is where walks look. */
		if (kuw_found_len(*row) <= KUW_RUN_NEAR)
			node = take_run(c, tree, &row, &off, end, stop, &rule);
		if (node) {
			*to++ = kuw_row(head, c->nr_rules + node);
			tree->nodes[node].uses++;
		} else {
			off += take_row(&row, end - off, &rule);
			*to++ = kuw_row(head, rule);
			rules[rule].uses++;
		}
	}
	c->last_rule = rule;
	c->covered = stop;
	return to;
}

/* Count the blocks in which the rows of an FDE begin. */
static void count_chunks(struct kuw_compile *c, const u64 *rows, const u64 *end)
{
	u32 off;

	/* Nearly always it lies in the block that the one before ended in. */
	if (rows == end || !((c->last_off ^ kuw_row_off(end[-1])) >> KUW_BLOCK_SHIFT))
		return;
	for (; rows < end; rows++) {
		off = kuw_row_off(*rows);
		c->nr_chunks += (c->last_off ^ off) >> KUW_BLOCK_SHIFT != 0;
		c->last_off = off;
	}
}

static int put_rows(struct kuw_compile *c)
{
	const struct kuw_pair *fdes = c->areas[KUW_AREA_FDES].mem;
	const struct kuw_tree tree = kuw_runs_tree(c);
	const u32 *found = c->areas[KUW_AREA_FOUND].mem;
	u64 *rows = c->areas[KUW_AREA_ROWS].mem, *to = rows + c->nr_placed, *from;
	const u64 *enough = to + KUW_BATCH_ROWS;
	u32 end = min_t(u64, c->nr_fdes, (u64)c->pos + KUW_BATCH_FDES);
	int ret = KUW_AGAIN;

	for (; c->pos < end && to < enough; c->pos++) {
		if (!rows_room(c, to - rows)) {
			ret = -ENOSPC;
			break;
		}
		if (c->nr_fdes - c->pos > FETCH_AHEAD)
			__builtin_prefetch(found + fdes[c->pos + FETCH_AHEAD].value);
		from = to;
		to = put_fde(c, &fdes[c->pos], &tree, to);
		count_chunks(c, from, to);
	}
	c->nr_placed = to - rows;
	if (c->pos == c->nr_fdes)
		c->phase = PHASE_RUNS;
	return ret;
}

int kuw_compile_step(struct kuw_compile *c)
{
	int ret;

	if (c->areas[KUW_AREA_HASH].bytes >= 4ULL * sizeof(u32) << c->hash_bits)
		kuw_intern_rehash(c);
	c->batch_bytes = 0;
	switch (c->phase) {
	case PHASE_INIT:
		ret = kuw_intern_init(c);
		if (!ret)
			ret = kuw_programs_init(c);
		if (!ret) {
			c->phase = PHASE_SCAN;
			ret = KUW_AGAIN;
		}
		break;
	case PHASE_SCAN:
		ret = scan(c);
		break;
	case PHASE_HEADER:
		ret = read_header(c);
		break;
	case PHASE_SPLIT:
		ret = split(c);
		break;
	case PHASE_SORT:
		ret = sort(c);
		break;
	case PHASE_MERGE:
		ret = merge(c);
		break;
	case PHASE_PREPARE:
		ret = prepare(c);
		break;
	case PHASE_ROWS:
		ret = put_rows(c);
		break;
	case PHASE_RUNS:
		ret = kuw_encode_rank(c);
		if (ret == KUW_AGAIN)
			c->phase = PHASE_LAYOUT;
		break;
	case PHASE_LAYOUT:
		ret = kuw_encode_layout(c);
		if (ret == KUW_AGAIN)
			c->phase = PHASE_ENCODE;
		break;
	case PHASE_ENCODE:
		ret = kuw_encode_step(c);
		if (!ret)
			c->phase = PHASE_DONE;
		break;
	default:
		return 0;
	}
	return ret == -ENOSPC ? KUW_GROW : ret;
}
