/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* Consumers of stacks, and the hooks and tables that the module keeps for them. */
#ifndef KW_CONSUMER_H
#define KW_CONSUMER_H

#include <linux/types.h>
#include <linux/uidgid.h>
#include <kunwind/kunwind.h>

struct kw_space;
struct mm_struct;
struct task_struct;

/* Instead of a user ID: all users. */
#define KW_EVERYBODY	INVALID_UID

/*
 * Made by kunwind_attach(), kunwind_attach_user(), open() of the device, or a request for
 * another process's stack. Used by the caller, or the open file; hooks find those without @mm
 * under rcu_read_lock(). Ended by kunwind_detach(), by the last close, or by a request for yet
 * another process, and freed after a grace period.
 */
struct kunwind_consumer {
	/* The only mm that it covers, by mmgrab(); NULL if it covers all of @uid's. */
	struct mm_struct *mm;
	struct kw_space *space;
	/* If @mm is NULL: the user whose processes it covers, or KW_EVERYBODY. */
	kuid_t uid;
	struct hlist_node node;
	struct rcu_head rcu;
};

struct kunwind_consumer *kw_consumer_open(struct mm_struct *mm, pid_t pid, kuid_t uid);
bool kw_is_wanted(kuid_t uid);
bool kw_is_any_wanted(void);
void kw_consumers_exit(void);

/*
 * hooks.c: by hooks, the module learns of mappings. @kw_hooks_missing: the name of the optional
 * function that this kernel lacks, or "". Set by kw_hooks_init().
 */
extern const char *kw_hooks_missing;
void kw_hooks_init(void);
int kw_hooks_register(void);
void kw_hooks_unregister(void);

/* attach.c */
struct mm_struct *kw_grab_mm(struct task_struct *thread);
int kw_attach(kuid_t uid);
int kw_attach_one(struct mm_struct *mm, pid_t pid, kuid_t uid);

#endif /* KW_CONSUMER_H */
