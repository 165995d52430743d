// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* The end of a function: see epilogue.h. */
#include "epilogue.h"
#include "budgets.h"

static bool pop(struct kuw_state *w, struct kuw_expr_regs *regs, u32 reg)
{
	/* The code decides where rsp is, and words are aligned. */
	if (regs->r[KUW_RSP] % KUW_WORD ||
	    !kuw_try_word(w, regs->r[KUW_RSP], &regs->r[reg]))
		return false;
	regs->r[KUW_RSP] += KUW_WORD;
	regs->known |= 1u << reg;
	return true;
}

/* Return: the callee-saved register that an instruction pops; KUW_RA if it pops none. */
static u32 popped(u64 code, u32 *len)
{
	*len = (code & 0xff) == 0x41 ? 2 : 1;
	switch (code & (*len == 2 ? 0xffff : 0xff)) {
	case 0x5b:
		return KUW_RBX;
	case 0x5d:
		return KUW_RBP;
	case 0x5c41:
		return KUW_R12;
	case 0x5d41:
		return KUW_R13;
	case 0x5e41:
		return KUW_R14;
	case 0x5f41:
		return KUW_R15;
	}
	return KUW_RA;
}

bool kuw_run_epilogue(struct kuw_state *w, struct kuw_expr_regs *regs)
{
	u64 ip = w->regs.r[KUW_RA], code;
	u32 i, reg, len;

	if (w->regs.word != KUW_WORD)
		return false;
	*regs = w->regs;
	for (i = 0; i < KUW_EPILOGUE_INSNS; i++) {
		if (!kuw_try_user(w, ip, sizeof(code), &code))
			return false;
		if ((code & 0xff) == 0xc3)			/* ret */
			return pop(w, regs, KUW_RA);
		if ((code & 0xffffff) == 0xc48348) {		/* add $imm8,%rsp */
			regs->r[KUW_RSP] += (s8)(code >> 24);
			ip += 4;
			continue;
		}
		reg = popped(code, &len);
		if (reg == KUW_RA || !pop(w, regs, reg))
			return false;
		ip += len;
	}
	return false;
}
