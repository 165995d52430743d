// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * bpf_kunwind_user_stack(), for BPF programs that want more than bpf_get_stack() gives:
 * more frames than kernel.perf_event_max_stack, how many of them are proven, and why the
 * walk ended.
 *
 * The kernel does not tell a module that a program uses its function. So the first call asks
 * for coverage, and stacks say NOT_COVERED until it exists. Coverage stays until a minute has
 * passed without a call, as a look each minute sees it. The program holds a reference to the
 * module.
 */
#include <linux/bpf.h>
#include <linux/btf.h>
#include <linux/btf_ids.h>
#include <linux/err.h>
#include <linux/irq_work.h>
#include <linux/jiffies.h>
#include <linux/module.h>
#include <linux/rcupdate.h>
#include <linux/sizes.h>
#include <linux/workqueue.h>
#include <kunwind/kunwind.h>
#include <uapi/linux/kunwind.h>
#include "kfunc.h"

/* How long coverage stays after the last call. */
#define IDLE	(60 * HZ)
/* When to attach again, while there are calls, after that has failed. */
#define RETRY	HZ

/**
 * struct bpf_kunwind_result - how a walk ended
 * @count: frames written
 * @proven: how many of them follow from unwind tables, or from what the kernel knows: its signal
 *	frames, and uretprobes
 * @stop: enum kunwind_stop of <linux/kunwind.h>
 */
struct bpf_kunwind_result {
	u32 count;
	u32 proven;
	u32 stop;
};

/* Written only by attend(), and at exit; read under rcu_read_lock(). */
static struct kunwind_consumer *consumer;
/*
 * When the last call was, in jiffies. It is stored at most once a second, as a store for each
 * call would be too slow.
 */
static unsigned long last_call;
static bool is_going;

static void attend(struct work_struct *work);
static DECLARE_DELAYED_WORK(attention, attend);

static void detach(void)
{
	struct kunwind_consumer *old = consumer;

	if (!old)
		return;
	WRITE_ONCE(consumer, NULL);
	synchronize_rcu();
	kunwind_detach(old);
}

/* Attach when there are calls; detach when there was none for IDLE. */
static void attend(struct work_struct *work)
{
	struct kunwind_consumer *fresh;
	unsigned long delay = IDLE;

	if (time_after(jiffies, READ_ONCE(last_call) + IDLE)) {
		detach();
		return;
	}
	if (!consumer) {
		fresh = kunwind_attach();
		if (!IS_ERR(fresh))
			WRITE_ONCE(consumer, fresh);
		else
			delay = RETRY;
	}
	/* Calls that came meanwhile have queued it to run at once. */
	mod_delayed_work(system_unbound_wq, &attention, delay);
}

/*
 * An irq_work queues the work, as a program may run where no work can be queued. Not for this CPU:
 * attaching keeps one busy for seconds, and this one may be another task's for ever.
 */
static void ask(struct irq_work *work)
{
	if (!READ_ONCE(is_going))
		queue_delayed_work(system_unbound_wq, &attention, 0);
}

static DEFINE_IRQ_WORK(asking, ask);

__bpf_kfunc_start_defs();

/**
 * bpf_kunwind_user_stack() - the user call stack of the current task
 * @frames: where to write addresses, 8 bytes each, innermost first
 * @frames__sz: bytes that @frames has room for; at most KUNWIND_MAX_FRAMES addresses are
 *	written
 * @result: how it ended
 *
 * Context: any that a BPF program runs in.
 * Return: the number of frames; -EINVAL if @frames is not aligned to 8 bytes.
 */
__bpf_kfunc int bpf_kunwind_user_stack(void *frames, u32 frames__sz,
				       struct bpf_kunwind_result *result)
{
	struct kunwind_result r = { .stop = KUNWIND_STOP_NOT_COVERED };

	if (!IS_ALIGNED((unsigned long)frames, sizeof(u64)))
		return -EINVAL;
	if (time_after(jiffies, READ_ONCE(last_call) + HZ))
		WRITE_ONCE(last_call, jiffies);
	rcu_read_lock();
	if (likely(READ_ONCE(consumer)))
		kunwind_walk(NULL, frames, frames__sz / sizeof(u64), &r);
	else
		irq_work_queue(&asking);
	rcu_read_unlock();
	result->count = r.count;
	result->proven = r.proven;
	result->stop = r.stop;
	return r.count;
}

__bpf_kfunc_end_defs();

BTF_KFUNCS_START(kfuncs)
BTF_ID_FLAGS(func, bpf_kunwind_user_stack)
BTF_KFUNCS_END(kfuncs)

static const struct btf_kfunc_id_set kfunc_set = {
	.owner = THIS_MODULE,
	.set = &kfuncs,
};

/* The kernel also treats programs on tracepoints and perf events as tracing programs. */
static const enum bpf_prog_type types[] = {
	BPF_PROG_TYPE_TRACING,
	BPF_PROG_TYPE_KPROBE,
};

/* The rest of the module works without this, so only -ENOMEM is an error. */
int kfunc_init(void)
{
	unsigned int i;
	int ret;

	last_call = jiffies - IDLE;
	for (i = 0; i < ARRAY_SIZE(types); i++) {
		ret = register_btf_kfunc_id_set(types[i], &kfunc_set);
		if (ret == -ENOMEM)
			return ret;
	}
	return 0;
}

/* No program that calls the function exists any more. */
void kfunc_exit(void)
{
	WRITE_ONCE(is_going, true);
	irq_work_sync(&asking);
	cancel_delayed_work_sync(&attention);
	detach();
}
