/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* What ftrace gives to a callback, and the arguments of the functions that are hooked. */
#ifndef KW_COMPAT_FTRACE_H
#define KW_COMPAT_FTRACE_H

#include <linux/build_bug.h>
#include <linux/ftrace.h>
#include <linux/mm.h>
#include "found.h"

/* Before 6.2, only the architecture's structure has the arguments. */
#ifndef KW_HAVE_ftrace_regs_get_argument
#define ftrace_regs_get_argument(fregs, n) \
	regs_get_kernel_argument(&(fregs)->regs, n)
#define ftrace_regs_set_instruction_pointer	ftrace_instruction_pointer_set
#endif

/* Which argument of mprotect_fixup() is struct mmu_gather *: 6.3 put an iterator before it. */
#ifdef KW_HAVE_mprotect_fixup_iterator
#define KW_MPROTECT_TLB		1
#else
#define KW_MPROTECT_TLB		0

/* With other arguments, a hook would take something else for the VMA. */
int kw_mprotect_fixup_6_1(struct mmu_gather *tlb, struct vm_area_struct *vma,
			  struct vm_area_struct **pprev, unsigned long start, unsigned long end,
			  unsigned long newflags);
static_assert(__same_type(mprotect_fixup, kw_mprotect_fixup_6_1),
	      "mprotect_fixup() has arguments that on_protect() does not know");
#endif

#endif /* KW_COMPAT_FTRACE_H */
