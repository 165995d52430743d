// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* The values of a field, into a field whose class is a copy of its class. */
#include "copy.h"

static bool copy_members(const bt_field *from, bt_field *to)
{
	uint64_t i, n = bt_field_class_structure_get_member_count(
		bt_field_borrow_class_const(from));

	for (i = 0; i < n; i++)
		if (!kr_copy_field(
			bt_field_structure_borrow_member_field_by_index_const(from, i),
			bt_field_structure_borrow_member_field_by_index(to, i)))
			return false;
	return true;
}

static bool copy_elements(const bt_field *from, bt_field *to)
{
	uint64_t i, n = bt_field_array_get_length(from);

	if (bt_field_get_class_type(from) != BT_FIELD_CLASS_TYPE_STATIC_ARRAY &&
	    bt_field_array_dynamic_set_length(to, n))
		return false;
	for (i = 0; i < n; i++)
		if (!kr_copy_field(
			bt_field_array_borrow_element_field_by_index_const(from, i),
			bt_field_array_borrow_element_field_by_index(to, i)))
			return false;
	return true;
}

static bool copy_option(const bt_field *from, bt_field *to)
{
	const bt_field *content = bt_field_option_borrow_field_const(from);

	bt_field_option_set_has_field(to, !!content);
	return !content || kr_copy_field(content, bt_field_option_borrow_field(to));
}

static bool copy_variant(const bt_field *from, bt_field *to)
{
	if (bt_field_variant_select_option_by_index(to,
			bt_field_variant_get_selected_option_index(from)))
		return false;
	return kr_copy_field(
		bt_field_variant_borrow_selected_option_field_const(from),
		bt_field_variant_borrow_selected_option_field(to));
}

bool kr_copy_field(const bt_field *from, bt_field *to)
{
	bt_field_class_type type;

	if (!from || !to)
		return true;
	type = bt_field_get_class_type(from);
	switch (type) {
	case BT_FIELD_CLASS_TYPE_BOOL:
		bt_field_bool_set_value(to, bt_field_bool_get_value(from));
		return true;
	case BT_FIELD_CLASS_TYPE_BIT_ARRAY:
		bt_field_bit_array_set_value_as_integer(to,
			bt_field_bit_array_get_value_as_integer(from));
		return true;
	case BT_FIELD_CLASS_TYPE_UNSIGNED_INTEGER:
	case BT_FIELD_CLASS_TYPE_UNSIGNED_ENUMERATION:
		bt_field_integer_unsigned_set_value(to,
			bt_field_integer_unsigned_get_value(from));
		return true;
	case BT_FIELD_CLASS_TYPE_SIGNED_INTEGER:
	case BT_FIELD_CLASS_TYPE_SIGNED_ENUMERATION:
		bt_field_integer_signed_set_value(to,
			bt_field_integer_signed_get_value(from));
		return true;
	case BT_FIELD_CLASS_TYPE_SINGLE_PRECISION_REAL:
		bt_field_real_single_precision_set_value(to,
			bt_field_real_single_precision_get_value(from));
		return true;
	case BT_FIELD_CLASS_TYPE_DOUBLE_PRECISION_REAL:
		bt_field_real_double_precision_set_value(to,
			bt_field_real_double_precision_get_value(from));
		return true;
	case BT_FIELD_CLASS_TYPE_STRING:
		return !bt_field_string_set_value(to,
						  bt_field_string_get_value(from));
	case BT_FIELD_CLASS_TYPE_STRUCTURE:
		return copy_members(from, to);
	default:
		break;
	}
	if (bt_field_class_type_is(type, BT_FIELD_CLASS_TYPE_ARRAY))
		return copy_elements(from, to);
	if (bt_field_class_type_is(type, BT_FIELD_CLASS_TYPE_OPTION))
		return copy_option(from, to);
	return copy_variant(from, to);
}
