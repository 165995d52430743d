/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* Flags of tasks. */
#ifndef KW_COMPAT_SCHED_H
#define KW_COMPAT_SCHED_H

#include <linux/sched.h>

/* Before 6.4, only io_uring has threads that share a process's mm and have no user stack. */
#ifndef PF_USER_WORKER
#define PF_USER_WORKER	PF_IO_WORKER
#endif

#endif /* KW_COMPAT_SCHED_H */
