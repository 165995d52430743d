/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * A row's rules, decoded: how the CFA and each register of the caller follow from the
 * callee's registers (DWARF 5 6.4.1). CFA programs produce this form, and tables store rare
 * rules in it. Frequent rules are struct kuw_rule of table.h, which kuw_table_expand() turns
 * into this form for a walk that follows all registers, and for tools.
 */
#ifndef KUW_RULE_H
#define KUW_RULE_H

#include "kunwind_port.h"
#include "arch/arch.h"

/* How a value is found. The CFA and registers share the encoding. */
enum kuw_how {
	KUW_SAME,	/* the register has the callee's value */
	KUW_UNDEF,	/* the value is lost; for the RA: this is the outermost frame */
	KUW_AT_CFA,	/* mem[CFA + off] */
	KUW_CFA_PLUS,	/* CFA + off */
	KUW_REG,	/* reg + off */
	KUW_MEM,	/* mem[reg + off] + arg */
	KUW_EXPR_MEM,	/* mem[expression]; the CFA is pushed first */
	KUW_EXPR,	/* expression; the CFA is pushed first, unless it is the CFA's */
	KUW_NR_HOWS
};

/* How one value is found. */
struct kuw_loc {
	u8 how;		/* enum kuw_how, which says what the others mean */
	u8 reg;
	u8 target;	/* the compiler's: the register that has this rule; unused for the CFA */
	u8 arg;
	s32 off;	/* for an expression, its place in the pool: see kuw_table_expr() */
};

/* What a table knows about an address. */
enum kuw_rules_kind {
	KUW_RULES_NONE,		/* no FDE, or one without a CFA there */
	KUW_RULES_FRAME,	/* an ordinary frame */
	KUW_RULES_SIGNAL,	/* a signal frame (augmentation "S"); Go's code that nothing calls */
};

/* Everything that a row says. */
struct kuw_rules {
	u32 kind;			/* enum kuw_rules_kind */
	/* KUW_REG, KUW_MEM or KUW_EXPR; without a caller it may be KUW_UNDEF. */
	struct kuw_loc cfa;
	struct kuw_loc reg[KUW_NR_REGS]; /* by DWARF number; [KUW_RA] is the return address */
};

#endif /* KUW_RULE_H */
