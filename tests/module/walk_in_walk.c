// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * A walk in the middle of a walk. A walk that touches a page which is not there causes
 * an exception; here the tracepoint of that exception walks, as a tracer's would.
 */
#include <linux/atomic.h>
#include <linux/kallsyms.h>
#include <linux/module.h>
#include <linux/moduleparam.h>
#include <linux/string.h>
#include <linux/tracepoint.h>
#include <asm/ptrace.h>
#include <kunwind/kunwind.h>
#include <uapi/linux/kunwind.h>
#include "kunwind-test.h"

static struct tracepoint *page_fault;

/* Walks in exceptions that kunwind's own instructions caused. */
COUNTER(nested);
/* Of these, how many had nothing but the innermost frame, and why they ended is CONTEXT. */
COUNTER(nested_refused);

static bool is_walking(const struct pt_regs *regs)
{
	char symbol[KSYM_SYMBOL_LEN];

	sprint_symbol(symbol, regs->ip);
	return strstr(symbol, "[kunwind]");
}

static void on_page_fault(void *data, unsigned long address, struct pt_regs *regs,
			  unsigned long error_code)
{
	struct kunwind_result result;
	u64 frames[4];

	if (!is_walking(regs))
		return;
	kunwind_walk(NULL, frames, ARRAY_SIZE(frames), &result);
	atomic_long_inc(&nested);
	if (result.stop == KUNWIND_STOP_CONTEXT && result.count == 1)
		atomic_long_inc(&nested_refused);
}

static void find_page_fault(struct tracepoint *tp, void *data)
{
	if (!strcmp(tp->name, "page_fault_kernel"))
		page_fault = tp;
}

int nested_start(void)
{
	for_each_kernel_tracepoint(find_page_fault, NULL);
	if (!page_fault)
		return -ENOENT;
	return tracepoint_probe_register(page_fault, on_page_fault, NULL);
}

void nested_stop(void)
{
	tracepoint_probe_unregister(page_fault, on_page_fault, NULL);
	tracepoint_synchronize_unregister();
}
