/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* Whose processes the module must cover: all, or those of some users. */
#ifndef KW_WANTED_H
#define KW_WANTED_H

#include <linux/types.h>
#include <linux/uidgid.h>

/* Instead of a user ID: all users. */
#define KW_EVERYBODY	INVALID_UID

struct kw_wish;

struct kw_wish *kw_wish_alloc(kuid_t uid);
void kw_wanted_add(struct kw_wish *fresh);
void kw_wanted_del(kuid_t uid);
bool kw_is_wanted(kuid_t uid);
bool kw_is_any_wanted(void);

#endif /* KW_WANTED_H */
