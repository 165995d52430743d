/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* Work of tasks. */
#ifndef KW_COMPAT_TASK_WORK_H
#define KW_COMPAT_TASK_WORK_H

#include <linux/task_work.h>
#include "found.h"

/* Before and after 6.12, task_work_add() allocates nothing, except KASAN's record before 6.12. */
#ifndef KW_HAVE_TWAF_NO_ALLOC
#define TWAF_NO_ALLOC	0
#endif

#endif /* KW_COMPAT_TASK_WORK_H */
