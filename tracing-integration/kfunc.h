/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* The function that BPF programs can call; Documentation/tracing.md is the manual. */
#ifndef KT_KFUNC_H
#define KT_KFUNC_H

#ifdef KT_HAVE_KFUNCS
int kfunc_init(void);
void kfunc_exit(void);
#else
static inline int kfunc_init(void)
{
	return 0;
}

static inline void kfunc_exit(void)
{
}
#endif

#endif /* KT_KFUNC_H */
