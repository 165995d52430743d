// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* Walk a task's stack, by core/walk/walk.c: current's, or that of a thread on no CPU (thread.c). */
#include <linux/export.h>
#include <linux/kernel.h>
#include <linux/mm.h>
#include <linux/preempt.h>
#include <linux/rcupdate.h>
#include <linux/sched/task_stack.h>
#include <linux/static_call.h>
#include <asm/ptrace.h>
#include <asm/segment.h>
#include <kunwind/kunwind.h>
#include <kunwind/redirect.h>
#include "compat/sched.h"
#include "compat/tlbflush.h"
#include "coverage.h"
#include "registers.h"
#include "snapshot.h"
#include "stats.h"
#include "times.h"
#include "walk.h"
#include "walk_place.h"
#include "work.h"

/*
 * The kernel's own function. It says whether the CPU has current's mm loaded: not during a
 * context switch, execve() or text_poke(), where an NMI or a trace event can come. A walk
 * may read user memory only if so. That holds until the walk ends: the walk does not change
 * the mm, an interrupt restores it, and a preempted task gets its mm back before it
 * continues. The kernel does not export the function. It is looked up, and called through
 * a static call: with IBT, it has no landing pad for a call through a pointer.
 */
DEFINE_STATIC_CALL_RET0(may_read_user, nmi_uaccess_okay);

/*
 * The arguments of a walk, on the stack of kw_walk(). @pieces is the state of a walk in
 * pieces, or NULL. @other is the task to walk; NULL for current. @asked: current has asked for
 * its own stack, and the registers may be what it claims.
 */
struct walk {
	const struct task_struct *other;
	const struct pt_regs *regs;
	struct kuw_state *pieces;
	u64 *frames;
	u32 capacity;
	struct kuw_result *result;
	bool asked;
};

static void set_empty(struct kuw_result *result, u32 stop)
{
	result->count = 0;
	result->proven = 0;
	result->stop = stop;
	result->nr_interrupted = 0;
}

/* Stop with what is known without any table: the next frame. */
static void stop_early(const struct walk *w, u32 stop)
{
	set_empty(w->result, stop);
	if (!w->capacity)
		return;
	w->frames[0] = w->pieces ? w->pieces->regs.r[KUW_RA] : w->regs->ip;
	w->result->count = 1;
	w->result->proven = !(w->pieces && w->pieces->guessed);
}

static bool is_replaced(u64 address, const struct kw_range *ranges, int count)
{
	/* A return address can be the first byte after the code. */
	while (count--)
		if (address - 1 < ranges[count].end && address >= ranges[count].start)
			return true;
	return false;
}

/*
 * Mappings of the snapshot were replaced at these @count @ranges. The stack is right up to the
 * first frame in one of them: the walk found that frame's caller by the old mapping.
 */
static void cut(const struct kw_range *ranges, int count, const u64 *frames,
		struct kuw_result *result)
{
	u32 i;

	for (i = 0; i < result->count && !is_replaced(frames[i], ranges, count); i++)
		;
	if (i == result->count)
		return;
	result->count = i + 1;
	result->proven = min(result->proven, result->count);
	while (result->nr_interrupted &&
	       result->interrupted[result->nr_interrupted - 1] > i)
		result->nr_interrupted--;
	result->stop = KUNWIND_STOP_INCOMPLETE_MAP;
}

static void walk_by(const struct kw_snapshot *snap, struct kuw_rule_cache *cache,
		    const struct walk *w)
{
	if (unlikely(w->pieces))
		kuw_walk_more(w->pieces, &snap->map, w->frames, w->capacity,
			      w->result);
	else if (user_64bit_mode((struct pt_regs *)w->regs))
		kuw_walk(&snap->map, cache, w->regs, w->frames, w->capacity,
			 w->result);
	else
		kuw_walk_i386(&snap->map, w->regs, w->frames, w->capacity, w->result);
}

