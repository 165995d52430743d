// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * Whole stacks for scripts of bpftrace 0.26 and later; whole-stacks.bt is an example:
 *
 *	import "kunwind.bpf.c";
 *
 *	$count = __kunwind_walk();	how many frames the current stack has
 *	__kunwind_frame($i)		their addresses, innermost first
 *	__kunwind_proven()		how many of them are certain
 *	__kunwind_stop()		why the stack ended: enum kunwind_stop in linux/kunwind.h
 */
#define __KERNEL__
#include <vmlinux.h>
#include <bpf/bpf_helpers.h>

/* KUNWIND_MAX_FRAMES */
#define MAX_FRAMES	1024

struct kunwind_ended {
	u32 count;
	u32 proven;
	u32 stop;
};

extern int bpf_kunwind_user_stack(void *frames, u32 frames__sz,
				  struct kunwind_ended *result) __ksym;

/* The last stack of each CPU. */
struct kunwind_stack {
	u64 frames[MAX_FRAMES];
	struct kunwind_ended ended;
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct kunwind_stack);
} kunwind_stacks SEC(".maps");

static struct kunwind_stack *last_stack(void)
{
	u32 only = 0;

	return bpf_map_lookup_elem(&kunwind_stacks, &only);
}

u32 __kunwind_walk(void)
{
	struct kunwind_stack *stack = last_stack();

	if (!stack)
		return 0;
	bpf_kunwind_user_stack(stack->frames, sizeof(stack->frames),
			       &stack->ended);
	return stack->ended.count;
}

u64 __kunwind_frame(u32 i)
{
	struct kunwind_stack *stack = last_stack();

	return stack && i < MAX_FRAMES ? stack->frames[i] : 0;
}

u32 __kunwind_proven(void)
{
	struct kunwind_stack *stack = last_stack();

	return stack ? stack->ended.proven : 0;
}

u32 __kunwind_stop(void)
{
	struct kunwind_stack *stack = last_stack();

	return stack ? stack->ended.stop : 0;
}
