/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* Model-specific registers. */
#ifndef KW_COMPAT_MSR_H
#define KW_COMPAT_MSR_H

#include <asm/msr.h>
#include "found.h"

/* Before 6.16, it has another name. */
#ifndef KW_HAVE_rdmsrq_safe
#define rdmsrq_safe	rdmsrl_safe
#endif

#endif /* KW_COMPAT_MSR_H */
