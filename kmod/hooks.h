/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* Hooks, by which the module learns of mappings. */
#ifndef KW_HOOKS_H
#define KW_HOOKS_H

void kw_hooks_init(void);
const char *kw_hooks_missing(void);
int kw_hooks_register(void);
void kw_hooks_unregister(void);

#endif /* KW_HOOKS_H */
