// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * Hooks: ftrace on perf_event_mmap(), mprotect_fixup(), copy_vma(),
 * vma_merge_extend(), exit_mmap() and wake_up_new_task(). They only
 * mark what happened, and allocate nothing; the task itself does the work (work.c).
 *
 * The kernel reaches these places in process context only. FTRACE_OPS_FL_RECURSION
 * makes ftrace call through its helper, which stops recursion and disables
 * preemption, so that unregister_ftrace_function() waits for running callbacks.
 */
#include <linux/init.h>
#include <linux/mm.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>
#include <kunwind/redirect.h>
#include "compat/ftrace.h"
#include "consumer.h"
#include "coverage.h"
#include "redirect.h"
#include "work.h"

/*
 * Anonymous executable memory (mostly JIT code) has no table. It matters only
 * where it replaces something that has one. A file always matters, and so does a
 * special mapping of the kernel, which has vm_ops.
 */
static bool is_relevant(const struct kw_space *space, const struct vm_area_struct *vma,
			u64 start, u64 end)
{
	return (vma->vm_flags & VM_EXEC && (vma->vm_file || vma->vm_ops)) ||
	       kw_space_cares(space, start, end);
}

/* @task has @mm. It is current, or a child that does not run yet. */
static struct kw_space *obtain(struct mm_struct *mm, const struct task_struct *task)
{
	return kw_space_obtain(mm, task->tgid, task_uid(task), true);
}

static void note(struct vm_area_struct *vma, u64 start, u64 end, bool moved)
{
	struct kw_space *space;

	/* During execve(), the kernel maps the new stack before the mm is the task's. */
	if (vma->vm_mm != current->mm || (current->flags & PF_KTHREAD))
		return;
	space = obtain(vma->vm_mm, current);
	if (!space)
		return;
	if (is_relevant(space, vma, start, end)) {
		kw_space_event(space, vma, start, end, moved);
		kw_work_queue(current, space, start, end);
	}
	kw_space_put(space);
}

/* void perf_event_mmap(struct vm_area_struct *vma), mmap_lock held for writing */
static void on_mmap(unsigned long ip, unsigned long parent_ip,
		    struct ftrace_ops *ops, struct ftrace_regs *fregs)
{
	struct vm_area_struct *vma = (void *)ftrace_regs_get_argument(fregs, 0);

	if (vma->vm_flags & VM_EXEC)
		note(vma, vma->vm_start, vma->vm_end, false);
}

/*
 * int mprotect_fixup(struct vma_iterator *vmi, struct mmu_gather *tlb, struct
 * vm_area_struct *vma, struct vm_area_struct **pprev, unsigned long start, unsigned
 * long end, unsigned long newflags), mmap_lock held for writing; from mprotect().
 * Its perf_event_mmap() comes when the pages are executable already. If the snapshot
 * has something else at these addresses, it would be wrong in between.
 */
static void on_protect(unsigned long ip, unsigned long parent_ip,
		       struct ftrace_ops *ops, struct ftrace_regs *fregs)
{
	struct vm_area_struct *vma =
		(void *)ftrace_regs_get_argument(fregs, KW_MPROTECT_TLB + 1);
	u64 start = ftrace_regs_get_argument(fregs, KW_MPROTECT_TLB + 3);
	u64 end = ftrace_regs_get_argument(fregs, KW_MPROTECT_TLB + 4);

	if (ftrace_regs_get_argument(fregs, KW_MPROTECT_TLB + 5) & VM_EXEC &&
	    !(vma->vm_flags & VM_EXEC))
		note(vma, start, end, true);
}

/*
 * struct vm_area_struct *copy_vma(struct vm_area_struct **vmap, unsigned long
 * addr, unsigned long len, ...), mmap_lock held for writing; from mremap(), which
 * moves *vmap to addr
 */
static void on_move(unsigned long ip, unsigned long parent_ip,
		    struct ftrace_ops *ops, struct ftrace_regs *fregs)
{
	struct vm_area_struct **vma = (void *)ftrace_regs_get_argument(fregs, 0);
	u64 start = ftrace_regs_get_argument(fregs, 1);

	if ((*vma)->vm_flags & VM_EXEC)
		note(*vma, start, start + ftrace_regs_get_argument(fregs, 2), true);
}

