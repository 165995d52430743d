// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* An event of a profile. */
#include <glib.h>
#include "sample.h"

static bool take(const bt_field *payload, const char *name, uint64_t *value)
{
	const bt_field *field =
		bt_field_structure_borrow_member_field_by_name_const(payload, name);

	if (!field || !bt_field_class_type_is(bt_field_get_class_type(field),
					      BT_FIELD_CLASS_TYPE_UNSIGNED_INTEGER))
		return false;
	*value = bt_field_integer_unsigned_get_value(field);
	return true;
}

/* Return: the array of addresses of that name, or NULL. */
static const bt_field *addresses(const bt_field *payload, const char *name)
{
	const bt_field *field =
		bt_field_structure_borrow_member_field_by_name_const(payload, name);
	const bt_field_class *class;

	if (!field || !bt_field_class_type_is(bt_field_get_class_type(field),
					      BT_FIELD_CLASS_TYPE_ARRAY))
		return NULL;
	class = bt_field_borrow_class_const(field);
	class = bt_field_class_array_borrow_element_field_class_const(class);
	return bt_field_class_type_is(bt_field_class_get_type(class),
		BT_FIELD_CLASS_TYPE_UNSIGNED_INTEGER) ? field : NULL;
}

bool kr_sample_of_event(const bt_event *event, struct kr_sample *sample)
{
	const char *name = bt_event_class_get_name(bt_event_borrow_class_const(event));
	const bt_field *payload = bt_event_borrow_payload_field_const(event);
	uint64_t user;

	if (g_strcmp0(name, "cpu_sample") || !payload ||
	    !take(payload, "period", &sample->period) ||
	    !take(payload, "ip", &sample->ip) || !take(payload, "user", &user))
		return false;
	sample->user = user;
	sample->kernel = addresses(payload, "callstack_kernel");
	return true;
}
