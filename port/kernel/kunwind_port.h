/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * What core/ needs, for the kernel. port/host/kunwind_port.h has the same for host
 * programs.
 */
#ifndef KUNWIND_PORT_H
#define KUNWIND_PORT_H

#include <linux/build_bug.h>
#include <linux/compiler.h>
#include <linux/errno.h>
#include <linux/limits.h>
#include <linux/mm_types.h>
#include <linux/nospec.h>
#include <linux/sched.h>
#include <linux/string.h>
#include <linux/types.h>
#include <linux/uaccess.h>
#include <linux/unaligned.h>
#include <asm/cpufeature.h>
#include <asm/fsgsbase.h>
#include <asm/ptrace.h>
#include <uapi/linux/kunwind.h>

/* Nothing clears the variable, as CONFIG_INIT_STACK_ALL_ZERO does. */
#define kuw_port_uninitialized	__attribute__((__uninitialized__))

/* The first address that no user frame can have. */
#define KUW_PORT_USER_END	TASK_SIZE_MAX

/* The registers of the innermost frame. */
#define kuw_port_regs		pt_regs

/* @index, or 0 if it is not below @size, without a branch that can be mispredicted. */
static __always_inline u64 kuw_port_index(u64 index, u64 size)
{
	return array_index_nospec(index, size);
}

static inline u64 kuw_port_ip(const struct pt_regs *regs)
{
	return regs->ip;
}

static inline u64 kuw_port_sp(const struct pt_regs *regs)
{
	return regs->sp;
}

static inline u64 kuw_port_bp(const struct pt_regs *regs)
{
	return regs->bp;
}

/* In kmod/registers.c. */
bool kw_is_fred_call(const struct pt_regs *regs);

/*
 * Return: whether the thread is in a system call. The instruction before ip has put that into rcx,
 * unless the CPU has FRED. In an interrupt or an exception, orig_ax is negative.
 */
static inline bool kuw_port_in_syscall(const struct pt_regs *regs)
{
	return (long)regs->orig_ax >= 0 && (regs->cx == regs->ip || kw_is_fred_call(regs));
}

/* All general registers, in DWARF's order (psABI x86-64, figure 3.36). */
static inline void kuw_port_fill_regs(const struct pt_regs *regs, u64 r[16])
{
	r[0] = regs->ax;
	r[1] = regs->dx;
	r[2] = regs->cx;
	r[3] = regs->bx;
	r[4] = regs->si;
	r[5] = regs->di;
	r[6] = regs->bp;
	r[7] = regs->sp;
	r[8] = regs->r8;
	r[9] = regs->r9;
	r[10] = regs->r10;
	r[11] = regs->r11;
	r[12] = regs->r12;
	r[13] = regs->r13;
	r[14] = regs->r14;
	r[15] = regs->r15;
}

/*
 * Between these two, kuw_port_read_open() can read user memory. Only inline functions may
 * be called there, as objtool checks. The caller of kuw_walk() has disabled page faults,
 * and has made sure that this context may read user memory. Addresses are checked here.
 */
static __always_inline void kuw_port_open(void)
{
	__uaccess_begin_nospec();
}

/* The same again, where no mispredicted branch since kuw_port_close() can have loaded a secret. */
static __always_inline void kuw_port_reopen(void)
{
	__uaccess_begin();
}

/* Later loads wait until it is known where all earlier branches lead. */
static __always_inline void kuw_port_barrier(void)
{
	barrier_nospec();
}

static __always_inline void kuw_port_close(void)
{
	user_read_access_end();
}

/*
 * Read one aligned word of user memory, between kuw_port_open() and kuw_port_close(). Only
 * kuw_port_open() has a barrier, and a mispredicted walk must not read kernel memory either.
 * So no branch checks the address. One that is not the user's becomes @user_end, where Linux
 * maps nothing, and reading that fails. get_user() of Linux 6.13 does the same.
 *
 * @user_end is KUW_PORT_USER_END. It is an argument, as getting it takes two instructions
 * each time: task_size_max() is patched, and constant only without CONFIG_X86_5LEVEL.
 *
 * Return: 0, or -EFAULT.
 */
static __always_inline int kuw_port_read_open(u64 addr, u64 user_end, u64 *word)
{
	asm("cmp %1, %0\n\tcmova %1, %0" : "+r" (addr) : "r" (user_end) : "cc");
	unsafe_get_user(*word, (const u64 __user *)addr, fault);
	return 0;
fault:
	return -EFAULT;
}

/* Read one aligned word of user memory, alone. Return: 0, or -EFAULT. */
static inline int kuw_port_read(u64 addr, u64 *word)
{
	int ret;

	kuw_port_open();
	ret = kuw_port_read_open(addr, KUW_PORT_USER_END, word);
	kuw_port_close();
	return ret;
}

/* The first word of the process's stack, where execve() put argc. */
static inline u64 kuw_port_stack_start(void)
{
	return READ_ONCE(current->mm->start_stack);
}

/*
 * Find the return address that a uretprobe replaced at @slot. Return: whether one did.
 *
 * During a return, the list of current->utask starts with entries that the kernel has freed
 * already (handle_trampoline()). So read it as memory that may fault, and believe only an
 * entry that names the slot.
 */
bool kw_uretprobe(u64 slot, u64 *ra);
/* The task whose stack the current walk walks. In kmod/walk_place.c. */
const struct task_struct *kw_walked_task(void);
#define kuw_port_uretprobe	kw_uretprobe

/*
 * Return: the address that the thread's fs leads to. The kernel leaves fs alone, and saves it when
 * the thread leaves the CPU. A program can change it by itself only if the CPU has FSGSBASE.
 */
static inline u64 kuw_port_fs(void)
{
	const struct task_struct *task = kw_walked_task();

	if (task == current && boot_cpu_has(X86_FEATURE_FSGSBASE))
		return rdfsbase();
	return READ_ONCE(task->thread.fsbase);
}

#endif /* KUNWIND_PORT_H */
