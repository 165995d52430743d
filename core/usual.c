// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * Usual instructions: those of nearly all CFA programs, in the forms that compilers write. A
 * program of these runs with its state in one word. What an instruction makes of the state is
 * looked up in a cache, as nearly every row has occurred before (machine.h).
 */
#include "limits.h"
#include "machine.h"

/*
 * The bits of the golden ratio, made odd. As a signed number it has 32 bits, so that it is an
 * immediate operand.
 */
#define HASH_FACTOR	((u64)-0x61c88647LL)

/*
 * Where the rule of a state is cached, and below, where a set is. @mask is c->move_mask, in
 * bytes. The shifts make all bits that differ between keys reach the lowest bits of the mask:
 * in a state, the CFA's offset is a multiple of 8, from bit 32 on.
 */
static __always_inline struct kuw_move *move_of_state(struct kuw_move *moves, u32 mask,
						      u64 state)
{
	return (void *)moves + (state * HASH_FACTOR >> 32 & mask);
}

static __always_inline struct kuw_move *move_of_set(struct kuw_move *sets, u32 mask, u64 key)
{
	return (void *)sets + ((u32)(key * HASH_FACTOR) >> 16 & mask);
}

/* Intern the rule of a state, and cache it. Return: as kuw_intern_rule(). */
static noinline int learn_rule(struct kuw_compile *c, u64 state, struct kuw_move *move)
{
	struct kuw_cfi cfi;
	u32 rule;
	int err;

	kuw_set_usual_state(&cfi, state);
	c->signal = state >> 7 & 1;
	err = kuw_intern_rule(c, &cfi, &rule);
	if (err)
		return err;
	move->key = state;
	move->to = rule;
	return 0;
}

/*
 * Run DW_CFA_offset or DW_CFA_restore on a set for the first time, and cache the result.
 * @key is the instruction with its operand, the set's number, and that of the set to restore
 * from. Return: false if that fails.
 */
static noinline bool learn_set(struct kuw_compile *c, u64 key, struct kuw_move *move)
{
	u32 to = (u16)(key >> 16);
	u64 reg = kuw_section_reg(&c->eh_frame, key & 0x3f), loc;
	s32 off = (s32)(key >> 8 & 0xff) * -(s32)c->eh_frame.word;

	if (reg < KUW_NR_REGS) {
		loc = kuw_loc_pack(KUW_AT_CFA, 0, reg, off);
		if ((key & 0xc0) == DW_CFA_restore)
			loc = kuw_intern_get(c, key >> 32, reg);
		if (kuw_intern_set(c, &to, reg, loc))
			return false;
	}
	move->key = key;
	/* The bits of the state that change. */
	move->to = (to ^ (u16)(key >> 16)) << 16;
	return true;
}

/*
 * Remember a state, or restore one whose CFA is usual. Return: false if cfi.c must run the
 * instruction.
 */
static __always_inline bool usual_states(const struct kuw_compile *c, struct kuw_usual *u,
					 u32 op, u64 *state)
{
	const struct kuw_area *area = &c->areas[KUW_AREA_STATES];
	struct kuw_cfi *states = area->mem;

	if (op == DW_CFA_remember_state) {
		if (u->nr_states == KUW_MAX_STATES ||
		    (u->nr_states + 1) * sizeof(*states) > area->bytes)
			return false;
		kuw_set_usual_state(&states[u->nr_states++], *state);
		return true;
	}
	if (!u->nr_states || !kuw_usual_cfa(&states[u->nr_states - 1]))
		return false;
	*state = kuw_usual_state(&states[--u->nr_states], *state >> 7 & 1);
	return true;
}

/* Return: whether the number of a register is its place, as for x86-64 and not for i386. */
static bool in_place(const struct kuw_compile *c, u32 reg)
{
	return c->eh_frame.word == KUW_WORD && reg < KUW_RA;
}

/*
 * How far kuw_usual_ops() may go: as far as whole words can be read, and as there is room for a
 * row per byte, since each row takes at least one. That may be no byte at all.
 */
static const u8 *usual_end(const struct kuw_compile *c, const struct kuw_usual *u)
{
	s64 room = (s64)c->max_found - c->nr_found - KUW_FOUND_ROOM;
	const u8 *end = min_t(const u8 *, u->end, c->words_end);

	return room < end - u->p ? u->p + room : end;
}

