/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* Hooks, by which the module learns of mappings. */
#ifndef KW_HOOKS_H
#define KW_HOOKS_H

/* The name of the optional function that this kernel lacks, or "". Set by kw_hooks_init(). */
extern const char *kw_hooks_missing;

void kw_hooks_init(void);
int kw_hooks_register(void);
void kw_hooks_unregister(void);

#endif /* KW_HOOKS_H */
