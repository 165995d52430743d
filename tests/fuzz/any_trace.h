/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * A source of babeltrace2, whose trace has classes and values as bytes say. The first of them
 * take members away from classes, or give them other types; then each event takes bytes for
 * its fields. No file has what babeltrace2's own source would not read.
 */
#ifndef FUZZ_ANY_TRACE_H
#define FUZZ_ANY_TRACE_H

#include <babeltrace2/babeltrace.h>
#include "kunwind_port.h"

struct any_bytes {
	const u8 *at;
	const u8 *end;
};

/* Return: the next byte, or 0 behind the last one. */
static inline u8 any_byte(struct any_bytes *bytes)
{
	return bytes->at < bytes->end ? *bytes->at++ : 0;
}

/* Its components are initialized with a struct any_bytes, which stays. */
const bt_component_class_source *any_trace_class(void);

#endif /* FUZZ_ANY_TRACE_H */
