/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* Found only where the kernel has no such header: before 6.12 it is the architecture's. */
#include <asm/unaligned.h>
