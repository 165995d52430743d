// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * CFA programs (DWARF 5 6.4.2, LSB Core 10.6.2 for the GNU extensions).
 * Registers beyond KUW_NR_REGS (vector registers, which some ABIs save) are read
 * over: no rule of a walk needs them.
 */
#include "cfi.h"
#include "compile.h"
#include "expr.h"
#include "limits.h"

enum {
	DW_CFA_nop, DW_CFA_set_loc, DW_CFA_advance_loc1, DW_CFA_advance_loc2,
	DW_CFA_advance_loc4, DW_CFA_offset_extended, DW_CFA_restore_extended,
	DW_CFA_undefined, DW_CFA_same_value, DW_CFA_register,
	DW_CFA_remember_state, DW_CFA_restore_state, DW_CFA_def_cfa,
	DW_CFA_def_cfa_register, DW_CFA_def_cfa_offset,
	DW_CFA_def_cfa_expression, DW_CFA_expression,
	DW_CFA_offset_extended_sf, DW_CFA_def_cfa_sf, DW_CFA_def_cfa_offset_sf,
	DW_CFA_val_offset, DW_CFA_val_offset_sf, DW_CFA_val_expression,
	DW_CFA_MIPS_advance_loc8 = 0x1d,
	DW_CFA_GNU_window_save = 0x2d, DW_CFA_GNU_args_size,
	DW_CFA_GNU_negative_offset_extended,
	DW_CFA_advance_loc = 0x40, DW_CFA_offset = 0x80, DW_CFA_restore = 0xc0,
};

struct machine {
	struct kuw_compile *c;
	struct kuw_cfi *cfi;
	const struct kuw_cfi *initial;
	const struct kuw_cie *cie;
	struct kuw_cur in;
	/* Words are read whole up to here. */
	const u8 *words_end;
	u64 loc;
	u64 end;
	u32 nr_states;
	bool absolute;
	int err;
};

/* The first error stays. */
static void fail(struct machine *m, int err)
{
	if (!m->err)
		m->err = err;
	kuw_fail(&m->in);
}

static s32 fit(struct machine *m, s64 off)
{
	if (unlikely(off != (s32)off))
		fail(m, -EOPNOTSUPP);
	return off;
}

static s32 scaled(struct machine *m, s64 factor, s64 align)
{
	s64 off;

	if (unlikely(__builtin_mul_overflow(factor, align, &off)))
		fail(m, -EOPNOTSUPP);
	return fit(m, off);
}

/* Return: whether the CFA is a register and an offset, and nothing is hidden. */
static bool usual_cfa(const struct kuw_cfi *cfi)
{
	return kuw_loc_how(cfi->cfa) == KUW_REG && !cfi->cfa_expr;
}

static __always_inline struct kuw_move *cached(struct kuw_move *moves, u32 mask, u64 key)
{
	return moves + (key * KUW_MIX >> 48 & mask);
}

/*
 * A row with a usual CFA as one word. A register and an offset use neither the target
 * nor the argument of a loc, and not the highest bit of its kind.
 */
static u64 state_word(const struct kuw_compile *c, const struct kuw_cfi *cfi)
{
	return cfi->cfa | cfi->regs << 16 | c->signal << 7;
}

static u64 state_cfa(u64 state)
{
	return state & ~0xffff0080ULL;
}

static u32 state_regs(u64 state)
{
	return (u32)state >> 16;
}

static void set_state(struct kuw_cfi *cfi, u64 state)
{
	cfi->cfa = state_cfa(state);
	cfi->regs = state_regs(state);
	cfi->cfa_off = state >> 32;
	cfi->cfa_expr = false;
}

/* Find the rule of a state when it is not cached. Return: as kuw_intern_rule(). */
static noinline int learn_rule(struct kuw_compile *c, u64 state, struct kuw_move *move)
{
	struct kuw_cfi cfi;
	u32 rule;
	int err;

	set_state(&cfi, state);
	err = kuw_intern_rule(c, &cfi, &rule);
	if (err)
		return err;
	move->key = state;
	move->to = rule;
	return 0;
}

/* Put a row at @loc. */
static int put_row(struct machine *m)
{
	u64 state = state_word(m->c, m->cfi);
	struct kuw_move *move = cached(m->c->areas[KUW_AREA_MOVES].mem, m->c->move_mask,
				       state);
	int err;

	if (unlikely(move->key != state)) {
		err = learn_rule(m->c, state, move);
		if (err)
			return err;
	}
	return kuw_compile_append(m->c, m->loc, move->to);
}

