/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* Sizes that do not overflow. */
#ifndef KW_COMPAT_OVERFLOW_H
#define KW_COMPAT_OVERFLOW_H

#include <linux/overflow.h>
#include "found.h"

/* Before 6.5, the macro wants a pointer, which it does not follow. */
#ifndef KW_HAVE_struct_size_t
#define struct_size_t(type, member, count) struct_size((type *)NULL, member, count)
#endif

#endif /* KW_COMPAT_OVERFLOW_H */
