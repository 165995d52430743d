// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * Records the stack of each openat() of one process, by bpf_kunwind_user_stack():
 *
 *	clang -O2 -g --target=bpf -c user-stack.bpf.c
 */
#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>

/* KUNWIND_MAX_FRAMES */
#define MAX_FRAMES	1024

struct bpf_kunwind_result {
	__u32 count;
	__u32 proven;
	__u32 stop;
};

extern int bpf_kunwind_user_stack(void *frames, __u32 frames__sz,
				  struct bpf_kunwind_result *result) __ksym;

/* What user space gets for each call. */
struct stack {
	__u32 pid;
	__u32 count;
	__u32 proven;
	__u32 stop;
	__u64 frames[MAX_FRAMES];
};

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 1 << 20);
} stacks SEC(".maps");

/* The process; user space sets it before it loads the program. */
const volatile __u32 traced;

SEC("tp/syscalls/sys_enter_openat")
int on_openat(void *ctx)
{
	struct bpf_kunwind_result result = {};
	__u32 pid = bpf_get_current_pid_tgid() >> 32;
	struct stack *stack;

	if (pid != traced)
		return 0;
	stack = bpf_ringbuf_reserve(&stacks, sizeof(*stack), 0);
	if (!stack)
		return 0;
	stack->pid = pid;
	bpf_kunwind_user_stack(stack->frames, sizeof(stack->frames), &result);
	stack->count = result.count;
	stack->proven = result.proven;
	stack->stop = result.stop;
	bpf_ringbuf_submit(stack, 0);
	return 0;
}

char LICENSE[] SEC("license") = "GPL";
