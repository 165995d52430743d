/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* Consumers of stacks, and what is kept up for them. */
#ifndef KW_CONSUMER_H
#define KW_CONSUMER_H

#include <kunwind/kunwind.h>

struct kw_space;
struct mm_struct;

/*
 * Made by kunwind_attach(), kunwind_attach_user() or by open() of the device; used by its
 * owner alone; freed by kunwind_detach(), or by the last close.
 */
struct kunwind_consumer {
	/* NULL for one that covers other processes, too; else held by mmgrab(). */
	struct mm_struct *mm;
	struct kw_space *space;
	/* Without @mm: whose processes, or KW_EVERYBODY. */
	kuid_t uid;
};

/* How long hooks stay after the last consumer, in jiffies; see times.h. */
extern unsigned long kw_hooks_stay;

struct kunwind_consumer *kw_consumer_open(struct mm_struct *mm, kuid_t uid);
void kw_consumer_close(struct kunwind_consumer *consumer);
void kw_consumers_exit(void);

#endif /* KW_CONSUMER_H */