bool kuw_usual_ops(struct kuw_compile *c, struct kuw_usual *u)
{
	/* An instruction that starts before @last has a byte for its first operand. */
	const u8 *p = u->p, *end = usual_end(c, u), *last = end - 1;
	/* The caches: from states to rules, and from sets of registers' rules to sets. */
	struct kuw_move *moves = c->areas[KUW_AREA_MOVES].mem, *move;
	struct kuw_move *sets = (void *)moves + c->move_mask + sizeof(*moves);
	u32 *row = (u32 *)c->areas[KUW_AREA_FOUND].mem + c->nr_found;
	u32 rule = u->rule, mask = c->move_mask, word, delta, off, size;
	/* See struct kuw_usual. */
	u32 len = u->len, left = u->left;
	u64 state = u->state, key;
	bool ended;

	while (p < last) {
		word = get_unaligned_le32(p);
		/* As signed bytes, DW_CFA_advance_loc with its operand are the greatest. */
		if ((s8)word <= DW_CFA_advance_loc && (word & 0x80c0) == DW_CFA_offset) {
			key = (state & 0xffff0000) | (word & 0xffff);
			move = move_of_set(sets, mask, key);
			if (unlikely(move->key != key) && !learn_set(c, key, move))
				break;
			state ^= move->to;
			p += 2;
			continue;
		}
		/* DW_CFA_advance_loc by 0 ends no row: it is left to cfi.c. */
		if ((s8)word > DW_CFA_advance_loc ||
		    (u8)(word - DW_CFA_advance_loc1) < 2) {
			delta = word & 0x3f;
			if ((s8)word < DW_CFA_advance_loc) {
				/* DW_CFA_advance_loc1 is 2, and _loc2 is 3. */
				size = word & 3;
				delta = word >> 8 & (size == 2 ? 0xff : 0xffff);
				if (unlikely(size > end - p || !delta || delta > left))
					break;
				p += size - 1;
			}
			/* No row starts beyond the FDE's end. */
			if (unlikely(delta > left))
				break;
			move = move_of_state(moves, mask, state);
			if (unlikely(move->key != state)) {
				/* cfi.c cannot run it again: @p may be past the opcode. */
				u->err = learn_rule(c, state, move);
				if (u->err)
					break;
			}
			if (likely(move->to != rule)) {
				*row++ = kuw_found_row(len, rule);
				rule = move->to;
				len = 0;
			}
			len += delta;
			left -= delta;
			p++;
			/* An advance seldom follows an advance: try DW_CFA_def_cfa_offset next. */
			if (unlikely(p >= last))
				break;
			word = get_unaligned_le32(p);
			if ((word & 0xff) != DW_CFA_def_cfa_offset)
				continue;
		}
		if ((word & 0xff) == DW_CFA_def_cfa_offset) {
			off = p[1];
			if (unlikely(off >= 0x80)) {
				/* LEB128 of two bytes. */
				if (end - p < 3 || p[2] >= 0x80)
					break;
				off = off - 0x80 + (p[2] << 7);
				p++;
			}
			state = (u32)state | (u64)off << 32;
			p += 2;
		} else if (!*p) {
			/* Padding (DW_CFA_nop) is at the end, and seldom a single byte. */
			while (++p < last && !*p)
				;
		} else if ((word & 0xfe) == DW_CFA_remember_state) {
			/* The mask matches DW_CFA_restore_state, too. */
			if (!usual_states(c, u, *p, &state))
				break;
			p++;
		} else if ((word & 0xc0) == DW_CFA_restore) {
			key = (u64)u->initial << 32 | (state & 0xffff0000) | *p;
			move = move_of_set(sets, mask, key);
			if (unlikely(move->key != key) && !learn_set(c, key, move))
				break;
			state ^= move->to;
			p++;
		} else if (*p == DW_CFA_def_cfa_register &&
			   in_place(c, word >> 8 & 0xff)) {
			state = (state & ~0xff00ULL) | (word & 0xff00);
			p += 2;
		} else if ((word & 0x8000ff) == DW_CFA_def_cfa &&
			   in_place(c, word >> 8 & 0xff) && end - p > 2) {
			state = (state & 0xffff00ff) | (word & 0xff00) |
				(u64)(word & 0xff0000) << 16;
			p += 3;
		} else {
			break;
		}
	}
	/* The last byte has no operand: padding (DW_CFA_nop), or DW_CFA_restore_state. */
	if (p == last && (!*p || (*p == DW_CFA_restore_state && usual_states(c, u, *p, &state))))
		p++;
	/* No row starts at the FDE's end. There is room for one more row: see usual_end(). */
	ended = p == u->end && !u->err;
	if (ended && left) {
		move = move_of_state(moves, mask, state);
		if (unlikely(move->key != state) && learn_rule(c, state, move)) {
			ended = false;
		} else if (move->to != rule) {
			*row++ = kuw_found_row(len, rule);
			rule = move->to;
			len = 0;
		}
	}
	c->nr_found = row - (u32 *)c->areas[KUW_AREA_FOUND].mem;
	u->rule = rule;
	u->left = left;
	u->len = len;
	if (ended)
		return true;
	u->state = state;
	u->p = p;
	return false;
}
