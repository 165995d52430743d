// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* The members of a common context that a stack is made of, and those that a copy gets. */
#include <string.h>
#include "context.h"
#include "resolved_stack.h"

static bool has_member(const bt_field_class *class, const char *name)
{
	return bt_field_class_structure_borrow_member_by_name_const(class, name);
}

static int member(const bt_field_class *class, const char *name,
		  bt_field_class_type type)
{
	uint64_t i, n = bt_field_class_structure_get_member_count(class);

	for (i = 0; i < n; i++) {
		const bt_field_class_structure_member *at =
			bt_field_class_structure_borrow_member_by_index_const(class, i);

		if (!strcmp(bt_field_class_structure_member_get_name(at), name))
			return bt_field_class_type_is(bt_field_class_get_type(
				bt_field_class_structure_member_borrow_field_class_const(
					at)), type) ? (int)i : -1;
	}
	return -1;
}

/* Return: where an array of addresses is. */
static int addresses(const bt_field_class *class, const char *name)
{
	int i = member(class, name, BT_FIELD_CLASS_TYPE_ARRAY);

	if (i < 0)
		return -1;
	class = bt_field_class_array_borrow_element_field_class_const(
		bt_field_class_structure_member_borrow_field_class_const(
			bt_field_class_structure_borrow_member_by_index_const(class,
									      i)));
	return bt_field_class_type_is(bt_field_class_get_type(class),
		BT_FIELD_CLASS_TYPE_UNSIGNED_INTEGER) ? i : -1;
}

void kr_context_find(struct kr_context *context, const bt_field_class *class)
{
	*context = (struct kr_context) { -1, -1, -1, -1, -1, -1, -1, -1 };
	if (!class)
		return;
	/* What has a stack was here before; two members of one name abort libbabeltrace2. */
	if (has_member(class, KR_STACK_FIELD) || has_member(class, KR_STOP_FIELD))
		return;
	context->user = addresses(class, "callstack_user_unwind");
	context->kernel = addresses(class, "callstack_kernel");
	context->stop = member(class, "_callstack_user_unwind_stop",
			       BT_FIELD_CLASS_TYPE_UNSIGNED_ENUMERATION);
	context->space = member(class, "_callstack_user_unwind_space",
				BT_FIELD_CLASS_TYPE_UNSIGNED_INTEGER);
	context->proven = member(class, "_callstack_user_unwind_proven",
				 BT_FIELD_CLASS_TYPE_UNSIGNED_INTEGER);
	context->interrupted = member(class, "_callstack_user_unwind_interrupted",
				      BT_FIELD_CLASS_TYPE_UNSIGNED_INTEGER);
	context->pid = member(class, "pid", BT_FIELD_CLASS_TYPE_SIGNED_INTEGER);
	if (context->user >= 0 || context->kernel >= 0)
		context->stack = bt_field_class_structure_get_member_count(class);
}

static bool append(bt_field_class *to, const char *name, bt_field_class *member)
{
	bool done = member &&
		    !bt_field_class_structure_append_member(to, name, member);

	bt_field_class_put_ref(member);
	return done;
}

static bt_field_class *kind_class(bt_trace_class *trace_class)
{
	static const char *const names[] = {
		[KR_USER] = "USER",
		[KR_INLINED] = "INLINED",
		[KR_KERNEL] = "KERNEL",
	};
	bt_field_class *class = bt_field_class_enumeration_unsigned_create(trace_class);
	uint64_t i;

	if (!class)
		return NULL;
	bt_field_class_integer_set_field_value_range(class, 8);
	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		bt_integer_range_set_unsigned *range =
			bt_integer_range_set_unsigned_create();
		bool done = range &&
			!bt_integer_range_set_unsigned_add_range(range, i, i) &&
			!bt_field_class_enumeration_unsigned_add_mapping(class,
				names[i], range);

		bt_integer_range_set_unsigned_put_ref(range);
		if (!done) {
			bt_field_class_put_ref(class);
			return NULL;
		}
	}
	return class;
}

static bt_field_class *integer_class(bt_trace_class *trace_class, bool hex)
{
	bt_field_class *class = bt_field_class_integer_unsigned_create(trace_class);

	if (class && hex)
		bt_field_class_integer_set_preferred_display_base(class,
			BT_FIELD_CLASS_INTEGER_PREFERRED_DISPLAY_BASE_HEXADECIMAL);
	return class;
}

/* In the order of enum kr_member. */
static bool append_frame(bt_trace_class *trace_class, bt_field_class *frame)
{
	return append(frame, "address", integer_class(trace_class, true)) &&
	       append(frame, "kind", kind_class(trace_class)) &&
	       append(frame, "function", bt_field_class_string_create(trace_class)) &&
	       append(frame, "offset", integer_class(trace_class, true)) &&
	       append(frame, "module", bt_field_class_string_create(trace_class)) &&
	       append(frame, "file", bt_field_class_string_create(trace_class)) &&
	       append(frame, "line", integer_class(trace_class, false)) &&
	       append(frame, "guessed", integer_class(trace_class, false)) &&
	       append(frame, "position", integer_class(trace_class, true)) &&
	       append(frame, "build_id", bt_field_class_string_create(trace_class));
}

bool kr_context_append(const struct kr_context *context,
		       bt_trace_class *trace_class, bt_field_class *copy)
{
	bt_field_class *frame, *stack = NULL;

	if (context->stack < 0)
		return true;
	frame = bt_field_class_structure_create(trace_class);
	if (!frame)
		return false;
	if (append_frame(trace_class, frame))
		stack = bt_field_class_array_dynamic_create(trace_class, frame, NULL);
	bt_field_class_put_ref(frame);
	return append(copy, KR_STACK_FIELD, stack) &&
	       append(copy, KR_STOP_FIELD, bt_field_class_string_create(trace_class));
}
