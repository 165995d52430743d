// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* Steps from a signal's restorer without CFI to the interrupted frame. */
#include "step.h"

/* Seven of eight bytes. */
#define SEVEN	(U64_MAX >> 8)

/* Return: whether rt_sigreturn() starts at @ip: a mov, and the system call. */
static bool is_sigreturn(struct kuw_state *w, u64 ip)
{
	u64 lo, hi;

	return kuw_try_user(w, ip, 8, &lo) &&
	       ((lo & SEVEN) == KUW_SHORT_SIGRETURN ||
		(lo == KUW_SIGRETURN_LO && kuw_try_user(w, ip + 8, 1, &hi) &&
		 hi == KUW_SIGRETURN_HI));
}

/*
 * Return: whether the frame is a restorer's. An interrupted one may be past its mov, or in its
 * system call.
 */
static bool is_restorer(struct kuw_state *w)
{
	u64 ip = w->regs.r[KUW_RA];

	if (is_sigreturn(w, ip))
		return true;
	if (w->syscall)
		ip -= KUW_SYSCALL_LEN;
	else if (!w->inner || !(w->regs.known & 1u << KUW_RAX) ||
		 w->regs.r[KUW_RAX] != KUW_NR_SIGRETURN)
		return false;
	return is_sigreturn(w, ip - KUW_SIGRETURN_MOV) || is_sigreturn(w, ip - KUW_SHORT_MOV);
}

/*
 * The same for i386, only where the restorer starts. *@at is where the kernel has put the
 * registers then. Return: KUW_STEPPED; 0 if it is no restorer; a stop reason.
 */
static u32 find_i386(struct kuw_state *w, u64 *at)
{
	u64 code;

	if (!kuw_try_user(w, w->regs.r[KUW_RA], 8, &code))
		return 0;
	if (code == KUW_I386_SIGRETURN) {
		*at += KUW_I386_SIGFRAME_SC;
		return KUW_STEPPED;
	}
	if ((code & SEVEN) != KUW_I386_RT_SIGRETURN)
		return 0;
	if (!kuw_try_word(w, *at + KUW_I386_RT_UCONTEXT, at))
		return KUNWIND_STOP_STACK_FAULT;
	*at += KUW_I386_RT_SC;
	return KUW_STEPPED;
}

u32 kuw_step_sigframe(struct kuw_state *w)
{
	static const u8 off_64[KUW_NR_REGS] = KUW_SIGFRAME_OFF;
	static const u8 off_32[KUW_NR_REGS] = KUW_I386_SIGCONTEXT_OFF;
	const u8 *off = w->regs.word == KUW_WORD ? off_64 : off_32;
	u64 at = w->regs.r[KUW_RSP], r[KUW_NR_REGS];
	u32 i, ret;

	if (at & (w->regs.word - 1))
		return 0;
	if (w->regs.word == KUW_WORD)
		ret = is_restorer(w) ? KUW_STEPPED : 0;
	else
		ret = find_i386(w, &at);
	if (ret != KUW_STEPPED)
		return ret;
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
