// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * A timer on the first CPU, in hard-interrupt context. Each time it walks, and sends
 * an NMI to another CPU, which walks there, whatever that CPU is doing: in user
 * mode, in kunwind's own spinlocks, in another walk. With a timer on each CPU they
 * would come all at once under emulation, and find each other's interrupts only.
 */
#include <linux/cpu.h>
#include <linux/cpumask.h>
#include <linux/delay.h>
#include <linux/err.h>
#include <linux/hrtimer.h>
#include <linux/kthread.h>
#include <linux/percpu.h>
#include <linux/prandom.h>
#include <linux/random.h>
#include <linux/sched.h>
#include <linux/smp.h>
#include <linux/version.h>
#include <asm/apic.h>
#include <asm/irq_regs.h>
#include <asm/nmi.h>
#include "kunwind-test.h"

/* Before 6.13, a timer's function is set after its initialization. */
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 13, 0)
static void hrtimer_setup(struct hrtimer *t, enum hrtimer_restart (*function)(struct hrtimer *),
			  clockid_t clock, enum hrtimer_mode mode)
{
	hrtimer_init(t, clock, mode);
	t->function = function;
}
#endif

static struct hrtimer timer;
/* NMIs that were sent to this CPU. */
static DEFINE_PER_CPU(atomic_t, sent);
static ktime_t period;
static unsigned int last_cpu;

static int on_nmi(unsigned int type, struct pt_regs *regs)
{
	if (!atomic_xchg(this_cpu_ptr(&sent), 0))
		return NMI_DONE;
	judge(CONTEXT_NMI, regs);
	return NMI_HANDLED;
}

/* Return: whether it was sent: one that was not taken yet would swallow this one. */
static bool send_nmi_to(unsigned int cpu)
{
	if (atomic_xchg(per_cpu_ptr(&sent, cpu), 1))
		return false;
	apic->send_IPI(cpu, NMI_VECTOR);
	return true;
}

/* To all others in turn; to itself if there are none. */
static void send_nmi(void)
{
	unsigned int cpu = last_cpu;

	do {
		cpu = cpumask_next(cpu, cpu_online_mask);
		if (cpu >= nr_cpu_ids)
			cpu = cpumask_first(cpu_online_mask);
	} while (cpu == smp_processor_id() && num_online_cpus() > 1);
	last_cpu = cpu;
	send_nmi_to(cpu);
}

static enum hrtimer_restart on_timer(struct hrtimer *t)
{
	judge(CONTEXT_HARDIRQ, get_irq_regs());
	send_nmi();
	hrtimer_forward_now(t, period);
	return HRTIMER_RESTART;
}

static void start_timer(void *unused)
{
	hrtimer_start(&timer, period, HRTIMER_MODE_REL_PINNED_HARD);
}

int interrupts_start(unsigned int hz)
{
	if (hz > 100000)
		return -EINVAL;
	period = ns_to_ktime(NSEC_PER_SEC / hz);
	return smp_call_function_single(cpumask_first(cpu_online_mask), start_timer,
					NULL, 1);
}

void interrupts_stop(void)
{
	int cpu;

	hrtimer_cancel(&timer);
	/* Without its handler the kernel would complain about an NMI. */
	for_each_online_cpu(cpu)
		while (atomic_read(per_cpu_ptr(&sent, cpu)))
			msleep(20);
}

/*
 * As many NMIs as a CPU takes, at moments that have nothing to do with what it does.
 */
#define MAX_PAUSE	2000

COUNTER(aimed);
static struct task_struct *aimer;

static int aim(void *cpu)
{
	struct rnd_state random;
	unsigned int pause;

	prandom_seed_state(&random, get_random_u64());
	while (!kthread_should_stop()) {
		if (send_nmi_to((unsigned long)cpu))
			atomic_long_inc(&aimed);
		for (pause = prandom_u32_state(&random) % MAX_PAUSE; pause; pause--)
			barrier();
		cond_resched();
	}
	return 0;
}

/* Aim at @cpu, from another one. */
int aim_start(unsigned int cpu)
{
	unsigned int from = cpumask_any_but(cpu_online_mask, cpu);

	if (cpu >= nr_cpu_ids || !cpu_online(cpu) || from >= nr_cpu_ids)
		return -ENODEV;
	aimer = kthread_create(aim, (void *)(unsigned long)cpu, "kunwind-aim");
	if (IS_ERR(aimer))
		return PTR_ERR(aimer);
	kthread_bind(aimer, from);
	wake_up_process(aimer);
	return 0;
}

void aim_stop(void)
{
	int cpu;

	kthread_stop(aimer);
	for_each_online_cpu(cpu)
		while (atomic_read(per_cpu_ptr(&sent, cpu)))
			msleep(20);
}

int interrupts_init(void)
{
	hrtimer_setup(&timer, on_timer, CLOCK_MONOTONIC, HRTIMER_MODE_REL_PINNED_HARD);
	return register_nmi_handler(NMI_LOCAL, on_nmi, 0, "kunwind-test");
}

void interrupts_exit(void)
{
	unregister_nmi_handler(NMI_LOCAL, "kunwind-test");
}
