/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * A source of babeltrace2, whose two traces have classes and values as bytes say. The first of them
 * take members away from classes, or give them other types; then each event takes bytes for
 * its fields. babeltrace2's own source would stop at what is no valid CTF.
 */
#ifndef FUZZ_ANY_TRACE_H
#define FUZZ_ANY_TRACE_H

#include <babeltrace2/babeltrace.h>

/* Its components are initialized with a struct any_bytes, which stays. */
const bt_component_class_source *any_trace_class(void);

#endif /* FUZZ_ANY_TRACE_H */
