// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* Classes of fields, and what fields have: see any_fields.h. */
#include <glib.h>
#include "any_fields.h"
#include "fuzz.h"

u64 any_number(struct any_bytes *in)
{
	u8 first = any_byte(in);
	u64 number = 0;

	if (first < 0xf0)
		return (u64)(first % 16) << 4 * (first / 16);
	for (; first > 0xf0 && first <= 0xf8; first--)
		number = number << 8 | any_byte(in);
	return first > 0xf8 ? 0 - (u64)(first & 7) : number;
}

static void take_string(struct any_bytes *in, char *text, size_t size)
{
	static const char *const names[] = { "", "[vdso]", "/a", "/b/a", "[anon:x]", "/a\nb" };
	u8 first = any_byte(in);
	size_t i, length = first % 16;

	if (first / 16 < G_N_ELEMENTS(names)) {
		g_strlcpy(text, names[first / 16], size);
		return;
	}
	for (i = 0; i < length; i++)
		text[i] = any_byte(in);
	text[length] = '\0';
}

static bt_field_class *create_class(bt_trace_class *trace, char type);

static bt_field_class *create_labelled(bt_trace_class *trace)
{
	bt_field_class *class = bt_field_class_enumeration_unsigned_create(trace);
	bt_integer_range_set_unsigned *range = bt_integer_range_set_unsigned_create();

	must(!bt_integer_range_set_unsigned_add_range(range, 0, 1));
	must(!bt_field_class_enumeration_unsigned_add_mapping(class, "COMPLETE", range));
	bt_integer_range_set_unsigned_put_ref(range);
	return class;
}

/* An array, an option, or such, of another type. */
static bt_field_class *create_outer(bt_trace_class *trace, char type, char inner)
{
	bt_field_class *content = create_class(trace, inner), *class;

	switch (type) {
	case 'c':
		class = bt_field_class_array_static_create(trace, content, 3);
		break;
	case 'o':
		class = bt_field_class_option_without_selector_create(trace, content);
		break;
	case 'v':
		class = bt_field_class_variant_create(trace, NULL);
		must(!bt_field_class_variant_without_selector_append_option(class, "x", content));
		break;
	case 'n':
		class = bt_field_class_structure_create(trace);
		must(!bt_field_class_structure_append_member(class, "x", content));
		break;
	default:
		class = bt_field_class_array_dynamic_create(trace, content, NULL);
	}
	bt_field_class_put_ref(content);
	return class;
}

static bt_field_class *create_class(bt_trace_class *trace, char type)
{
	switch (type) {
	case 'u':
		return bt_field_class_integer_unsigned_create(trace);
	case 'i':
		return bt_field_class_integer_signed_create(trace);
	case 's':
		return bt_field_class_string_create(trace);
	case 'e':
		return create_labelled(trace);
	case 'f':
		return bt_field_class_real_double_precision_create(trace);
	case 'b':
		return bt_field_class_bool_create(trace);
	case 'S':
		return create_outer(trace, 'a', 's');
	case 'O':
		return create_outer(trace, 'o', 'a');
	}
	return create_outer(trace, type, 'u');
}

/* Another type than a member should have. */
static char take_type(struct any_bytes *in)
{
	static const char types[] = "uisaefbcovnSO";

	return types[any_byte(in) % (sizeof(types) - 1)];
}

static void append(bt_field_class *structure, const char *name, bt_field_class *member)
{
	must(!bt_field_class_structure_append_member(structure, name, member));
	bt_field_class_put_ref(member);
}

/* What another field tells the length of, or whether it is there, or which one it is. */
static bt_field_class *create_selected(struct any_bytes *in, bt_trace_class *trace,
				       bt_field_class *by)
{
	bt_integer_range_set_unsigned *range = bt_integer_range_set_unsigned_create();
	bt_field_class *content = create_class(trace, take_type(in)), *class;

	must(!bt_integer_range_set_unsigned_add_range(range, 0, 3));
	switch (any_byte(in) % 3) {
	case 0:
		class = bt_field_class_array_dynamic_create(trace, content, by);
		break;
	case 1:
		class = bt_field_class_option_with_selector_field_integer_unsigned_create(
			trace, content, by, range);
		break;
	default:
		class = bt_field_class_variant_create(trace, by);
		must(!bt_field_class_variant_with_selector_field_integer_unsigned_append_option(
			class, "x", content, range));
	}
	bt_field_class_put_ref(content);
	bt_integer_range_set_unsigned_put_ref(range);
	return class;
}