/* The row that ends here is complete. */
static void end_row(struct machine *m)
{
	u32 rule = 0;
	int err;

	/* Behind its end an FDE has no rows. */
	if (m->loc >= m->end)
		return;
	if (usual_cfa(m->cfi)) {
		err = put_row(m);
	} else {
		err = kuw_intern_rule(m->c, m->cfi, &rule);
		if (!err)
			err = kuw_compile_append(m->c, m->loc, rule);
	}
	if (unlikely(err))
		fail(m, err);
}

static void move_to(struct machine *m, u64 loc)
{
	/* A CIE's program describes no location. */
	if (unlikely(!m->initial)) {
		fail(m, -EINVAL);
		return;
	}
	end_row(m);
	m->loc = loc;
}

static void advance(struct machine *m, u64 delta)
{
	if (unlikely(__builtin_mul_overflow(delta, m->cie->code_align, &delta) ||
		     delta > ~m->loc)) {
		fail(m, -EINVAL);
		return;
	}
	if (!delta)
		return;
	move_to(m, m->loc + delta);
}

static void set_loc(struct machine *m)
{
	u64 to = kuw_read_encoded(&m->in, m->cie->enc, &m->c->eh_frame, 0) -
		 m->c->base;

	m->absolute = true;
	if (to < m->loc)
		fail(m, -EINVAL);
	else if (to > m->loc)
		move_to(m, to);
}

static u64 place(const struct machine *m, u64 reg)
{
	return kuw_section_reg(&m->c->eh_frame, reg);
}

static void set_cfa(struct machine *m, u64 reg, s32 off)
{
	reg = place(m, reg);
	if (unlikely(reg >= KUW_RA)) {
		fail(m, -EOPNOTSUPP);
		return;
	}
	m->cfi->cfa = kuw_loc_pack(KUW_REG, reg, 0, off);
	m->cfi->cfa_off = off;
	m->cfi->cfa_expr = false;
}

/*
 * DW_CFA_def_cfa_register and _offset change half of a rule. The standard has
 * them for a register and an offset only; OpenSSL's and libgcrypt's assembly
 * say def_cfa_register after an expression, and mean the last offset before.
 */
static void set_cfa_reg(struct machine *m, u64 reg)
{
	if (kuw_loc_how(m->cfi->cfa) == KUW_UNDEF)
		fail(m, -EINVAL);
	else
		set_cfa(m, reg, m->cfi->cfa_off);
}

static void set_cfa_off(struct machine *m, s32 off)
{
	if (kuw_loc_how(m->cfi->cfa) == KUW_UNDEF)
		fail(m, -EINVAL);
	m->cfi->cfa_off = off;
	/* libgcc: an expression stays in force. */
	if (m->cfi->cfa_expr)
		return;
	m->cfi->cfa = (u32)m->cfi->cfa | (u64)(u32)off << 32;
}

/* @loc has no target yet. */
static void set_reg(struct machine *m, u64 reg, u64 loc)
{
	int err;

	reg = place(m, reg);
	if (reg >= KUW_NR_REGS)
		return;
	err = kuw_intern_set(m->c, &m->cfi->regs, reg, loc | reg << 16);
	if (unlikely(err))
		fail(m, err);
}

static void set_off(struct machine *m, u64 reg, u8 how, s32 off)
{
	set_reg(m, reg, kuw_loc_pack(how, 0, 0, off));
}

static void set_from_reg(struct machine *m, u64 reg, u64 from)
{
	from = place(m, from);
	if (from >= KUW_NR_REGS)
		fail(m, -EOPNOTSUPP);
	else
		set_reg(m, reg, kuw_loc_pack(KUW_REG, from, 0, 0));
}

static void restore(struct machine *m, u64 reg)
{
	if (!m->initial)
		fail(m, -EINVAL);
	else if (place(m, reg) < KUW_NR_REGS)
		set_reg(m, reg, kuw_intern_get(m->c, m->initial->regs,
					       place(m, reg)));
}

/* Take an expression; @how is what it becomes unless a simpler form will do. */
static u64 take_expr(struct machine *m, u8 how)
{
	struct kuw_loc value = { .how = KUW_SAME };
	u64 len = kuw_uleb(&m->in);
	const u8 *bytes = kuw_bytes(&m->in, len);
	s32 off = 0;
	int err;

	if (!bytes)
		return 0;
	if (!kuw_expr_check(bytes, len, m->c->eh_frame.word)) {
		fail(m, -EOPNOTSUPP);
		return 0;
	}
	if (kuw_expr_simplify(bytes, len, m->c->eh_frame.word, &value)) {
		if (how == KUW_EXPR)
			return kuw_loc_bits(value);
		/* The address is reg + off: the register is stored there. */
		if (value.how == KUW_REG) {
			value.how = KUW_MEM;
			return kuw_loc_bits(value);
		}
	}
	err = kuw_compile_expr(m->c, bytes, len, &off);
	if (err)
		fail(m, err);
	return kuw_loc_pack(how, 0, 0, off);
}