/*
 * Apart, as the kernel clears the ranges, and most walks need none.
 *
 * A hypervisor can stop this CPU while threads on other CPUs map and catch up many times.
 * So if there seem to be more ranges than the space remembers, look again.
 */
static noinline void walk_wrong(const struct kw_space *space, struct kuw_rule_cache *cache,
				const struct walk *w)
{
	const struct kw_snapshot *snap;
	struct kw_range ranges[KW_LOG];
	int replaced, tries = KW_LOG_TRIES;

	do {
		snap = rcu_dereference_sched(space->snap);
		replaced = snap ? kw_space_replaced(space, snap, ranges) : 0;
	} while (replaced < 0 && --tries);
	if (!snap) {
		stop_early(w, KUNWIND_STOP_NOT_COVERED);
	} else if (replaced < 0) {
		stop_early(w, KUNWIND_STOP_INCOMPLETE_MAP);
	} else {
		walk_by(snap, cache, w);
		cut(ranges, replaced, w->frames, w->result);
	}
}

/* With page faults and preemption disabled. */
static void walk_space(const struct kw_space *space, struct kuw_rule_cache *cache,
		       const struct walk *w)
{
	const struct kw_snapshot *snap = rcu_dereference_sched(space->snap);
	enum kw_state state = kw_state_of(space, snap);

	if (state == KW_WRONG)
		walk_wrong(space, cache, w);
	else if (snap)
		walk_by(snap, cache, w);
	else
		stop_early(w, KUNWIND_STOP_NOT_COVERED);
	if (w->result->stop == KUNWIND_STOP_NO_MAPPING && state != KW_CURRENT)
		w->result->stop = KUNWIND_STOP_INCOMPLETE_MAP;
}

/*
 * With preemption disabled. Queue the retry while the place is taken: queueing can cause a
 * trace event, and the walk for that event must not queue a retry, too.
 */
static void walk_alone(struct kw_space *space, const struct walk *w)
{
	struct kw_place *place = kw_walks_enter(w->other ?: current);

	if (unlikely(!place)) {
		stop_early(w, KUNWIND_STOP_CONTEXT);
		return;
	}
	pagefault_disable();
	if (static_call(may_read_user)())
		walk_space(space, &place->cache, w);
	else
		stop_early(w, KUNWIND_STOP_CONTEXT);
	/* A program that has asked is in a system call, whatever registers it claims. */
	if (kw_space_is_due(space) && !w->other && !w->asked)
		kw_work_retry(space, w->regs);
	pagefault_enable();
	kw_walks_leave(place);
}

/* Return: the number of the space, or 0. */
static u64 walk_user(const struct walk *w)
{
	const struct pt_regs *regs = w->regs;
	struct kw_space *space;
	u64 number = 0;

	/*
	 * The kernel's segments for 32-bit code start at 0. A segment of the program's own
	 * (modify_ldt()) may not, and the walk would read the wrong addresses.
	 */
	if (!user_64bit_mode((struct pt_regs *)regs) && regs->cs != __USER32_CS) {
		stop_early(w, KUNWIND_STOP_MODE);
		return 0;
	}
	/* Nothing is freed meanwhile: a grace period waits for such code, too. */
	preempt_disable();
	space = kw_space_find(current->mm);
	if (space) {
		number = space->number;
		walk_alone(space, w);
	} else {
		stop_early(w, KUNWIND_STOP_NOT_COVERED);
	}
	preempt_enable();
	if (w->result->count == 1 && !w->asked && kw_registers_are_new(regs) &&
	    (w->result->stop == KUNWIND_STOP_NOT_COVERED ||
	     w->result->stop == KUNWIND_STOP_INCOMPLETE_MAP))
		w->result->stop = KUNWIND_STOP_COMPLETE;
	return number;
}

/*
 * Whether execve() has given @task, which has current->mm, the mm of the new program, but not its
 * registers yet: they are the old program's. Where the code ends is what a new mm gets when
 * nothing is left that can sleep or fault: the arguments and the auxiliary vector are copied.
 * With the personality MMAP_PAGE_ZERO, one mapping follows, and a walk in it shows where the old
 * program was.
 */
