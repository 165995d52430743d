/* SPDX-License-Identifier: MIT */
/*
 * Live stacks, taken by three tools and compared with each other and with the truth.
 *
 * The truth is kept by the test programs themselves: every function on the way
 * notes its own return address (CALLED) and forgets it (RETURNS). So what is
 * expected of a stack does not come from any unwinder.
 */
#ifndef KUNWIND_LIVE_H
#define KUNWIND_LIVE_H

#include <stdint.h>

#include "libkunwind.h"

#ifdef __cplusplus
extern "C" {
#endif

#define LIVE_FRAMES	1024
/* In place of one or more calls inside a library. Never a return address. */
#define LIVE_OTHERS	0

#if defined(__clang__)
#define NOINLINE	__attribute__((noinline))
#else
#define NOINLINE	__attribute__((noinline, noclone))
#endif

struct live_list {
	int count;
	uint64_t frames[LIVE_FRAMES];
};

/* What one moment's stack looked like to all of them. */
struct live_stacks {
	struct kunwind_bt *bt;
	struct live_list kunwind;
	uint32_t stop;		/* of kunwind's */
	uint32_t proven;
	struct live_list libunwind;
	struct live_list libc;
	struct live_list truth;
};

/* What must be below the outermost function that noted its return address. */
enum live_bottom {
	LIVE_MAIN,	/* libc's start of main(), then _start */
	LIVE_THREAD,	/* one frame: the start of a thread */
};

struct live_verdict {
	int complete;		/* the stop reason, and every frame proven */
	int true_calls;		/* the calls that were made, in their order */
	int like_libunwind;
	int like_libc;
};

/*
 * To be called first in main(): opens the device, or ends the program with status
 * 77; makes the tools do what they do only once.
 */
void live_init(void);

/*
 * Before live_init(): have kunwind's stacks as a tracer gets them, from the kernel's
 * own interface, through /dev/kunwind-test (tests/module/test_device.c), which @fd is. No
 * map is brought up to date for that, and another consumer must exist.
 */
void live_use_tracer(int fd);

/* In a child of fork(): the device covers the process that opened it. */
void live_reopen(void);

/*
 * Have libunwind go step by step, without any cache: its unw_backtrace() does not
 * notice that other code is at an address now. Return: whether it can.
 */
int live_use_steps(void);
/* Return: whether libunwind is one of the tools. */
int live_has_libunwind(void);

/* Room for the stacks of one thread. */
struct live_stacks *live_new(void);
void live_free(struct live_stacks *stacks);

/* This thread's stack from the caller on outwards, seen by every tool. */
void live_take(struct live_stacks *stacks);

struct live_verdict live_judge(const struct live_stacks *stacks,
			       enum live_bottom bottom);
int live_all(const struct live_verdict *verdict);

/* Whether the frames of a stack that is not whole are those of the calls. */
int live_begins_true(const struct live_stacks *stacks);

/* A test point for each verdict, and what was seen if one of them is bad. */
void live_report(const struct live_stacks *stacks, enum live_bottom bottom,
		 const char *name);
void live_print(const struct live_stacks *stacks);

/* The truth of this thread. */
void live_push(const void *address);
void live_pop(void);
/* One or more frames that are not ours: the inside of a library. */
void live_push_others(void);
/* For what is left other than by returning: exceptions, longjmp(). */
unsigned int live_depth(void);
void live_set_depth(unsigned int depth);

#define CALLED()	live_push(__builtin_return_address(0))
#define RETURNS()	live_pop()

/* What a library that is loaded at run time is given. */
struct live_calls {
	void (*push)(const void *address);
	void (*pop)(void);
	void (*take)(struct live_stacks *stacks);
};

#ifdef __cplusplus
}
#endif

#endif /* KUNWIND_LIVE_H */
