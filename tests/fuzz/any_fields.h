/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* Classes of fields of babeltrace2, and what fields have, as bytes of an input say. */
#ifndef FUZZ_ANY_FIELDS_H
#define FUZZ_ANY_FIELDS_H

#include <babeltrace2/babeltrace.h>
#include "kunwind_port.h"

struct any_bytes {
	const u8 *at;
	const u8 *end;
};

/* Return: the next byte, or 0 behind the last one. */
static inline u8 any_byte(struct any_bytes *in)
{
	return in->at < in->end ? *in->at++ : 0;
}

/* Return: mostly a small number, so that many are the same. */
u64 any_number(struct any_bytes *in);

/**
 * struct any_member - of a structure
 * @type: unsigned, integer, float, bool, string, enumeration; of unsigned numbers an array, one
 *	of constant length, an option, a variant, or something nested; S: an array of strings;
 *	O: an option of an array
 * @name: its name
 */
struct any_member {
	char type;
	const char *name;
};

/*
 * Return: the class of these members, up to one without a type. One of them can be missing, or
 * of another type, or of one that another member selects.
 */
bt_field_class *any_structure(struct any_bytes *in, bt_trace_class *trace,
			      const struct any_member *members, size_t count);

/* Give a field, and all that is in it, values. */
void any_fill(struct any_bytes *in, bt_field *field);

#endif /* FUZZ_ANY_FIELDS_H */
