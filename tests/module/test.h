/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
#ifndef KUNWIND_TEST_H
#define KUNWIND_TEST_H

#include <linux/atomic.h>
#include <linux/moduleparam.h>
#include <linux/types.h>

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

int nested_start(void);
void nested_stop(void);

#endif /* KUNWIND_TEST_H */
