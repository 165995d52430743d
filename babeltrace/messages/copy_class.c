// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* Copies of field classes. */
#include "copy.h"

static const bt_field_class *at_path(const struct kr_copier *copier,
				     const bt_field_path *path)
{
	const bt_field_class *at =
		copier->scopes[bt_field_path_get_root_scope(path)];
	uint64_t i, n = bt_field_path_get_item_count(path);

	for (i = 0; i < n && at; i++) {
		const bt_field_path_item *item =
			bt_field_path_borrow_item_by_index_const(path, i);
		bt_field_class_type type = bt_field_class_get_type(at);

		if (type == BT_FIELD_CLASS_TYPE_STRUCTURE)
			at = bt_field_class_structure_member_borrow_field_class_const(
				bt_field_class_structure_borrow_member_by_index_const(
					at, bt_field_path_item_index_get_index(item)));
		else if (bt_field_class_type_is(type, BT_FIELD_CLASS_TYPE_VARIANT))
			at = bt_field_class_variant_option_borrow_field_class_const(
				bt_field_class_variant_borrow_option_by_index_const(
					at, bt_field_path_item_index_get_index(item)));
		else if (bt_field_class_type_is(type, BT_FIELD_CLASS_TYPE_ARRAY))
			at = bt_field_class_array_borrow_element_field_class_const(at);
		else
			at = bt_field_class_option_borrow_field_class_const(at);
	}
	return at;
}

/* Return: the copy of what a path leads to. */
static bt_field_class *copy_at_path(const struct kr_copier *copier,
				    const bt_field_path *path)
{
	return g_hash_table_lookup(copier->copies, at_path(copier, path));
}

static void copy_integer(const bt_field_class *from, bt_field_class *to)
{
	bt_field_class_integer_set_field_value_range(to,
		bt_field_class_integer_get_field_value_range(from));
	bt_field_class_integer_set_preferred_display_base(to,
		bt_field_class_integer_get_preferred_display_base(from));
}

static bool copy_unsigned_labels(const bt_field_class *from, bt_field_class *to)
{
	uint64_t i, n = bt_field_class_enumeration_get_mapping_count(from);

	for (i = 0; i < n; i++) {
		const bt_field_class_enumeration_unsigned_mapping *mapping =
			bt_field_class_enumeration_unsigned_borrow_mapping_by_index_const(
				from, i);

		if (bt_field_class_enumeration_unsigned_add_mapping(to,
				bt_field_class_enumeration_mapping_get_label(
					bt_field_class_enumeration_unsigned_mapping_as_mapping_const(
						mapping)),
				bt_field_class_enumeration_unsigned_mapping_borrow_ranges_const(
					mapping)))
			return false;
	}
	return true;
}

static bool copy_signed_labels(const bt_field_class *from, bt_field_class *to)
{
	uint64_t i, n = bt_field_class_enumeration_get_mapping_count(from);

	for (i = 0; i < n; i++) {
		const bt_field_class_enumeration_signed_mapping *mapping =
			bt_field_class_enumeration_signed_borrow_mapping_by_index_const(
				from, i);

		if (bt_field_class_enumeration_signed_add_mapping(to,
				bt_field_class_enumeration_mapping_get_label(
					bt_field_class_enumeration_signed_mapping_as_mapping_const(
						mapping)),
				bt_field_class_enumeration_signed_mapping_borrow_ranges_const(
					mapping)))
			return false;
	}
	return true;
}

static bool copy_members(struct kr_copier *copier, const bt_field_class *from,
			 bt_field_class *to)
{
	uint64_t i, n = bt_field_class_structure_get_member_count(from);

	for (i = 0; i < n; i++) {
		const bt_field_class_structure_member *member =
			bt_field_class_structure_borrow_member_by_index_const(from, i);
		bt_field_class *copy = kr_copy_field_class(copier,
			bt_field_class_structure_member_borrow_field_class_const(
				member));
		int err;

		if (!copy)
			return false;
		err = bt_field_class_structure_append_member(to,
			bt_field_class_structure_member_get_name(member), copy);
		bt_field_class_put_ref(copy);
		if (err)
			return false;
		bt_field_class_structure_member_set_user_attributes(
			bt_field_class_structure_borrow_member_by_index(to, i),
			bt_field_class_structure_member_borrow_user_attributes_const(
				member));
	}
	return true;
}

