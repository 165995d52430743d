/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* Where walks are made: see walks.c. */
#ifndef KW_WALKS_H
#define KW_WALKS_H

#include <linux/types.h>
#include "memo.h"

/*
 * A CPU's place for the walks of one context level. Written by that CPU alone, at that
 * level. @memo comes first: a walk's way to it is short.
 */
struct kw_place {
	struct kuw_memo memo;
	bool taken;
};

int kw_walks_open(void);
void kw_walks_close(void);
struct kw_place *kw_walks_enter(void);
void kw_walks_leave(struct kw_place *place);

#endif /* KW_WALKS_H */
