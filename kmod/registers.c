// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * Which user registers can be walked from (x86-64).
 *
 * Each entry from user mode saves the user's registers at the top of the task's stack.
 * Until it has, task_pt_regs() is a mixture of them and of what the entry before left
 * there. Nothing can come in between but an NMI and what the kernel treats like one:
 * interrupts are off. So in all other contexts the registers are whole.
 *
 * In an NMI it depends on where the kernel was interrupted. The entry code begins on the
 * user's stack or on a small one of the CPU's, and gets to the task's stack in the end.
 * It pushes the registers there, or has copied them before. So they are whole if the
 * stack pointer was below them.
 *
 * On the way out they are whole until the task is in user mode, but the stack pointer is
 * where it is on the way in. The two are not told apart: the answer is no for both.
 */
#include <linux/kernel.h>
#include <linux/preempt.h>
#include <linux/ptrace.h>
#include <linux/sched.h>
#include <linux/sched/task_stack.h>
#include <asm/asm.h>
#include <asm/msr.h>
#include <asm/page_types.h>
#include <asm/processor.h>
#include "registers.h"

/*
 * Until it has loaded a stack pointer of the kernel's, code that SYSCALL enters has the
 * user's, which can be any number. These are its instructions, 41 to 57 bytes in 6.12.
 */
#define GAP_BYTES	128

/* Where SYSCALL enters the kernel, of 64-bit and of 32-bit code. */
static unsigned long syscall_entries[2];

/* What the CPU pushes, when it enters the kernel, at the top of a stack of its own. */
struct interrupted {
	unsigned long ip;
	unsigned long cs;
	unsigned long flags;
	unsigned long sp;
	unsigned long ss;
};

/* Return: what was interrupted when the CPU went to the stack that @sp is on, or NULL. */
static const struct interrupted *find_interrupted(unsigned long sp)
{
	const struct x86_hw_tss *tss = &this_cpu_ptr(&cpu_tss_rw)->x86_tss;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(tss->ist); i++)
		if (tss->ist[i] && tss->ist[i] - sp <= EXCEPTION_STKSZ)
			return (const struct interrupted *)tss->ist[i] - 1;
	return NULL;
}

/* Return: whether the stack pointer at @ip can be any number. */
static bool is_in_gap(unsigned long ip)
{
	return ip - syscall_entries[0] < GAP_BYTES ||
	       ip - syscall_entries[1] < GAP_BYTES;
}

/* Whether @sp is on current's stack, and all of the saved registers are above it. */
static bool is_below_registers(unsigned long sp)
{
	unsigned long end = (unsigned long)task_pt_regs(current);

	return sp <= end && sp >= (unsigned long)task_stack_page(current);
}

/*
 * Whether an interrupt was interrupted: it came when the registers were whole. The
 * kernel counts an NMI as an interrupt, too.
 */
static bool is_in_interrupt(void)
{
	return hardirq_count() >> HARDIRQ_SHIFT > in_nmi() >> NMI_SHIFT ||
	       in_serving_softirq();
}

/**
 * kw_registers_are_whole() - whether task_pt_regs(current) are current's user registers
 *
 * While the kernel changes them itself, as it delivers a signal or returns from one, an
 * NMI sees some that are new and some that are old. That is not told.
 *
 * Context: any.
 */
bool kw_registers_are_whole(void)
{
	unsigned long sp = current_stack_pointer;
	const struct interrupted *at;
	unsigned int i;

	if (likely(!in_nmi()) || is_in_interrupt())
		return true;
	/* One of these can have interrupted the entry of another one: each has a stack.
	 * An NMI within an NMI leaves the kernel's copy of the frame alone, but not the
	 * CPU's, which then says that the NMI's stack was interrupted.
	 */
	for (i = 0; !is_below_registers(sp); i++) {
		at = i < ARRAY_SIZE(cpu_tss_rw.x86_tss.ist) ? find_interrupted(sp) : NULL;
		if (!at || is_in_gap(at->ip))
			return false;
		sp = at->sp;
	}
	return true;
}

void kw_registers_init(void)
{
	unsigned int i;
	u64 entry;

	for (i = 0; i < ARRAY_SIZE(syscall_entries); i++)
		if (!rdmsrl_safe(i ? MSR_CSTAR : MSR_LSTAR, &entry))
			syscall_entries[i] = entry;
}
