/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* Who wants callchains: from the first one on, stacks are covered, and to the last. */
#ifndef KT_DEMAND_H
#define KT_DEMAND_H

int demand_init(void);
void demand_exit(void);

#endif /* KT_DEMAND_H */
