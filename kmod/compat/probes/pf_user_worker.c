// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* 6.4: vhost has threads with the process's mm, as io_uring has. */
#include <linux/sched.h>

static const unsigned int flag __maybe_unused = PF_USER_WORKER;
