/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* Consumers of stacks, and the hooks and tables that the module keeps for them. */
#ifndef KW_CONSUMER_H
#define KW_CONSUMER_H

#include <kunwind/kunwind.h>

struct kw_space;
struct mm_struct;

/*
 * Made by kunwind_attach(), kunwind_attach_user(), open() of the device, or a request for
 * another process's stack. Used only by the caller, or the open file. Freed by
 * kunwind_detach(), or by the last close.
 */
struct kunwind_consumer {
	/* The only mm that it covers, by mmgrab(); NULL if it covers all of @uid's. */
	struct mm_struct *mm;
	struct kw_space *space;
	/* If @mm is NULL: the user whose processes it covers, or KW_EVERYBODY. */
	kuid_t uid;
};

/* How long hooks stay after the last consumer, in jiffies; see times.h. */
extern unsigned long kw_hooks_stay;

struct kunwind_consumer *kw_consumer_open(struct mm_struct *mm, pid_t pid, kuid_t uid);
void kw_consumer_close(struct kunwind_consumer *consumer);
void kw_consumers_exit(void);

#endif /* KW_CONSUMER_H */
