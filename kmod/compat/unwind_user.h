/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* The kernel's own walk of user stacks that are taken later. */
#ifndef KW_COMPAT_UNWIND_USER_H
#define KW_COMPAT_UNWIND_USER_H

#include "found.h"

#ifdef KW_HAVE_unwind_user
#include <linux/unwind_user.h>
#else
/* Before 6.17, the function does not exist, and kunwind_function() does not find it. */
struct unwind_stacktrace {
	unsigned int nr;
	unsigned long *entries;
};

int unwind_user(struct unwind_stacktrace *trace, unsigned int max_entries);
#endif

#endif /* KW_COMPAT_UNWIND_USER_H */
