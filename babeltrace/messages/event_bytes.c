// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* The memory of an event: babeltrace2 allocates an object for each number of an array. */
#include <stdbool.h>
#include <string.h>
#include "event_bytes.h"

/* Of babeltrace2 2.0's objects, and what points at them. */
#define FIELD_BYTES	104

static uint64_t bytes_of(const bt_field *field);

static uint64_t bytes_of_members(const bt_field *field)
{
	uint64_t i, n = bt_field_class_structure_get_member_count(
		bt_field_borrow_class_const(field)), sum = 0;

	for (i = 0; i < n; i++)
		sum += bytes_of(bt_field_structure_borrow_member_field_by_index_const(
			field, i));
	return sum;
}

static bool is_compound(bt_field_class_type type)
{
	return type == BT_FIELD_CLASS_TYPE_STRING || type == BT_FIELD_CLASS_TYPE_STRUCTURE ||
	       bt_field_class_type_is(type, BT_FIELD_CLASS_TYPE_ARRAY) ||
	       bt_field_class_type_is(type, BT_FIELD_CLASS_TYPE_OPTION) ||
	       bt_field_class_type_is(type, BT_FIELD_CLASS_TYPE_VARIANT);
}

static uint64_t bytes_of_elements(const bt_field *field)
{
	bt_field_class_type type = bt_field_class_get_type(
		bt_field_class_array_borrow_element_field_class_const(
			bt_field_borrow_class_const(field)));
	uint64_t i, n = bt_field_array_get_length(field), sum = 0;

	if (!is_compound(type))
		return n * FIELD_BYTES;
	for (i = 0; i < n; i++)
		sum += bytes_of(bt_field_array_borrow_element_field_by_index_const(field, i));
	return sum;
}

static uint64_t bytes_of(const bt_field *field)
{
	bt_field_class_type type;

	if (!field)
		return 0;
	type = bt_field_get_class_type(field);
	if (type == BT_FIELD_CLASS_TYPE_STRING)
		return FIELD_BYTES + strlen(bt_field_string_get_value(field));
	if (type == BT_FIELD_CLASS_TYPE_STRUCTURE)
		return FIELD_BYTES + bytes_of_members(field);
	if (bt_field_class_type_is(type, BT_FIELD_CLASS_TYPE_ARRAY))
		return FIELD_BYTES + bytes_of_elements(field);
	if (bt_field_class_type_is(type, BT_FIELD_CLASS_TYPE_OPTION))
		return FIELD_BYTES + bytes_of(bt_field_option_borrow_field_const(field));
	if (bt_field_class_type_is(type, BT_FIELD_CLASS_TYPE_VARIANT))
		return FIELD_BYTES + bytes_of(
			bt_field_variant_borrow_selected_option_field_const(field));
	return FIELD_BYTES;
}

uint64_t kr_event_bytes(const bt_event *event)
{
	return bytes_of(bt_event_borrow_common_context_field_const(event)) +
	       bytes_of(bt_event_borrow_specific_context_field_const(event)) +
	       bytes_of(bt_event_borrow_payload_field_const(event));
}
