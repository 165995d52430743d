/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* Copies of messages, which refer to copies (mirror.h). */
#ifndef KR_MESSAGE_H
#define KR_MESSAGE_H

#include <babeltrace2/babeltrace.h>

struct kr_event_class;
struct kr_mirror;

/* Return: a message of @it like an event's, whose event has no fields yet; or NULL. */
bt_message *kr_message_create_event(struct kr_mirror *mirror,
				    bt_self_message_iterator *it,
				    const bt_message *in,
				    const struct kr_event_class *class);

/* Return: a message of @it like one that is no event's; or NULL. */
const bt_message *kr_message_copy(struct kr_mirror *mirror,
				  bt_self_message_iterator *it,
				  const bt_message *in);

#endif /* KR_MESSAGE_H */