static bool is_between_programs(const struct task_struct *task)
{
	return unlikely(task->in_execve) && !READ_ONCE(current->mm->end_code);
}

/* Walk current's user stack, as kunwind_walk() does. Return: the number of the space, or 0. */
u64 kw_walk(const struct pt_regs *regs, u64 *frames, u32 capacity, struct kuw_result *result)
{
	const struct pt_regs *saved = task_pt_regs(current);
	const struct walk w = { NULL, regs ?: saved, NULL, frames, capacity, result, false };

	if ((current->flags & (PF_KTHREAD | PF_USER_WORKER)) || !current->mm) {
		set_empty(result, KUNWIND_STOP_NO_USER);
		return 0;
	}
	/* Not even the innermost frame is known: return none. */
	if (!user_mode((struct pt_regs *)w.regs) ||
	    (w.regs == saved && (!kw_registers_are_whole() || is_between_programs(current)))) {
		set_empty(result, KUNWIND_STOP_CONTEXT);
		return 0;
	}
	return walk_user(&w);
}

/*
 * The same in a system call, from the registers that it saved, or that the program names: general
 * registers of any values, and all others as saved. If @pieces is not NULL, the next piece of a
 * walk that kuw_state_start() started. The result is true if the registers are.
 */
void kw_walk_own(const struct pt_regs *regs, struct kuw_state *pieces, u64 *frames,
		 u32 capacity, struct kuw_result *result)
{
	const struct walk w = { NULL, regs, pieces, frames, capacity, result, true };

	walk_user(&w);
}

/*
 * The same for @task, on no CPU, to which the caller holds a reference, from its user registers
 * @regs. Current has its mm, or is a kernel thread that uses it. Context: process context.
 */
u64 kw_walk_other(const struct task_struct *task, const struct pt_regs *regs, u64 *frames,
		  u32 capacity, struct kuw_result *result)
{
	const struct walk w = { task, regs, NULL, frames, capacity, result, false };

	if (task->flags & PF_USER_WORKER) {
		set_empty(result, KUNWIND_STOP_NO_USER);
		return 0;
	}
	if (!user_mode((struct pt_regs *)regs) || is_between_programs(task)) {
		set_empty(result, KUNWIND_STOP_CONTEXT);
		return 0;
	}
	return walk_user(&w);
}

/* Return: a mask of the interrupted frames among the first 64. The first always is one. */
static u64 interrupted_mask(const struct kuw_result *r)
{
	u64 mask = !!r->count;
	u32 i;

	for (i = 0; i < r->nr_interrupted && r->interrupted[i] < 64; i++)
		mask |= 1ull << r->interrupted[i];
	return mask;
}

/* Tell another module how a walk ended. */
void kw_result_tell(const struct kuw_result *r, u64 space, struct kunwind_result *result)
{
	*result = (struct kunwind_result) {
		.count = r->count,
		.proven = r->proven,
		.stop = r->stop,
		.space = space,
		.interrupted = interrupted_mask(r),
	};
}

void kunwind_walk(const struct pt_regs *regs, u64 *frames, u32 capacity,
		  struct kunwind_result *result)
{
	kuw_port_uninitialized struct kuw_result r;
	u64 space;

	space = kw_walk(regs, frames, capacity, &r);
	kw_count_stop(r.stop);
	kw_result_tell(&r, space, result);
}
EXPORT_SYMBOL_GPL(kunwind_walk);

int __init kw_walks_init(void)
{
	unsigned long addr = kunwind_function("nmi_uaccess_okay");

	if (!addr) {
		pr_err("kunwind: this kernel has no function nmi_uaccess_okay()\n");
		return -ENOENT;
	}
	static_call_update(may_read_user, (typeof(nmi_uaccess_okay) *)addr);
	return 0;
}
