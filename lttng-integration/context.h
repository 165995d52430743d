/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* The context: fields that LTTng adds to every event. */
#ifndef CONTEXT_H
#define CONTEXT_H

struct lttng_kernel_ctx;

int context_add(struct lttng_kernel_ctx **ctx);

#endif /* CONTEXT_H */
