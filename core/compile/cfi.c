// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * CFA programs (DWARF 5 6.4.2, LSB Core 10.6.2 for the GNU extensions).
 * Rules of registers beyond KUW_NR_REGS (vector registers, which some ABIs save) are
 * parsed and ignored: no walk needs them.
 */
#include "cfi.h"
#include "expr.h"
#include "budgets.h"

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
	DW_CFA_GNU_args_size = 0x2e, DW_CFA_GNU_negative_offset_extended,
	DW_CFA_advance_loc = 0x40, DW_CFA_offset = 0x80, DW_CFA_restore = 0xc0,
};

/* One run of a program. */
struct machine {
	const struct kuw_cfi_run *run;
	struct kuw_cfi cfi;
	const struct kuw_cfi *initial;	/* for DW_CFA_restore; NULL while a CIE's program runs */
	const struct kuw_cie *cie;
	struct kuw_cur in;		/* the remaining instructions */
	u64 loc;			/* where the row starts: an offset from the table's base */
	u64 end;			/* where the FDE ends */
	u32 nr_states;			/* how many states are remembered */
	int err;			/* the first error */
};

/* The first error stays; 0 is none. */
static inline void fail(struct machine *m, int err)
{
	if (!err)
		return;
	if (!m->err)
		m->err = err;
	kuw_fail(&m->in);
}

static s32 fit(struct machine *m, s64 off)
{
	if (off != (s32)off)
		fail(m, -EOPNOTSUPP);
	return off;
}

/* Return: an offset in units of the CIE's factor. */
static s32 scaled(struct machine *m, s64 factor)
{
	s64 off;

	if (__builtin_mul_overflow(factor, m->cie->data_align, &off))
		fail(m, -EOPNOTSUPP);
	return fit(m, off);
}

/* The row that ends here is complete. After its end, an FDE has no rows. */
static inline void end_row(struct machine *m)
{
	struct kuw_loc cfa = m->cfi.cfa;
	u32 rule = 0;

	if (m->loc >= m->end)
		return;
	/* As in libgcc, an expression stays in force. */
	if (!m->cfi.cfa_expr)
		cfa.off = m->cfi.cfa_off;
	fail(m, kuw_intern_rule(m->run->intern, cfa, m->cfi.regs, m->cie->signal, &rule));
	kuw_found_add(m->run->found, m->loc, rule);
}

static inline void move_to(struct machine *m, u64 loc)
{
	/* A CIE's program describes no location, and no program goes back. */
	if (!m->initial || loc < m->loc) {
		fail(m, -EINVAL);
		return;
	}
	end_row(m);
	m->loc = loc;
}

/* Return: the place of a register number: KUW_NR_REGS or more if no walk needs the register. */
static u64 place(const struct machine *m, u64 number)
{
	return kuw_place_of(m->run->section->word, number);
}

static u64 take_reg(struct machine *m)
{
	return place(m, kuw_uleb(&m->in));
}

static void set_cfa(struct machine *m, u64 reg, s32 off)
{
	if (reg >= KUW_RA) {
		fail(m, -EOPNOTSUPP);
		return;
	}
	m->cfi.cfa = (struct kuw_loc){ .how = KUW_REG, .reg = reg };
	m->cfi.cfa_off = off;
	m->cfi.cfa_expr = false;
}

/*
 * DW_CFA_def_cfa_register and _offset change half of a rule. The standard allows them
 * only if the rule is a register and an offset. The assembly of OpenSSL and libgcrypt
 * uses def_cfa_register after an expression, and means the last offset before that.
 */
static void set_cfa_reg(struct machine *m, u64 reg)
{
	if (m->cfi.cfa.how == KUW_UNDEF)
		fail(m, -EINVAL);
	else
		set_cfa(m, reg, m->cfi.cfa_off);
}

static void set_cfa_off(struct machine *m, s32 off)
{
	if (m->cfi.cfa.how == KUW_UNDEF)
		fail(m, -EINVAL);
	m->cfi.cfa_off = off;
}

/* Set the rule of @reg to @loc, to which this function adds the target. */
static void set_reg(struct machine *m, u64 reg, struct kuw_loc loc)
{
	if (reg >= KUW_NR_REGS)
		return;
	loc.target = reg;
	fail(m, kuw_intern_set(m->run->intern, &m->cfi.regs, loc));
}

static void set_off(struct machine *m, u64 reg, u8 how, s32 off)
{
	set_reg(m, reg, (struct kuw_loc){ .how = how, .off = off });
}

