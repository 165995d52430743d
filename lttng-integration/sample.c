// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * cpu_sample: a counter on each CPU interrupts what runs there. The event has the kernel's
 * stack of that moment. With the context callstack-user, LTTng records the program's.
 *
 * LTTng's context callstack-kernel would start at the interrupt's own frames. It took three
 * times as long, and also where a program was interrupted, whose kernel stack is empty.
 *
 * The counters exist as long as a tracer listens to the tracepoint: from lttng start to lttng
 * stop. They are the kernel's own (perf_event_create_kernel_counter()): cycles where there is a
 * PMU, else the CPU's clock. So perf's limits on the time of samples hold for them. begin() and
 * end() run under the lock of tracepoints, one at a time. A CPU that comes or goes meanwhile
 * gets or loses its counter by the calls for CPU hotplug.
 *
 * Each sample stands for as much time as the others, so a counter has a fixed period. perf's
 * frequency mode would aim at as many samples in each second, of a busy CPU and of one that
 * mostly sleeps. Cycles are those of the nominal frequency: a CPU that is clocked higher has
 * more samples.
 */
#include <linux/cpuhotplug.h>
#include <linux/module.h>
#include <linux/moduleparam.h>
#include <linux/percpu.h>
#include <linux/perf_event.h>
#include <linux/sched.h>
#include <linux/stacktrace.h>
#include <linux/static_call.h>
#include <linux/time64.h>
#ifdef CONFIG_X86
#include <asm/tsc.h>
#endif
#include <wrapper/tracepoint.h>
#include <kunwind/redirect.h>
#include "probes.h"

/* Declares the tracepoint; its probe is in sample-probes.c. */
#define CREATE_TRACE_POINTS
#define TRACE_INCLUDE_PATH .
#define TRACE_INCLUDE_FILE sample-events
#define LTTNG_INSTRUMENTATION
#include "sample-events.h"

#define MAX_HZ	10000
/* As many as LTTng's own stacks of the kernel have at most. */
#define MAX_FRAMES	128

/* The counter of each CPU, or NULL. Only the calls for CPU hotplug write it, each for its CPU. */
static DEFINE_PER_CPU(struct perf_event *, counters);
/*
 * The kernel's stack of a sample. Only the CPU's counter writes it, and no sample interrupts
 * another one. Made by begin(), freed by end(), when there is no counter any more.
 */
struct kernel_stack {
	unsigned long frames[MAX_FRAMES];
};

static struct kernel_stack __percpu *kernel_stacks;

/* The kernel's own, which it does not export. Without it, samples have no stack of the kernel. */
DEFINE_STATIC_CALL_RET0(save_kernel_stack, stack_trace_save_regs);

/* What cpuhp_setup_state() gave; 0: nobody listens. Changed under rate_lock. */
static int hotplug_state;

static DEFINE_MUTEX(rate_lock);
static unsigned int sample_hz = 99;

/* The rate of counters that exist does not change. */
static int set_rate(const char *text, const struct kernel_param *param)
{
	unsigned int hz;
	int ret = kstrtouint(text, 0, &hz);

	if (ret)
		return ret;
	if (!hz || hz > MAX_HZ)
		return -EINVAL;
	mutex_lock(&rate_lock);
	if (hz != sample_hz && hotplug_state)
		ret = -EBUSY;
	else
		sample_hz = hz;
	mutex_unlock(&rate_lock);
	return ret;
}

static const struct kernel_param_ops rate_ops = {
	.set = set_rate,
	.get = param_get_uint,
};
module_param_cb(sample_hz, &rate_ops, &sample_hz, 0644);
MODULE_PARM_DESC(sample_hz, "samples a second of each CPU, 1 to 10000, for the event cpu_sample (default 99)");

static int begin(void);
static void end(void);

DEFINE_TRACE_FN(cpu_sample, begin, end,
	TP_PROTO(u32 period, u64 ip, u8 user, const unsigned long *kernel, u32 count),
	TP_ARGS(period, ip, user, kernel, count));

