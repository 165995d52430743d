/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
#ifndef KUNWIND_TEST_H
#define KUNWIND_TEST_H

#include <linux/atomic.h>
#include <linux/moduleparam.h>
#include <linux/types.h>

struct kunwind_result;
struct pt_regs;

/* What is counted can be read as a parameter of the module. */
extern const struct kernel_param_ops counter_ops;

#define COUNTER(name) \
	static atomic_long_t name; \
	module_param_cb(name, &counter_ops, &name, 0444)

/* Where a walk is made. */
enum context {
	CONTEXT_HARDIRQ,
	CONTEXT_NMI,
	NR_CONTEXTS
};

int interrupts_init(void);
void interrupts_exit(void);
int interrupts_start(unsigned int hz);
void interrupts_stop(void);

int device_init(void);
void device_exit(void);

int judge_init(void);
void judge_exit(void);
void judge_expect(const u64 *words, unsigned int count);
void judge(enum context context, const struct pt_regs *regs);

/* What becomes of a stack that is known. */
enum verdict {
	VERDICT_RIGHT,
	/* CONTEXT: it is not known here. */
	VERDICT_UNKNOWN,
	/* A part of it, with a reason. */
	VERDICT_SHORT,
	VERDICT_WRONG,
	NR_VERDICTS
};

void chains_judge(const u64 *frames, const struct kunwind_result *r,
		  const struct pt_regs *regs);

int aim_start(unsigned int cpu);
void aim_stop(void);

int nested_start(void);
void nested_stop(void);

void replace_stop(void);

void handover_stop(void);

void hold_stop(void);

#endif /* KUNWIND_TEST_H */
