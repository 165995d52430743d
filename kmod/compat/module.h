/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* Where a module's code is, after its init. */
#ifndef KW_COMPAT_MODULE_H
#define KW_COMPAT_MODULE_H

#include <linux/module.h>
#include "found.h"

/* Before 6.4, code and data are in one piece. */
#ifdef KW_HAVE_module_memory
#define kw_module_text(mod)		((unsigned long)(mod)->mem[MOD_TEXT].base)
#define kw_module_text_size(mod)	((mod)->mem[MOD_TEXT].size)
#else
#define kw_module_text(mod)		((unsigned long)(mod)->core_layout.base)
#define kw_module_text_size(mod)	((mod)->core_layout.text_size)
#endif

#endif /* KW_COMPAT_MODULE_H */