static int append_option(const bt_field_class *from, bt_field_class *to,
			 const char *name, bt_field_class *option, uint64_t i)
{
	switch (bt_field_class_get_type(from)) {
	case BT_FIELD_CLASS_TYPE_VARIANT_WITH_UNSIGNED_INTEGER_SELECTOR_FIELD:
		return bt_field_class_variant_with_selector_field_integer_unsigned_append_option(
			to, name, option,
			bt_field_class_variant_with_selector_field_integer_unsigned_option_borrow_ranges_const(
				bt_field_class_variant_with_selector_field_integer_unsigned_borrow_option_by_index_const(
					from, i)));
	case BT_FIELD_CLASS_TYPE_VARIANT_WITH_SIGNED_INTEGER_SELECTOR_FIELD:
		return bt_field_class_variant_with_selector_field_integer_signed_append_option(
			to, name, option,
			bt_field_class_variant_with_selector_field_integer_signed_option_borrow_ranges_const(
				bt_field_class_variant_with_selector_field_integer_signed_borrow_option_by_index_const(
					from, i)));
	default:
		return bt_field_class_variant_without_selector_append_option(
			to, name, option);
	}
}

static bool copy_options(struct kr_copier *copier, const bt_field_class *from,
			 bt_field_class *to)
{
	uint64_t i, n = bt_field_class_variant_get_option_count(from);

	for (i = 0; i < n; i++) {
		const bt_field_class_variant_option *option =
			bt_field_class_variant_borrow_option_by_index_const(from, i);
		bt_field_class *copy = kr_copy_field_class(copier,
			bt_field_class_variant_option_borrow_field_class_const(
				option));
		int err;

		if (!copy)
			return false;
		err = append_option(from, to,
			bt_field_class_variant_option_get_name(option), copy, i);
		bt_field_class_put_ref(copy);
		if (err)
			return false;
		bt_field_class_variant_option_set_user_attributes(
			bt_field_class_variant_borrow_option_by_index(to, i),
			bt_field_class_variant_option_borrow_user_attributes_const(
				option));
	}
	return true;
}

static bt_field_class *create_variant(struct kr_copier *copier,
				      const bt_field_class *from)
{
	bt_field_class *selector = NULL;

	if (bt_field_class_type_is(bt_field_class_get_type(from),
			BT_FIELD_CLASS_TYPE_VARIANT_WITH_SELECTOR_FIELD)) {
		selector = copy_at_path(copier,
			bt_field_class_variant_with_selector_field_borrow_selector_field_path_const(
				from));
		if (!selector)
			return NULL;
	}
	return bt_field_class_variant_create(copier->to, selector);
}

static bt_field_class *create_array(struct kr_copier *copier,
				    const bt_field_class *from)
{
	bt_field_class *element, *length = NULL, *array = NULL;
	bt_field_class_type type = bt_field_class_get_type(from);

	element = kr_copy_field_class(copier,
		bt_field_class_array_borrow_element_field_class_const(from));
	if (!element)
		return NULL;
	if (type == BT_FIELD_CLASS_TYPE_STATIC_ARRAY) {
		array = bt_field_class_array_static_create(copier->to, element,
			bt_field_class_array_static_get_length(from));
	} else {
		if (type == BT_FIELD_CLASS_TYPE_DYNAMIC_ARRAY_WITH_LENGTH_FIELD)
			length = copy_at_path(copier,
				bt_field_class_array_dynamic_with_length_field_borrow_length_field_path_const(
					from));
		array = bt_field_class_array_dynamic_create(copier->to, element,
							    length);
	}
	bt_field_class_put_ref(element);
	return array;
}

static bt_field_class *create_selected(struct kr_copier *copier,
				       const bt_field_class *from,
				       bt_field_class *content)
{
	bt_field_class_type type = bt_field_class_get_type(from);
	bt_field_class *selector, *option;

	selector = copy_at_path(copier,
		bt_field_class_option_with_selector_field_borrow_selector_field_path_const(
			from));
	if (!selector)
		return NULL;
	if (type == BT_FIELD_CLASS_TYPE_OPTION_WITH_UNSIGNED_INTEGER_SELECTOR_FIELD)
		return bt_field_class_option_with_selector_field_integer_unsigned_create(
			copier->to, content, selector,
			bt_field_class_option_with_selector_field_integer_unsigned_borrow_selector_ranges_const(
				from));
	if (type == BT_FIELD_CLASS_TYPE_OPTION_WITH_SIGNED_INTEGER_SELECTOR_FIELD)
		return bt_field_class_option_with_selector_field_integer_signed_create(
			copier->to, content, selector,
			bt_field_class_option_with_selector_field_integer_signed_borrow_selector_ranges_const(
				from));
	option = bt_field_class_option_with_selector_field_bool_create(
		copier->to, content, selector);
	if (option)
		bt_field_class_option_with_selector_field_bool_set_selector_is_reversed(
			option,
			bt_field_class_option_with_selector_field_bool_selector_is_reversed(
				from));
	return option;
}