static void remember(struct machine *m)
{
	struct kuw_cfi *states = m->c->areas[KUW_AREA_STATES].mem;

	if (m->nr_states == KUW_MAX_STATES) {
		fail(m, -EOPNOTSUPP);
		return;
	}
	if (!kuw_compile_room(m->c, KUW_AREA_STATES,
			      (m->nr_states + 1) * sizeof(*states))) {
		fail(m, -ENOSPC);
		return;
	}
	states[m->nr_states++] = *m->cfi;
}

/* As GCC and LLVM mean it, the CFA's rule is part of the state. */
static void restore_state(struct machine *m)
{
	struct kuw_cfi *states = m->c->areas[KUW_AREA_STATES].mem;

	if (!m->nr_states) {
		fail(m, -EINVAL);
		return;
	}
	*m->cfi = states[--m->nr_states];
}

static void rare_op(struct machine *m, u8 op)
{
	s64 align = m->cie->data_align;
	struct kuw_cur *in = &m->in;
	u64 reg;

	switch (op) {
	case DW_CFA_nop:
		break;
	case DW_CFA_set_loc:
		set_loc(m);
		break;
	case DW_CFA_MIPS_advance_loc8:
		advance(m, kuw_u64(in));
		break;
	case DW_CFA_offset_extended:
		reg = kuw_uleb(in);
		set_off(m, reg, KUW_AT_CFA, scaled(m, kuw_uleb(in), align));
		break;
	case DW_CFA_restore_extended:
		restore(m, kuw_uleb(in));
		break;
	case DW_CFA_undefined:
		set_off(m, kuw_uleb(in), KUW_UNDEF, 0);
		break;
	case DW_CFA_same_value:
		set_off(m, kuw_uleb(in), KUW_SAME, 0);
		break;
	case DW_CFA_register:
		reg = kuw_uleb(in);
		set_from_reg(m, reg, kuw_uleb(in));
		break;
	case DW_CFA_def_cfa_expression:
		m->cfi->cfa = take_expr(m, KUW_EXPR);
		m->cfi->cfa_expr = true;
			break;
	case DW_CFA_expression:
		reg = kuw_uleb(in);
		set_reg(m, reg, take_expr(m, KUW_EXPR_MEM));
		break;
	case DW_CFA_val_expression:
		reg = kuw_uleb(in);
		set_reg(m, reg, take_expr(m, KUW_EXPR));
		break;
	case DW_CFA_offset_extended_sf:
		reg = kuw_uleb(in);
		set_off(m, reg, KUW_AT_CFA, scaled(m, kuw_sleb(in), align));
		break;
	case DW_CFA_GNU_negative_offset_extended:
		reg = kuw_uleb(in);
		set_off(m, reg, KUW_AT_CFA, scaled(m, 0 - kuw_uleb(in), align));
		break;
	case DW_CFA_def_cfa_sf:
		reg = kuw_uleb(in);
		set_cfa(m, reg, scaled(m, kuw_sleb(in), align));
		break;
	case DW_CFA_def_cfa_offset_sf:
		set_cfa_off(m, scaled(m, kuw_sleb(in), align));
		break;
	case DW_CFA_val_offset:
		reg = kuw_uleb(in);
		set_off(m, reg, KUW_CFA_PLUS, scaled(m, kuw_uleb(in), align));
		break;
	case DW_CFA_val_offset_sf:
		reg = kuw_uleb(in);
		set_off(m, reg, KUW_CFA_PLUS, scaled(m, kuw_sleb(in), align));
		break;
	case DW_CFA_GNU_args_size:
		/* For whoever lands in the frame; walks do not. */
		kuw_uleb(in);
		break;
	case DW_CFA_GNU_window_save:
		/* SPARC's windows, arm64's signed addresses. */
	default:
		fail(m, -EOPNOTSUPP);
		break;
	}
}

