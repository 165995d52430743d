/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* The user half of perf's and BPF's callchains. */
#ifndef KT_CALLCHAIN_H
#define KT_CALLCHAIN_H

int callchain_init(void);
int callchain_begin(void);
void callchain_end(void);

#endif /* KT_CALLCHAIN_H */
