/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* Cover the processes that run already when a tracer attaches. */
#ifndef KW_ATTACH_H
#define KW_ATTACH_H

#include <linux/types.h>
#include <linux/uidgid.h>

struct mm_struct;

int kw_attach(kuid_t uid);
int kw_attach_one(struct mm_struct *mm, pid_t pid, kuid_t uid);

#endif /* KW_ATTACH_H */