static void set_from_reg(struct machine *m, u64 reg, u64 from)
{
	if (from < KUW_NR_REGS)
		set_reg(m, reg, (struct kuw_loc){ .how = KUW_REG, .reg = from });
	else if (reg == KUW_RA || reg == KUW_RSP)
		fail(m, -EOPNOTSUPP);
	else
		/* No walk knows that register, but it can do without the other one. */
		set_off(m, reg, KUW_UNDEF, 0);
}

static void restore(struct machine *m, u64 reg)
{
	if (!m->initial)
		fail(m, -EINVAL);
	else if (reg < KUW_NR_REGS)
		set_reg(m, reg, kuw_intern_get(m->run->intern, m->initial->regs,
					       kuw_port_index(reg, KUW_NR_REGS)));
}

/* Take an expression. Return: a loc of kind @how, or one of a simpler kind. */
static struct kuw_loc take_expr(struct machine *m, u8 how)
{
	struct kuw_loc value = { .how = KUW_SAME };
	u64 len = kuw_uleb(&m->in);
	const u8 *bytes = kuw_bytes(&m->in, len);
	s32 off = 0;

	if (!bytes)
		return value;
	if (!kuw_expr_check(bytes, len, m->run->section->word)) {
		fail(m, -EOPNOTSUPP);
		return value;
	}
	if (kuw_expr_simplify(bytes, len, m->run->section->word, &value)) {
		if (how == KUW_EXPR)
			return value;
		/* The address is reg + off: the register is stored there. */
		if (value.how == KUW_REG) {
			value.how = KUW_MEM;
			return value;
		}
	}
	fail(m, kuw_intern_expr(m->run->intern, bytes, len, &off));
	return (struct kuw_loc){ .how = how, .off = off };
}

static void set_expr(struct machine *m, u64 reg, u8 how)
{
	if (reg < KUW_NR_REGS)
		set_reg(m, reg, take_expr(m, how));
	else
		kuw_bytes(&m->in, kuw_uleb(&m->in));
}

static void remember(struct machine *m)
{
	struct kuw_areas *areas = m->run->intern->areas;
	struct kuw_cfi *states;
	int err = -EOPNOTSUPP;

	if (m->nr_states < KUW_MAX_STATES)
		err = kuw_area_room(areas, KUW_AREA_STATES, (m->nr_states + 1) * sizeof(*states));
	if (err) {
		fail(m, err);
		return;
	}
	states = kuw_area(areas, KUW_AREA_STATES);
	states[m->nr_states++] = m->cfi;
}

/* The CFA's rule is part of the state, as GCC and LLVM assume. */
static void restore_state(struct machine *m)
{
	struct kuw_cfi *states = kuw_area(m->run->intern->areas, KUW_AREA_STATES);

	if (!m->nr_states) {
		fail(m, -EINVAL);
		return;
	}
	m->cfi = states[--m->nr_states];
}

/* Return: the location @delta code units after the current one. */
static u64 after(struct machine *m, u64 delta)
{
	u64 loc;

	if (__builtin_mul_overflow(delta, m->cie->code_align, &delta) ||
	    __builtin_add_overflow(delta, m->loc, &loc)) {
		fail(m, -EINVAL);
		return m->loc;
	}
	return loc;
}

