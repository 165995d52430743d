// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * CFA programs (DWARF 5 6.4.2, LSB Core 10.6.2 for the GNU extensions).
 * Rules of registers beyond KUW_NR_REGS (vector registers, which some ABIs save) are
 * parsed and ignored: no walk needs them.
 */
#include "expr.h"
#include "limits.h"
#include "machine.h"

/* The first error stays. */
static void fail(struct kuw_machine *m, int err)
{
	if (!m->err)
		m->err = err;
	kuw_fail(&m->in);
}

static s32 fit(struct kuw_machine *m, s64 off)
{
	if (unlikely(off != (s32)off))
		fail(m, -EOPNOTSUPP);
	return off;
}

static s32 scaled(struct kuw_machine *m, s64 factor, s64 align)
{
	s64 off;

	if (unlikely(__builtin_mul_overflow(factor, align, &off)))
		fail(m, -EOPNOTSUPP);
	return fit(m, off);
}

/* The row that ends here is complete. */
static void end_row(struct kuw_machine *m)
{
	u32 rule = 0;
	int err;

	/* After its end, an FDE has no rows. */
	if (m->loc >= m->end)
		return;
	err = kuw_intern_rule(m->c, m->cfi, &rule);
	if (!err)
		err = kuw_compile_append(m->c, m->loc, rule);
	if (unlikely(err))
		fail(m, err);
}

static void move_to(struct kuw_machine *m, u64 loc)
{
	/* A CIE's program describes no location. */
	if (unlikely(!m->initial)) {
		fail(m, -EINVAL);
		return;
	}
	end_row(m);
	m->loc = loc;
}

static void advance(struct kuw_machine *m, u64 delta)
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

static void set_loc(struct kuw_machine *m)
{
	u64 to = kuw_read_encoded(&m->in, m->cie->enc, &m->c->eh_frame, 0) -
		 m->c->base;

	m->absolute = true;
	if (to < m->loc)
		fail(m, -EINVAL);
	else if (to > m->loc)
		move_to(m, to);
}

static u64 place(const struct kuw_machine *m, u64 reg)
{
	return kuw_section_reg(&m->c->eh_frame, reg);
}

static void set_cfa(struct kuw_machine *m, u64 reg, s32 off)
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
 * DW_CFA_def_cfa_register and _offset change half of a rule. The standard allows them
 * only if the rule is a register and an offset. The assembly of OpenSSL and libgcrypt
 * uses def_cfa_register after an expression, and means the last offset before that.
 */
static void set_cfa_reg(struct kuw_machine *m, u64 reg)
{
	if (kuw_loc_how(m->cfi->cfa) == KUW_UNDEF)
		fail(m, -EINVAL);
	else
		set_cfa(m, reg, m->cfi->cfa_off);
}

static void set_cfa_off(struct kuw_machine *m, s32 off)
{
	if (kuw_loc_how(m->cfi->cfa) == KUW_UNDEF)
		fail(m, -EINVAL);
	m->cfi->cfa_off = off;
	/* As in libgcc, an expression stays in force. */
	if (m->cfi->cfa_expr)
		return;
	m->cfi->cfa = (u32)m->cfi->cfa | (u64)(u32)off << 32;
}

/* Set the rule of @reg to @loc, to which this function adds the target. */
static void set_reg(struct kuw_machine *m, u64 reg, u64 loc)
{
	int err;

	reg = place(m, reg);
	if (reg >= KUW_NR_REGS)
		return;
	err = kuw_intern_set(m->c, &m->cfi->regs, reg, loc | reg << 16);
	if (unlikely(err))
		fail(m, err);
}

static void set_off(struct kuw_machine *m, u64 reg, u8 how, s32 off)
{
	set_reg(m, reg, kuw_loc_pack(how, 0, 0, off));
}

static void set_from_reg(struct kuw_machine *m, u64 reg, u64 from)
{
	from = place(m, from);
	if (from >= KUW_NR_REGS)
		fail(m, -EOPNOTSUPP);
	else
		set_reg(m, reg, kuw_loc_pack(KUW_REG, from, 0, 0));
}

static void restore(struct kuw_machine *m, u64 reg)
{
	if (!m->initial)
		fail(m, -EINVAL);
	else if (place(m, reg) < KUW_NR_REGS)
		set_reg(m, reg, kuw_intern_get(m->c, m->initial->regs,
					       place(m, reg)));
}

/* Take an expression. Return: a loc of kind @how, or one of a simpler kind. */
static u64 take_expr(struct kuw_machine *m, u8 how)
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

static void remember(struct kuw_machine *m)
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

/* The CFA's rule is part of the state, as GCC and LLVM assume. */
static void restore_state(struct kuw_machine *m)
{
	struct kuw_cfi *states = m->c->areas[KUW_AREA_STATES].mem;

	if (!m->nr_states) {
		fail(m, -EINVAL);
		return;
	}
	*m->cfi = states[--m->nr_states];
}

static void rare_op(struct kuw_machine *m, u8 op)
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
		/* Only exception handling needs this. */
		kuw_uleb(in);
		break;
	case DW_CFA_GNU_window_save:
		/* SPARC: register windows; arm64: signed return addresses. */
	default:
		fail(m, -EOPNOTSUPP);
		break;
	}
}

/* Instructions that are not rare, except the three with an operand in the opcode's byte. */
static void other_op(struct kuw_machine *m, u8 op)
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

static void one_op(struct kuw_machine *m)
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

/* Run usual instructions. Return: whether the program and its last row have ended. */
static bool usual_ops(struct kuw_machine *m)
{
	struct kuw_compile *c = m->c;
	u32 found = c->nr_found;
	struct kuw_usual u = {
		.p = m->in.p, .end = m->in.end,
		.state = kuw_usual_state(m->cfi, c->signal),
		.left = m->end - m->loc, .len = m->loc - c->last_off,
		.rule = c->last_rule, .initial = m->initial->regs,
		.nr_states = m->nr_states,
	};
	bool ended = kuw_usual_ops(c, &u);

	m->loc = m->end - u.left;
	c->last_off = m->loc - u.len;
	c->last_rule = u.rule;
	c->max_rows += c->nr_found - found;
	if (ended)
		return true;
	m->in.p = u.p;
	m->nr_states = u.nr_states;
	kuw_set_usual_state(m->cfi, u.state);
	if (u.err)
		fail(m, u.err);
	return false;
}

int kuw_cfi_run(struct kuw_compile *c, struct kuw_cfi *cfi,
		const struct kuw_cfi *initial, const struct kuw_cie *cie,
		struct kuw_cur instrs, u64 *loc, u64 end)
{
	struct kuw_machine m = {
		.c = c, .cfi = cfi, .initial = initial, .cie = cie,
		.in = instrs, .loc = *loc, .end = end,
	};
	bool usual, ended = false;

	/*
	 * kuw_usual_ops() caches offsets that are scaled by the usual alignments. It reads
	 * whole words: the section has room for one, as its CIE alone is longer.
	 */
	usual = initial && cie->usual;
	/* Each round consumes at least one byte. */
	while (kuw_left(&m.in)) {
		/* Only if no row can be too long for a word. */
		if (usual && kuw_usual_cfa(cfi) && m.loc < end &&
		    end - c->last_off < KUW_FOUND_LAST)
			ended = usual_ops(&m);
		if (likely(ended))
			goto out;
		if (kuw_left(&m.in))
			one_op(&m);
	}
	if (m.in.bad)
		fail(&m, -EINVAL);
	if (!m.err && initial)
		end_row(&m);
out:
	*loc = m.absolute ? U64_MAX : m.loc;
	return m.err;
}
