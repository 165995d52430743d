// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * One set of buffers serves all contexts: LTTng computes and records the stack of an event
 * before the next event of the same CPU and nesting level starts.
 */
#include <linux/mm.h>
#include <linux/mutex.h>
#include <linux/percpu.h>
#include <linux/slab.h>
#include <linux/topology.h>
#include <ringbuffer/backend.h>
#include <ringbuffer/frontend.h>
#include "buffers.h"

static DEFINE_PER_CPU(struct stack *, stacks);
static DEFINE_MUTEX(users_lock);
static unsigned int users;

static void free_stacks(void)
{
	int cpu;

	for_each_possible_cpu(cpu) {
		kvfree(per_cpu(stacks, cpu));
		per_cpu(stacks, cpu) = NULL;
	}
}

static int alloc_stacks(void)
{
	int cpu;

	for_each_possible_cpu(cpu) {
		struct stack *s;

		s = kvmalloc_node(RING_BUFFER_MAX_NESTING * sizeof(*s),
				  GFP_KERNEL, cpu_to_node(cpu));
		if (!s) {
			free_stacks();
			return -ENOMEM;
		}
		per_cpu(stacks, cpu) = s;
	}
	return 0;
}

int buffers_get(void)
{
	int ret = 0;

	mutex_lock(&users_lock);
	if (!users)
		ret = alloc_stacks();
	if (!ret)
		users++;
	mutex_unlock(&users_lock);
	return ret;
}

void buffers_put(void)
{
	mutex_lock(&users_lock);
	if (!--users)
		free_stacks();
	mutex_unlock(&users_lock);
}

/*
 * The buffer of the event that is being written on @cpu, the current CPU. LTTng writes no event
 * that is nested deeper than RING_BUFFER_MAX_NESTING (lib_ring_buffer_get_cpu()).
 */
struct stack *buffers_stack(int cpu)
{
	return &per_cpu(stacks, cpu)[per_cpu(lib_ring_buffer_nesting, cpu) - 1];
}