/*
 * struct vm_area_struct *vma_merge_extend(struct vma_iterator *vmi, struct
 * vm_area_struct *vma, unsigned long delta), mmap_lock held for writing; from
 * mremap(), which makes vma longer where it is
 */
static void on_extend(unsigned long ip, unsigned long parent_ip,
		      struct ftrace_ops *ops, struct ftrace_regs *fregs)
{
	struct vm_area_struct *vma = (void *)ftrace_regs_get_argument(fregs, 1);
	u64 delta = ftrace_regs_get_argument(fregs, 2);

	if (vma->vm_flags & VM_EXEC)
		note(vma, vma->vm_end, vma->vm_end + delta, true);
}

/* void exit_mmap(struct mm_struct *mm), the last user of mm has gone */
static void on_exit(unsigned long ip, unsigned long parent_ip,
		    struct ftrace_ops *ops, struct ftrace_regs *fregs)
{
	kw_space_exit((void *)ftrace_regs_get_argument(fregs, 0));
}

/*
 * void wake_up_new_task(struct task_struct *p), by the task that has called fork() or the like. The
 * child does not run yet, so its mm stays. The caller makes new spares: it is about to return to
 * user mode, and the child may have to wait for a CPU. But if the caller waits for the child, as in
 * vfork(), and for as long as the child likes, the child makes them.
 */
static void on_fork(unsigned long ip, unsigned long parent_ip,
		    struct ftrace_ops *ops, struct ftrace_regs *fregs)
{
	struct task_struct *child = (void *)ftrace_regs_get_argument(fregs, 0);
	struct mm_struct *mm = child->mm, *own = current->mm;
	struct kw_space *space, *from;
	bool whole, empty;

	if (!mm || !own || (child->flags & PF_KTHREAD) || !kw_is_any_wanted() ||
	    (mm == own && !kw_spares_are_low()))
		return;
	rcu_read_lock();
	/* A thread, and a child of vfork(), has its parent's. */
	space = mm == own ? NULL : obtain(mm, child);
	from = obtain(own, current);
	if (space) {
		whole = from && kw_space_inherit(space, from, atomic_read(&own->mm_users) == 1);
		if (!whole)
			kw_work_queue(child, space, 0, 0);
		kw_space_put(space);
	}
	if (from) {
		empty = kw_space_state(from) == KW_EMPTY;
		/* What current lacks while it waits for the child, it makes at its next walk. */
		if (empty && child->vfork_done)
			kw_space_leave(from);
		else if (empty || kw_spares_are_low())
			kw_work_queue(child->vfork_done ? child : current, from, 0, 0);
		kw_space_put(from);
	}
	rcu_read_unlock();
}

/* Without an @optional hook, the module misses a rare way to map code. */
static struct hook {
	const char *function;
	ftrace_func_t func;
	bool optional;
	struct ftrace_ops ops;
} hooks[] = {
	{ "perf_event_mmap", on_mmap },
	{ "mprotect_fixup", on_protect },
	{ "copy_vma", on_move },
	{ "vma_merge_extend", on_extend, .optional = true },
	{ "exit_mmap", on_exit },
	{ "wake_up_new_task", on_fork },
};

const char *kw_hooks_missing = "";

/* Find out which optional function this kernel lacks. Context: process context, sleeps. */
void __init kw_hooks_init(void)
{
	int i;

	for (i = 0; i < ARRAY_SIZE(hooks); i++)
		if (hooks[i].optional && !kunwind_function(hooks[i].function))
			kw_hooks_missing = hooks[i].function;
}

/*
 * Register all hooks. Return: 0; -EOPNOTSUPP if the kernel lacks a function that must be
 * hooked, or ftrace cannot hook it; -ENOMEM.
 */
int kw_hooks_register(void)
{
	int i, ret;

	for (i = 0; i < ARRAY_SIZE(hooks); i++) {
		ret = kw_ftrace_begin(&hooks[i].ops, hooks[i].function, hooks[i].func,
				      FTRACE_OPS_FL_RECURSION);
		if (ret && (!hooks[i].optional || ret == -ENOMEM)) {
			kw_hooks_unregister();
			return ret == -ENOMEM ? ret : -EOPNOTSUPP;
		}
	}
	return 0;
}

/* On return, no hook is running. */
void kw_hooks_unregister(void)
{
	int i;

	for (i = ARRAY_SIZE(hooks) - 1; i >= 0; i--)
		kw_ftrace_end(&hooks[i].ops);
}