/* An interrupt, or an NMI. */
static void sample(struct perf_event *event, struct perf_sample_data *data, struct pt_regs *regs)
{
	unsigned long *kernel = this_cpu_ptr(kernel_stacks)->frames;
	bool user = user_mode(regs);
	u32 count = 0;

	/* A CPU that has nothing to do. */
	if (is_idle_task(current))
		return;
	if (!user)
		count = static_call(save_kernel_stack)(regs, kernel, MAX_FRAMES, 0);
	trace_cpu_sample(NSEC_PER_SEC / sample_hz, instruction_pointer(regs), user, kernel,
			 count);
}

/* Return: how many cycles a CPU has in a second at its nominal frequency; 0 if that is not known. */
static u64 cycles_per_second(void)
{
#ifdef CONFIG_X86
	return 1000ULL * tsc_khz;
#else
	return 0;
#endif
}

/* A counter of @per_second events in a second. */
static struct perf_event *create(unsigned int cpu, u32 type, u64 config, u64 per_second)
{
	struct perf_event_attr attr = {
		.type = type,
		.config = config,
		.size = sizeof(attr),
		.sample_period = per_second / sample_hz,
		.exclude_idle = 1,
		.exclude_guest = 1,
	};

	if (!attr.sample_period)
		return ERR_PTR(-EOPNOTSUPP);
	return perf_event_create_kernel_counter(&attr, cpu, NULL, sample, NULL);
}

/* A CPU without a counter has no samples, but must come up. */
static int online(unsigned int cpu)
{
	struct perf_event *event = create(cpu, PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES,
					  cycles_per_second());

	if (IS_ERR(event))
		event = create(cpu, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_CLOCK,
			       NSEC_PER_SEC);
	if (IS_ERR(event))
		pr_warn("kunwind: no samples of CPU %u: error %ld\n", cpu, PTR_ERR(event));
	per_cpu(counters, cpu) = IS_ERR(event) ? NULL : event;
	return 0;
}

static int offline(unsigned int cpu)
{
	struct perf_event *event = per_cpu(counters, cpu);

	per_cpu(counters, cpu) = NULL;
	if (event)
		perf_event_release_kernel(event);
	return 0;
}

static void bring_up(void)
{
	int ret = -ENOMEM;

	lockdep_assert_held(&rate_lock);
	kernel_stacks = alloc_percpu(struct kernel_stack);
	if (kernel_stacks)
		ret = cpuhp_setup_state(CPUHP_AP_ONLINE_DYN, "kunwind/sample:online", online,
					offline);
	if (ret > 0) {
		hotplug_state = ret;
		return;
	}
	free_percpu(kernel_stacks);
	pr_warn("kunwind: no samples: error %d\n", ret);
}

/*
 * The first listener is there. If the kernel then has no memory for the listener, it does not
 * call end(), and the counters stay for the next one (tracepoint_add_func()). LTTng takes an
 * error for a mistake of its own, and warns.
 */
static int begin(void)
{
	mutex_lock(&rate_lock);
	if (!hotplug_state)
		bring_up();
	mutex_unlock(&rate_lock);
	return 0;
}

/* The last one has gone. */
static void end(void)
{
	mutex_lock(&rate_lock);
	if (hotplug_state) {
		cpuhp_remove_state(hotplug_state);
		free_percpu(kernel_stacks);
	}
	hotplug_state = 0;
	mutex_unlock(&rate_lock);
}

/* Before anybody listens. */
void sample_counters_begin(void)
{
	unsigned long addr = kunwind_function("stack_trace_save_regs");

	if (addr)
		static_call_update(save_kernel_stack,
				   (typeof(stack_trace_save_regs) *)addr);
	else
		pr_warn("kunwind: this kernel has no function stack_trace_save_regs(): samples have no stacks of the kernel\n");
}

/* The module is being unloaded: nobody listens any more. */
void sample_counters_end(void)
{
	end();
}