static bt_field_class *create_option(struct kr_copier *copier,
				     const bt_field_class *from)
{
	bt_field_class *content, *option;

	content = kr_copy_field_class(copier,
		bt_field_class_option_borrow_field_class_const(from));
	if (!content)
		return NULL;
	if (bt_field_class_get_type(from) ==
	    BT_FIELD_CLASS_TYPE_OPTION_WITHOUT_SELECTOR_FIELD)
		option = bt_field_class_option_without_selector_create(copier->to,
								       content);
	else
		option = create_selected(copier, from, content);
	bt_field_class_put_ref(content);
	return option;
}

/* Return: a class of the same type, to be filled by fill(). */
static bt_field_class *create(struct kr_copier *copier, const bt_field_class *from)
{
	bt_field_class_type type = bt_field_class_get_type(from);

	switch (type) {
	case BT_FIELD_CLASS_TYPE_BOOL:
		return bt_field_class_bool_create(copier->to);
	case BT_FIELD_CLASS_TYPE_BIT_ARRAY:
		return bt_field_class_bit_array_create(copier->to,
			bt_field_class_bit_array_get_length(from));
	case BT_FIELD_CLASS_TYPE_UNSIGNED_INTEGER:
		return bt_field_class_integer_unsigned_create(copier->to);
	case BT_FIELD_CLASS_TYPE_SIGNED_INTEGER:
		return bt_field_class_integer_signed_create(copier->to);
	case BT_FIELD_CLASS_TYPE_UNSIGNED_ENUMERATION:
		return bt_field_class_enumeration_unsigned_create(copier->to);
	case BT_FIELD_CLASS_TYPE_SIGNED_ENUMERATION:
		return bt_field_class_enumeration_signed_create(copier->to);
	case BT_FIELD_CLASS_TYPE_SINGLE_PRECISION_REAL:
		return bt_field_class_real_single_precision_create(copier->to);
	case BT_FIELD_CLASS_TYPE_DOUBLE_PRECISION_REAL:
		return bt_field_class_real_double_precision_create(copier->to);
	case BT_FIELD_CLASS_TYPE_STRING:
		return bt_field_class_string_create(copier->to);
	case BT_FIELD_CLASS_TYPE_STRUCTURE:
		return bt_field_class_structure_create(copier->to);
	default:
		break;
	}
	if (bt_field_class_type_is(type, BT_FIELD_CLASS_TYPE_ARRAY))
		return create_array(copier, from);
	if (bt_field_class_type_is(type, BT_FIELD_CLASS_TYPE_OPTION))
		return create_option(copier, from);
	if (bt_field_class_type_is(type, BT_FIELD_CLASS_TYPE_VARIANT))
		return create_variant(copier, from);
	return NULL;
}

static bool fill(struct kr_copier *copier, const bt_field_class *from,
		 bt_field_class *to)
{
	bt_field_class_type type = bt_field_class_get_type(from);

	if (bt_field_class_type_is(type, BT_FIELD_CLASS_TYPE_INTEGER))
		copy_integer(from, to);
	if (type == BT_FIELD_CLASS_TYPE_UNSIGNED_ENUMERATION)
		return copy_unsigned_labels(from, to);
	if (type == BT_FIELD_CLASS_TYPE_SIGNED_ENUMERATION)
		return copy_signed_labels(from, to);
	if (type == BT_FIELD_CLASS_TYPE_STRUCTURE)
		return copy_members(copier, from, to);
	if (bt_field_class_type_is(type, BT_FIELD_CLASS_TYPE_VARIANT))
		return copy_options(copier, from, to);
	return true;
}

bt_field_class *kr_copy_field_class(struct kr_copier *copier,
				    const bt_field_class *from)
{
	bt_field_class *to = create(copier, from);

	if (!to)
		return NULL;
	bt_field_class_set_user_attributes(to,
		bt_field_class_borrow_user_attributes_const(from));
	if (!fill(copier, from, to)) {
		bt_field_class_put_ref(to);
		return NULL;
	}
	g_hash_table_insert(copier->copies, (void *)from, to);
	return to;
}
