/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* How much memory an event takes, as it waits. */
#ifndef KR_EVENT_BYTES_H
#define KR_EVENT_BYTES_H

#include <babeltrace2/babeltrace.h>
#include <stdint.h>

/* Return: about so many. */
uint64_t kr_event_bytes(const bt_event *event);

#endif /* KR_EVENT_BYTES_H */
