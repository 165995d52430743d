/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* Whether the saved user registers are whole. */
#ifndef KW_REGISTERS_H
#define KW_REGISTERS_H

#include <linux/types.h>

void kw_registers_init(void);
bool kw_registers_are_whole(void);

#endif /* KW_REGISTERS_H */
