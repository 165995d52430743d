// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * Whether the saved user registers are whole, so that a walk can start from them (x86-64).
 *
 * Each entry from user mode saves the user's registers at the top of the task's stack.
 * Before it has finished, task_pt_regs() is a mixture of these registers and of what the
 * previous entry left there. Interrupts are off meanwhile. So only an NMI, or an exception
 * that the kernel treats like one, can see the mixture. In all other contexts the
 * registers are whole.
 *
 * In an NMI it depends on where the kernel was interrupted. The entry code starts on the
 * user's stack or on a small stack of the CPU, and then switches to the task's stack. It
 * pushes the registers there, or has copied them before the switch. With FRED (Linux 6.9), the
 * CPU itself has switched to the task's stack. So the registers are whole if the stack pointer
 * was below them.
 *
 * The way out looks like the way in: the registers are whole until the task is in user
 * mode, but the stack pointer is no longer below them, and at last the user's. The code
 * does not tell the two apart, and says that the registers are not whole.
 */
#include <linux/kernel.h>
#include <linux/mm_types.h>
#include <linux/preempt.h>
#include <linux/ptrace.h>
#include <linux/sched.h>
#include <linux/sched/task_stack.h>
#include <linux/uaccess.h>
#include <asm/asm.h>
#include <asm/cpufeature.h>
#include <asm/fred.h>
#include <asm/page_types.h>
#include <asm/processor.h>
#include "compat/msr.h"
#include "registers.h"
#include "walk.h"

/*
 * SYSCALL does not change the stack pointer. Until the entry code has loaded one of the
 * kernel's, the stack pointer is the user's, and can be any number. Those first
 * instructions take 41 to 57 bytes in 6.12.
 */
#define GAP_BYTES	128

/* Where SYSCALL enters the kernel, of 64-bit and of 32-bit code. */
static unsigned long syscall_entries[2];

/* What the CPU pushes for an interrupt, at the top of the interrupt's own stack. */
struct interrupted {
	unsigned long ip;
	unsigned long cs;
	unsigned long flags;
	unsigned long sp;
	unsigned long ss;
};

/* The stacks of a CPU that it switches to: those of the TSS, or of FRED's levels 1 to 3. */
#define NR_STACKS	ARRAY_SIZE(cpu_tss_rw.x86_tss.ist)
#define NR_FRED_STACKS	3
/* What FRED pushes above struct interrupted: data of the event, and a null word. */
#define FRED_BYTES	16

/*
 * Return: where struct interrupted ends on this CPU's stack @i; 0 if it has none. Other functions
 * of the kernel that read an MSR cause an event, and a tracer of that would walk again.
 */
static unsigned long end_of_interrupted(unsigned int i)
{
	if (!cpu_feature_enabled(X86_FEATURE_FRED))
		return this_cpu_read(cpu_tss_rw.x86_tss.ist[i]);
	return i < NR_FRED_STACKS ? __rdmsr(MSR_IA32_FRED_RSP1 + i) - FRED_BYTES : 0;
}

/*
 * Find what was interrupted when the CPU switched to the stack of @sp. SYSRET leaves the stack
 * pointer to the program one instruction before, so it can be any number, and not all of these
 * stacks are mapped. Return: false if @sp is on none of them.
 */
static bool find_interrupted(unsigned long sp, struct interrupted *at)
{
	unsigned long end;
	unsigned int i;

	for (i = 0; i < NR_STACKS; i++) {
		end = end_of_interrupted(i);
		if (end && end - sp <= EXCEPTION_STKSZ)
			return !copy_from_kernel_nofault(at, (void *)(end - sizeof(*at)),
							 sizeof(*at));
	}
	return false;
}

/* Whether the stack pointer at @ip can be any number. */
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
 * Whether the NMI interrupted an interrupt, which can only come when the registers are
 * whole. hardirq_count() counts NMIs, too: leave those out.
 */
static bool is_in_interrupt(void)
{
	return hardirq_count() >> HARDIRQ_SHIFT > in_nmi() >> NMI_SHIFT ||
	       in_serving_softirq();
}

/* kw_registers_are_whole(), in an NMI. */
bool kw_registers_are_whole_in_nmi(void)
{
	unsigned long sp = current_stack_pointer;
	struct interrupted at;
	unsigned int i;

	if (is_in_interrupt())
		return true;
	/*
	 * NMIs, debug exceptions and machine checks can interrupt one another's entry. Each
	 * has its own stack, so follow the frames from stack to stack. An NMI within an NMI
	 * overwrites the frame that the CPU pushed, but not the kernel's copy. The CPU's frame
	 * then leads to the NMI's own stack again, so the loop needs a bound.
	 */
	for (i = 0; !is_below_registers(sp); i++) {
		if (i == NR_STACKS || !find_interrupted(sp, &at) || is_in_gap(at.ip))
			return false;
		sp = at.sp;
	}
	return true;
}

/*
 * Whether these registers, whose orig_ax has the number of a system call, are those of the call, on
 * a CPU with FRED. When a signal's handler is about to start, orig_ax still has it, but ip is
 * elsewhere. Context: a walk.
 */
bool kw_is_fred_call(const struct pt_regs *regs)
{
	u16 insn;

	return cpu_feature_enabled(X86_FEATURE_FRED) &&
	       !copy_from_user_nofault(&insn, (void __user *)regs->ip - sizeof(insn),
				       sizeof(insn)) &&
	       insn == KUW_SYSCALL_INSN;
}

/*
 * Whether current is in execve(), and no instruction of the new program has run. Its first
 * snapshot follows at the end of execve(), but its stack is known: there is no caller yet.
 * execve() sets all registers to 0 (elf_common_init()), except the two of start_thread().
 * Before that, while the mm is already the new one, the registers are not all 0: the entry of
 * the system call has set ax to -ENOSYS.
 */
bool kw_registers_are_new(const struct pt_regs *regs)
{
	return regs->sp == READ_ONCE(current->mm->start_stack) &&
	       !(regs->ax | regs->bx | regs->cx | regs->dx | regs->si | regs->di |
		 regs->bp | regs->r8 | regs->r9 | regs->r10 | regs->r11 |
		 regs->r12 | regs->r13 | regs->r14 | regs->r15);
}

void kw_registers_init(void)
{
	unsigned int i;
	u64 entry;

	for (i = 0; i < ARRAY_SIZE(syscall_entries); i++)
		if (!rdmsrq_safe(i ? MSR_CSTAR : MSR_LSTAR, &entry))
			syscall_entries[i] = entry;
}
