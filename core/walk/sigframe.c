// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* Steps from a signal's restorer without CFI to the interrupted frame. */
#include "step.h"

/* Whether the frame is a signal's restorer, and where the kernel put the registers. */
enum restorer {
	RESTORER_NONE,
	RESTORER_X86_64,	/* rsp points at struct ucontext */
	RESTORER_I386,		/* esp points at the signal's number */
	RESTORER_I386_RT,	/* the same, with two pointers after the number */
};

static enum restorer restorer_at(struct kuw_state *w)
{
	u64 ip = w->regs.r[KUW_RA], lo, hi, seven;

	if (!kuw_try_user(w, ip, 8, &lo) ||
	    w->regs.r[KUW_RSP] & (w->regs.word - 1))
		return RESTORER_NONE;
	seven = lo & ~(0xffULL << 56);
	if (w->regs.word == KUW_WORD)
		return seven == KUW_SHORT_SIGRETURN ||
		       (lo == KUW_SIGRETURN_LO && kuw_try_user(w, ip + 8, 1, &hi) &&
			hi == KUW_SIGRETURN_HI) ? RESTORER_X86_64 : RESTORER_NONE;
	if (lo == KUW_I386_SIGRETURN)
		return RESTORER_I386;
	return seven == KUW_I386_RT_SIGRETURN ? RESTORER_I386_RT : RESTORER_NONE;
}

u32 kuw_step_sigframe(struct kuw_state *w)
{
	const enum restorer restorer = restorer_at(w);
	static const u8 off_64[KUW_NR_REGS] = KUW_SIGFRAME_OFF;
	static const u8 off_32[KUW_NR_REGS] = KUW_I386_SIGCONTEXT_OFF;
	const u8 *off = restorer == RESTORER_X86_64 ? off_64 : off_32;
	u64 at = w->regs.r[KUW_RSP], r[KUW_NR_REGS];
	u32 i;

	if (!restorer)
		return 0;
	if (restorer == RESTORER_I386) {
		at += KUW_I386_SIGFRAME_SC;
	} else if (restorer == RESTORER_I386_RT) {
		if (!kuw_try_word(w, at + KUW_I386_RT_UCONTEXT, &at))
			return KUNWIND_STOP_STACK_FAULT;
		at += KUW_I386_RT_SC;
	}
	for (i = 0; i < KUW_NR_REGS; i++) {
		r[i] = 0;
		/* i386 has fewer registers: the others have no offset. */
		if (off[i] && !kuw_try_word(w, at + off[i], &r[i]))
			return KUNWIND_STOP_STACK_FAULT;
	}
	if (!kuw_may_move(w, r[KUW_RSP], KUW_BY_SIGNAL))
		return KUNWIND_STOP_CFA_BACK;
	if (r[KUW_RA] >= KUW_PORT_USER_END)
		return KUNWIND_STOP_RA_BAD;
	memcpy(w->regs.r, r, sizeof(r));
	w->regs.known = KUW_KNOWN_ALL;
	w->inner = true;
	return KUW_STEPPED;
}
