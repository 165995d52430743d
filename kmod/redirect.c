// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* <kunwind/redirect.h>, for the modules that hook tracers. */
#include <linux/export.h>
#include <linux/kprobes.h>
#include <linux/module.h>
#include <kunwind/redirect.h>
#include <asm/ibt.h>
#include "compat/ftrace.h"
#include "compat/module.h"
#include "redirect.h"

/*
 * If a function has a landing pad for indirect calls (ENDBR), arch_adjust_kprobe_addr()
 * puts a kprobe after it. It does so, too, if the kernel has overwritten the landing pad.
 */
static unsigned long before_landing_pad(unsigned long addr)
{
	/* Functions of an x86-64 kernel are aligned to 16 bytes, or to more. */
	if (HAS_KERNEL_IBT && addr % 16 == ENDBR_INSN_SIZE)
		addr -= ENDBR_INSN_SIZE;
	return addr;
}

/*
 * kprobes look up one name. ftrace, given a name, would look up the names of all functions
 * that it can trace, which takes seconds if there are modules with large symbol tables.
 */
unsigned long kunwind_function(const char *name)
{
	struct kprobe probe = {
		.symbol_name = name,
		.flags = KPROBE_FLAG_DISABLED,
	};
	unsigned long addr;

	if (register_kprobe(&probe))
		return 0;
	addr = before_landing_pad((unsigned long)probe.addr);
	unregister_kprobe(&probe);
	return addr;
}
EXPORT_SYMBOL_GPL(kunwind_function);

unsigned long kunwind_argument(struct ftrace_regs *fregs, unsigned int n)
{
	return ftrace_regs_get_argument(fregs, n);
}
EXPORT_SYMBOL_GPL(kunwind_argument);

/*
 * For ftrace. No recursion is possible: what it calls can cause a trace event, but the
 * functions that are replaced for events have redirects that call nothing.
 */
static notrace void redirect(unsigned long ip, unsigned long parent_ip,
			     struct ftrace_ops *ops, struct ftrace_regs *fregs)
{
	const struct kunwind_redirect *r =
		container_of(ops, struct kunwind_redirect, ops);

	/* within_module() would look at each of the owner's sections. */
	if (!READ_ONCE(r->active) || parent_ip - r->text < r->text_size ||
	    (r->applies && !r->applies(fregs)))
		return;
	if (r->sleeps && !try_module_get(r->owner))
		return;
	ftrace_regs_set_instruction_pointer(fregs, (unsigned long)r->to);
}

int kw_ftrace_begin(struct ftrace_ops *ops, const char *function, ftrace_func_t func,
		    unsigned long flags)
{
	unsigned long addr = kunwind_function(function);
	int ret;

	if (!addr)
		return -ENOENT;
	/*
	 * Initialize it each time: ftrace_free_filter() leaves dangling pointers. With
	 * FTRACE_OPS_FL_PERMANENT, the sysctl kernel.ftrace_enabled cannot end this: without
	 * hooks, snapshots would be wrong, and tracers use redirects.
	 */
	*ops = (struct ftrace_ops){ .func = func, .flags = flags | FTRACE_OPS_FL_PERMANENT };
	ret = ftrace_set_filter_ip(ops, addr, 0, 1);
	if (!ret)
		ret = register_ftrace_function(ops);
	if (!ret)
		return 0;
	ftrace_free_filter(ops);
	ops->func = NULL;
	return ret;
}

void kw_ftrace_end(struct ftrace_ops *ops)
{
	if (!ops->func)
		return;
	unregister_ftrace_function(ops);
	ftrace_free_filter(ops);
	ops->func = NULL;
}

static const char *reason_of(int error)
{
	switch (error) {
	case -ENOENT:
		return "this kernel has no such function";
	case -EBUSY:
		return "a livepatch or another module replaces it already, or ftrace is off";
	default:
		return "ftrace refused";
	}
}

static int hook(struct kunwind_redirect *r)
{
	int ret;

	r->text = kw_module_text(r->owner);
	r->text_size = kw_module_text_size(r->owner);
	ret = kw_ftrace_begin(&r->ops, r->from, redirect, FTRACE_OPS_FL_IPMODIFY);
	/* Each tool that wants callchains can bring it here. */
	if (ret)
		pr_err_ratelimited("%s: %s() cannot be replaced: %s\n", module_name(r->owner),
				   r->from, reason_of(ret));
	return ret;
}

static int hook_all(struct kunwind_redirect *r, unsigned int count)
{
	unsigned int i;
	int ret = 0;

	for (i = 0; i < count && !ret; i++)
		ret = hook(&r[i]);
	if (ret)
		kunwind_redirect_end(r, i);
	return ret;
}

int kunwind_redirect_begin(struct kunwind_redirect *r, unsigned int count)
{
	int ret = hook_all(r, count);

	while (!ret && count--)
		WRITE_ONCE(r[count].active, true);
	return ret;
}
EXPORT_SYMBOL_GPL(kunwind_redirect_begin);

int kunwind_redirect_try(struct kunwind_redirect *r, unsigned int count)
{
	int ret = hook_all(r, count);

	while (!ret && count--)
		kw_ftrace_end(&r[count].ops);
	return ret;
}
EXPORT_SYMBOL_GPL(kunwind_redirect_try);

void kunwind_redirect_end(struct kunwind_redirect *r, unsigned int count)
{
	while (count--) {
		WRITE_ONCE(r[count].active, false);
		kw_ftrace_end(&r[count].ops);
	}
}
EXPORT_SYMBOL_GPL(kunwind_redirect_end);
