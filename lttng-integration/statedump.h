/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* The state dump of a session. */
#ifndef STATEDUMP_H
#define STATEDUMP_H

struct lttng_kernel_session;

int statedump_start(struct lttng_kernel_session *session);

#endif /* STATEDUMP_H */
