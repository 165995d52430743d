/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* The demand for callchains: stacks are covered while any tool wants callchains. */
#ifndef KT_DEMAND_H
#define KT_DEMAND_H

int demand_init(void);
void demand_exit(void);

#endif /* KT_DEMAND_H */