static void append_selected(struct any_bytes *in, bt_trace_class *trace,
			    bt_field_class *structure, const char *name)
{
	bt_field_class *by = bt_field_class_integer_unsigned_create(trace);
	char *selector = g_strdup_printf("_%s_length", name);

	must(!bt_field_class_structure_append_member(structure, selector, by));
	append(structure, name, create_selected(in, trace, by));
	bt_field_class_put_ref(by);
	g_free(selector);
}

bt_field_class *any_structure(struct any_bytes *in, bt_trace_class *trace,
			      const struct any_member *members, size_t count)
{
	bt_field_class *structure = bt_field_class_structure_create(trace);
	u8 change = any_byte(in);
	size_t i;

	for (i = 0; i < count && members[i].type; i++) {
		/* One of them, in one of four inputs. */
		bool changed = change >= 0xc0 && change % 16 == i;

		if (changed && change < 0xd0)
			continue;
		if (changed && change < 0xe0)
			append_selected(in, trace, structure, members[i].name);
		else
			append(structure, members[i].name,
			       create_class(trace, changed ? take_type(in) : members[i].type));
	}
	return structure;
}

static void fill_members(struct any_bytes *in, bt_field *field)
{
	const bt_field_class *class = bt_field_borrow_class_const(field);
	u64 i, count = bt_field_class_structure_get_member_count(class);

	for (i = 0; i < count; i++)
		any_fill(in, bt_field_structure_borrow_member_field_by_index(field, i));
}

static void fill_elements(struct any_bytes *in, bt_field *field)
{
	u64 i, count = bt_field_array_get_length(field);

	/* What another field says of the length need not be true. */
	if (bt_field_get_class_type(field) != BT_FIELD_CLASS_TYPE_STATIC_ARRAY) {
		count = any_byte(in) % 8;
		must(!bt_field_array_dynamic_set_length(field, count));
	}
	for (i = 0; i < count; i++)
		any_fill(in, bt_field_array_borrow_element_field_by_index(field, i));
}

void any_fill(struct any_bytes *in, bt_field *field)
{
	bt_field_class_type type = bt_field_get_class_type(field);
	char text[16];
	bool has;

	if (type == BT_FIELD_CLASS_TYPE_STRUCTURE) {
		fill_members(in, field);
	} else if (bt_field_class_type_is(type, BT_FIELD_CLASS_TYPE_ARRAY)) {
		fill_elements(in, field);
	} else if (type == BT_FIELD_CLASS_TYPE_STRING) {
		take_string(in, text, sizeof(text));
		must(!bt_field_string_set_value(field, text));
	} else if (type == BT_FIELD_CLASS_TYPE_SIGNED_INTEGER) {
		bt_field_integer_signed_set_value(field, (s64)any_number(in));
	} else if (type == BT_FIELD_CLASS_TYPE_DOUBLE_PRECISION_REAL) {
		bt_field_real_double_precision_set_value(field, (double)any_number(in) / 7);
	} else if (type == BT_FIELD_CLASS_TYPE_BOOL) {
		bt_field_bool_set_value(field, any_byte(in) & 1);
	} else if (bt_field_class_type_is(type, BT_FIELD_CLASS_TYPE_OPTION)) {
		has = any_byte(in) & 1;
		bt_field_option_set_has_field(field, has);
		if (has)
			any_fill(in, bt_field_option_borrow_field(field));
	} else if (bt_field_class_type_is(type, BT_FIELD_CLASS_TYPE_VARIANT)) {
		must(!bt_field_variant_select_option_by_index(field, 0));
		any_fill(in, bt_field_variant_borrow_selected_option_field(field));
	} else {
		bt_field_integer_unsigned_set_value(field, any_number(in));
	}
}
