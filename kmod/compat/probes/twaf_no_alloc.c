// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* 6.12 only: the caller of task_work_add() says whether KASAN may allocate. */
#include <linux/task_work.h>

static const unsigned int flag __maybe_unused = TWAF_NO_ALLOC;
