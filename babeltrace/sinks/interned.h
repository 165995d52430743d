/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * Interned data of a trace for Perfetto: names, frames and callstacks. Each is in the trace
 * once, before what refers to its number.
 */
#ifndef KR_INTERNED_H
#define KR_INTERNED_H

#include <stdint.h>
#include "perfetto.pb-c.h"

struct kr_stack;

/* Names have numbers of their own in each of these. */
enum kr_table {
	KR_CATEGORIES,
	KR_EVENT_NAMES,
	KR_ARG_NAMES,
	KR_NR_NAMES
};

struct kr_interned;

/* @write: called with what is new */
struct kr_interned *kr_interned_new(void (*write)(void *data, Perfetto__InternedData *part),
				    void *data);
void kr_interned_free(struct kr_interned *interned);

uint64_t kr_interned_name(struct kr_interned *interned, enum kr_table table,
			  const char *text);

/* Return: the number of a callstack; 0 if it has no frames. */
uint32_t kr_interned_stack(struct kr_interned *interned, const struct kr_stack *stack);

#endif /* KR_INTERNED_H */
