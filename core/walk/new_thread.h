/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* Code that starts a thread or a fiber, where CFI does not say so: the outermost frame. */
#ifndef KUW_NEW_THREAD_H
#define KUW_NEW_THREAD_H

#include "apply.h"

/* Return: whether @ip is after the call in the code that starts musl's threads. */
bool kuw_begins_thread(struct kuw_state *w, u64 ip);

/* Return: whether @ip is where the function of a fiber of make_fcontext() would return to. */
bool kuw_begins_fiber(struct kuw_state *w, u64 ip);

/* Return: whether the thread was made by the system call before @ip, and starts here. */
bool kuw_is_new_thread(struct kuw_state *w, const struct kuw_mapping *m, u64 ip);

#endif /* KUW_NEW_THREAD_H */
