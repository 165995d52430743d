/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* What asm/tlbflush.h does not declare to modules. */
#ifndef KW_COMPAT_TLBFLUSH_H
#define KW_COMPAT_TLBFLUSH_H

#include <linux/types.h>

bool nmi_uaccess_okay(void);

#endif /* KW_COMPAT_TLBFLUSH_H */
