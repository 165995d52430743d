/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* Spaces that are made ahead of time. */
#ifndef KW_SPARES_H
#define KW_SPARES_H

#include <linux/types.h>

struct kw_space;

struct kw_space *kw_spare_take(void);
bool kw_spares_are_low(void);
void kw_spares_fill(void);
void kw_spares_free(void);

#endif /* KW_SPARES_H */