/* What is not rare, but not one of the four that make up nearly all programs. */
static void other_op(struct machine *m, u8 op)
{
	struct kuw_cur *in = &m->in;
	u64 reg;

	switch (op) {
	case DW_CFA_advance_loc1:
		advance(m, kuw_u8(in));
		break;
	case DW_CFA_advance_loc2:
		advance(m, kuw_u16(in));
		break;
	case DW_CFA_advance_loc4:
		advance(m, kuw_u32(in));
		break;
	case DW_CFA_def_cfa_offset:
		set_cfa_off(m, fit(m, kuw_uleb(in)));
		break;
	case DW_CFA_def_cfa:
		reg = kuw_uleb(in);
		set_cfa(m, reg, fit(m, kuw_uleb(in)));
		break;
	case DW_CFA_def_cfa_register:
		set_cfa_reg(m, kuw_uleb(in));
		break;
	case DW_CFA_remember_state:
		remember(m);
		break;
	case DW_CFA_restore_state:
		restore_state(m);
		break;
	default:
		rare_op(m, op);
		break;
	}
}

static void one_op(struct machine *m)
{
	struct kuw_cur *in = &m->in;
	u8 op = kuw_u8(in);

	switch (op >> 6) {
	case DW_CFA_advance_loc >> 6:
		advance(m, op & 0x3f);
		break;
	case DW_CFA_offset >> 6:
		set_off(m, op & 0x3f, KUW_AT_CFA,
			scaled(m, kuw_uleb(in), m->cie->data_align));
		break;
	case DW_CFA_restore >> 6:
		restore(m, op & 0x3f);
		break;
	default:
		other_op(m, op);
		break;
	}
}

/*
 * Run DW_CFA_offset or DW_CFA_restore for the first time in a set. @key is the set's
 * number, that of the set to restore from, and the instruction with its operand. Return:
 * false if that fails.
 */
static noinline bool learn_set(struct machine *m, u64 key, struct kuw_move *move)
{
	u32 to = key >> 32;
	u64 reg = place(m, key & 0x3f), loc;
	s32 off = (s32)(key >> 8 & 0xff) * -(s32)m->c->eh_frame.word;

	if (reg < KUW_NR_REGS) {
		loc = kuw_loc_pack(KUW_AT_CFA, 0, reg, off);
		if ((key & 0xc0) == DW_CFA_restore)
			loc = kuw_intern_get(m->c, m->initial->regs, reg);
		if (kuw_intern_set(m->c, &to, reg, loc))
			return false;
	}
	move->key = key;
	move->to = to;
	return true;
}

/*
 * Remember a state whose CFA is usual, or restore one. Return: false if one_op() has to
 * look at it.
 */
static __always_inline bool usual_states(struct machine *m, u32 op, u64 *state)
{
	const struct kuw_area *area = &m->c->areas[KUW_AREA_STATES];
	struct kuw_cfi *states = area->mem;

	if (op == DW_CFA_remember_state) {
		if (m->nr_states == KUW_MAX_STATES ||
		    (m->nr_states + 1) * sizeof(*states) > area->bytes)
			return false;
		set_state(&states[m->nr_states++], *state);
		return true;
	}
	if (!m->nr_states || !usual_cfa(&states[m->nr_states - 1]))
		return false;
	*state = state_word(m->c, &states[--m->nr_states]);
	return true;
}

/*
 * How far usual_ops() may go: words are read whole, and there is room for as many rows as
 * bytes, of which each row takes one at least.
 */
static const u8 *usual_end(const struct machine *m)
{
	u32 used = m->c->nr_found + KUW_FOUND_ROOM, max = m->c->max_found;
	u64 room = used < max ? max - used : 0;

	room = min_t(u64, room, kuw_left(&m->in));
	return min_t(const u8 *, m->in.p + room, m->words_end);
}

/*
 * The instructions that make up nearly all programs, in the forms that compilers
 * write, with the state in registers. Whatever is not as usual is left to one_op(),
 * with the program where it was.
 */
