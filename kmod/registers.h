/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* Whether the saved user registers are whole, or those of a new program. */
#ifndef KW_REGISTERS_H
#define KW_REGISTERS_H

#include <linux/compiler.h>
#include <linux/preempt.h>
#include <linux/types.h>

struct pt_regs;

void kw_registers_init(void);
bool kw_registers_are_new(const struct pt_regs *regs);
bool kw_registers_are_whole_in_nmi(void);

/*
 * Whether task_pt_regs(current) are current's user registers. When the kernel itself changes the
 * registers, to deliver a signal or to return from one, it does so with interrupts on. An
 * interrupt or an NMI can see a mixture of new and old ones. This function cannot detect that.
 *
 * Context: any.
 * Return: false if they are not, or if that is not known.
 */
static inline bool kw_registers_are_whole(void)
{
	return likely(!in_nmi()) || kw_registers_are_whole_in_nmi();
}

#endif /* KW_REGISTERS_H */