/* Return: the location after an instruction, which most leave alone. */
static u64 one_op(struct machine *m)
{
	struct kuw_cur *in = &m->in;
	u8 op = kuw_u8(in);
	u64 reg;

	switch (op) {
	/* Three have an operand in the opcode's byte. */
	case DW_CFA_advance_loc ... DW_CFA_advance_loc + 0x3f:
		return after(m, op & 0x3f);
	case DW_CFA_offset ... DW_CFA_offset + 0x3f:
		set_off(m, place(m, op & 0x3f), KUW_AT_CFA, scaled(m, kuw_uleb(in)));
		break;
	case DW_CFA_restore ... DW_CFA_restore + 0x3f:
		restore(m, place(m, op & 0x3f));
		break;
	case DW_CFA_nop:
		break;
	case DW_CFA_def_cfa_offset:
		set_cfa_off(m, fit(m, kuw_uleb(in)));
		break;
	case DW_CFA_advance_loc1:
		return after(m, kuw_u8(in));
	case DW_CFA_advance_loc2:
		return after(m, kuw_u16(in));
	case DW_CFA_advance_loc4:
		return after(m, kuw_u32(in));
	case DW_CFA_MIPS_advance_loc8:
		return after(m, kuw_u64(in));
	case DW_CFA_set_loc:
		return kuw_read_encoded(in, m->cie->enc, m->run->section) - m->run->base;
	case DW_CFA_def_cfa:
		reg = take_reg(m);
		set_cfa(m, reg, fit(m, kuw_uleb(in)));
		break;
	case DW_CFA_def_cfa_sf:
		reg = take_reg(m);
		set_cfa(m, reg, scaled(m, kuw_sleb(in)));
		break;
	case DW_CFA_def_cfa_register:
		set_cfa_reg(m, take_reg(m));
		break;
	case DW_CFA_def_cfa_offset_sf:
		set_cfa_off(m, scaled(m, kuw_sleb(in)));
		break;
	case DW_CFA_def_cfa_expression:
		m->cfi.cfa = take_expr(m, KUW_EXPR);
		m->cfi.cfa_expr = true;
		break;
	case DW_CFA_remember_state:
		remember(m);
		break;
	case DW_CFA_restore_state:
		restore_state(m);
		break;
	case DW_CFA_restore_extended:
		restore(m, take_reg(m));
		break;
	case DW_CFA_undefined:
	case DW_CFA_same_value:
		set_off(m, take_reg(m), op == DW_CFA_undefined ? KUW_UNDEF : KUW_SAME, 0);
		break;
	case DW_CFA_register:
		reg = take_reg(m);
		set_from_reg(m, reg, take_reg(m));
		break;
	case DW_CFA_offset_extended:
	case DW_CFA_val_offset:
		reg = take_reg(m);
		set_off(m, reg, op == DW_CFA_val_offset ? KUW_CFA_PLUS : KUW_AT_CFA,
			scaled(m, kuw_uleb(in)));
		break;
	case DW_CFA_offset_extended_sf:
	case DW_CFA_val_offset_sf:
		reg = take_reg(m);
		set_off(m, reg, op == DW_CFA_val_offset_sf ? KUW_CFA_PLUS : KUW_AT_CFA,
			scaled(m, kuw_sleb(in)));
		break;
	case DW_CFA_GNU_negative_offset_extended:
		reg = take_reg(m);
		set_off(m, reg, KUW_AT_CFA, scaled(m, 0 - kuw_uleb(in)));
		break;
	case DW_CFA_expression:
	case DW_CFA_val_expression:
		reg = take_reg(m);
		set_expr(m, reg, op == DW_CFA_expression ? KUW_EXPR_MEM : KUW_EXPR);
		break;
	case DW_CFA_GNU_args_size:
		/* Only exception handling needs this. */
		kuw_uleb(in);
		break;
	default:
		fail(m, -EOPNOTSUPP);
		break;
	}
	return m->loc;
}

static int run_program(struct machine *m)
{
	u64 loc;

	/* Each instruction consumes at least one byte. */
	while (kuw_left(&m->in)) {
		loc = one_op(m);
		if (loc != m->loc)
			move_to(m, loc);
	}
	if (!kuw_good(&m->in))
		return m->err ?: -EINVAL;
	/* The last row ends with the FDE. */
	end_row(m);
	return m->err;
}

int kuw_cfi_cie(const struct kuw_cfi_run *run, const struct kuw_cie *cie,
		struct kuw_cfi *cfi)
{
	struct machine m = {
		.run = run, .cie = cie, .in = cie->instrs,
		.cfi = { .cfa = { .how = KUW_UNDEF } },
	};
	int ret = run_program(&m);

	*cfi = m.cfi;
	return ret;
}

int kuw_cfi_fde(const struct kuw_cfi_run *run, const struct kuw_cie *cie,
		const struct kuw_cfi *initial, struct kuw_cur instrs, u64 start, u64 end)
{
	/* With all members here, nothing is cleared before: for that, gcc takes a slow rep stos. */
	struct machine m = {
		.run = run, .cie = cie, .in = instrs, .cfi = *initial,
		.initial = initial, .loc = start, .end = end, .nr_states = 0, .err = 0,
	};

	/*
	 * A row has two words at most. Each but the first takes two bytes: one advances to it, one
	 * changes the rule. KUW_FOUND_ROOM is for the first one, and for kuw_found_end(), which
	 * does not come after an error. (One row, of rule 0, can come with an error.)
	 */
	return kuw_found_room(run->found, kuw_left(&instrs) + KUW_FOUND_ROOM) ?: run_program(&m);
}