static noinline void usual_ops(struct machine *m)
{
	struct kuw_compile *c = m->c;
	/* An instruction is followed by one byte of operand, before here. */
	const u8 *p = m->in.p, *end = usual_end(m), *last = end - 1;
	/* To rules; and to sets of registers' rules. */
	struct kuw_move *moves = c->areas[KUW_AREA_MOVES].mem, *move;
	struct kuw_move *sets = moves + c->move_mask + 1;
	u32 *found = c->areas[KUW_AREA_FOUND].mem, *row = found + c->nr_found;
	u32 rule = c->last_rule, mask = c->move_mask, word, delta, size;
	/* Of the row that ends next, and of the FDE. */
	u32 len = m->loc - c->last_off, left = m->end - m->loc;
	u64 state = state_word(c, m->cfi), key;
	/* Registers whose number is their place: those of i386 are others. */
	u32 regs = c->eh_frame.word == KUW_WORD ? KUW_RA : 0;

	while (p < last) {
		word = get_unaligned_le32(p);
		if ((word & 0xc0) == DW_CFA_advance_loc ||
		    (word & 0xfe) == DW_CFA_advance_loc1) {
			size = 1;
			delta = word & 0x3f;
			if (!(word & 0xc0)) {
				/* DW_CFA_advance_loc1 is 2, and _loc2 is 3. */
				size = word & 3;
				delta = word >> 8 & (size == 2 ? 0xff : 0xffff);
				if (unlikely(size > end - p))
					break;
			}
			/* By nothing: no row ends. Beyond the FDE's end: none begins. */
			if (unlikely(delta - 1 >= left))
				break;
			move = cached(moves, mask, state);
			if (unlikely(move->key != state) &&
			    learn_rule(c, state, move))
				break;
			if (likely(move->to != rule)) {
				*row++ = kuw_found_row(len, rule);
				rule = move->to;
				len = 0;
			}
			len += delta;
			left -= delta;
			p += size;
			/* What follows one is seldom another. */
			if (unlikely(p >= last))
				break;
			word = get_unaligned_le32(p);
		}
		if ((word & 0x80ff) == DW_CFA_def_cfa_offset) {
			state = (u32)state | (u64)(u8)(word >> 8) << 32;
			p += 2;
		} else if ((word & 0x80c0) == DW_CFA_offset) {
			key = (state & 0xffff0000) << 16 | (word & 0xffff);
			move = cached(sets, mask, key);
			if (unlikely(move->key != key) && !learn_set(m, key, move))
				break;
			state = (state & ~0xffff0000ULL) | move->to << 16;
			p += 2;
		} else if ((word & 0x8080ff) == (DW_CFA_def_cfa_offset | 0x8000) &&
			   end - p > 2) {
			/* LEB128 of two bytes. */
			state = (u32)state | (u64)((word >> 8 & 0x7f) |
						   (word >> 9 & 0x3f80)) << 32;
			p += 3;
		} else if (!(word & 0xff)) {
			/* Padding: it comes last, and seldom alone. */
			while (++p < last && !*p)
				;
		} else if ((word & 0xfe) == DW_CFA_remember_state) {
			/* DW_CFA_restore_state is the other one. */
			if (!usual_states(m, word & 0xff, &state))
				break;
			p++;
		} else if ((word & 0xc0) == DW_CFA_restore) {
			key = (state & 0xffff0000) << 16 | m->initial->regs << 16 | (word & 0xff);
			move = cached(sets, mask, key);
			if (unlikely(move->key != key) && !learn_set(m, key, move))
				break;
			state = (state & ~0xffff0000ULL) | move->to << 16;
			p++;
		} else if ((word & 0xff) == DW_CFA_def_cfa_register &&
			   (word >> 8 & 0xff) < regs) {
			state = (state & ~0xff00ULL) | (word & 0xff00);
			p += 2;
		} else if ((word & 0x8000ff) == DW_CFA_def_cfa &&
			   (word >> 8 & 0xff) < regs && end - p > 2) {
			state = (state & 0xffff00ff) | (word & 0xff00) |
				(u64)(word & 0xff0000) << 16;
			p += 3;
		} else {
			break;
		}
	}
	if (p == last && !*p)
		p++;
	c->max_rows += row - found - c->nr_found;
	c->nr_found = row - found;
	c->last_rule = rule;
	set_state(m->cfi, state);
	m->in.p = p;
	m->loc = m->end - left;
	c->last_off = m->loc - len;
}

int kuw_cfi_run(struct kuw_compile *c, struct kuw_cfi *cfi,
		const struct kuw_cfi *initial, const struct kuw_cie *cie,
		struct kuw_cur instrs, u64 *loc, u64 end)
{
	struct machine m = {
		.c = c, .cfi = cfi, .initial = initial, .cie = cie,
		.in = instrs, .loc = *loc, .end = end,
		.words_end = c->eh_frame.bytes + c->eh_frame.len - (sizeof(u32) - 1),
	};
	bool usual;

	/* What offsets are learnt for. */
	usual = initial && cie->code_align == 1 && cie->data_align == -(s64)c->eh_frame.word &&
		c->eh_frame.len >= sizeof(u32);
	/* Each round takes a byte at least. */
	while (kuw_left(&m.in)) {
		/* No row of it is too long for a word. */
		if (usual && usual_cfa(cfi) && m.loc < end &&
		    end - c->last_off < KUW_FOUND_LONG)
			usual_ops(&m);
		if (kuw_left(&m.in))
			one_op(&m);
	}
	if (m.in.bad)
		fail(&m, -EINVAL);
	if (!m.err && initial)
		end_row(&m);
	*loc = m.absolute ? U64_MAX : m.loc;
	return m.err;
}
