// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* The state of a walk at its start. */
#include "apply.h"
#include "budgets.h"

void kuw_state_start(struct kuw_state *w, const struct kuw_port_regs *regs, u32 word)
{
	u32 i;

	kuw_port_fill_regs(regs, w->regs.r);
	w->regs.r[KUW_RA] = kuw_port_ip(regs);
	if (word != KUW_WORD) {
		w->regs.r[KUW_I386_ESI] = w->regs.r[KUW_RSI];
		w->regs.r[KUW_I386_EDI] = w->regs.r[KUW_RDI];
		for (i = 0; i < KUW_NR_REGS; i++)
			w->regs.r[i] = (u32)w->regs.r[i];
	}
	w->regs.known = KUW_KNOWN_ALL;
	w->regs.unknown = false;
	w->regs.word = word;
	w->switches = KUW_MAX_STACK_SWITCHES;
	w->inner = true;
	w->moved = false;
	w->guessed = false;
	w->eh_return = false;
}
