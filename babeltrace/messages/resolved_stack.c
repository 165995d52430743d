// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* Reading the resolved stack of an event, and whose it is. */
#include <string.h>
#include "resolved_stack.h"

static const bt_field *context_member(const bt_event *event, const char *name,
				      bt_field_class_type type)
{
	const bt_field *context = bt_event_borrow_common_context_field_const(event);
	const bt_field *member;

	if (!context)
		return NULL;
	member = bt_field_structure_borrow_member_field_by_name_const(context, name);
	if (!member ||
	    !bt_field_class_type_is(bt_field_get_class_type(member), type))
		return NULL;
	return member;
}

/*
 * Whether it is an array of what append_frame() of context.c makes, and not one of that name that
 * the trace has itself.
 */
static bool are_frames(const bt_field *array)
{
	static const bt_field_class_type types[KR_NR_MEMBERS] = {
		[KR_ADDRESS] = BT_FIELD_CLASS_TYPE_UNSIGNED_INTEGER,
		[KR_KIND] = BT_FIELD_CLASS_TYPE_UNSIGNED_ENUMERATION,
		[KR_FUNCTION] = BT_FIELD_CLASS_TYPE_STRING,
		[KR_OFFSET] = BT_FIELD_CLASS_TYPE_UNSIGNED_INTEGER,
		[KR_MODULE] = BT_FIELD_CLASS_TYPE_STRING,
		[KR_FILE] = BT_FIELD_CLASS_TYPE_STRING,
		[KR_LINE] = BT_FIELD_CLASS_TYPE_UNSIGNED_INTEGER,
		[KR_GUESSED] = BT_FIELD_CLASS_TYPE_UNSIGNED_INTEGER,
		[KR_POSITION] = BT_FIELD_CLASS_TYPE_UNSIGNED_INTEGER,
		[KR_BUILD_ID] = BT_FIELD_CLASS_TYPE_STRING,
	};
	const bt_field_class *frame = bt_field_class_array_borrow_element_field_class_const(
		bt_field_borrow_class_const(array));
	uint64_t i;

	if (bt_field_class_get_type(frame) != BT_FIELD_CLASS_TYPE_STRUCTURE ||
	    bt_field_class_structure_get_member_count(frame) != KR_NR_MEMBERS)
		return false;
	for (i = 0; i < KR_NR_MEMBERS; i++) {
		const bt_field_class_structure_member *member =
			bt_field_class_structure_borrow_member_by_index_const(frame, i);

		if (bt_field_class_get_type(
			    bt_field_class_structure_member_borrow_field_class_const(member)) !=
		    types[i])
			return false;
	}
	return true;
}

bool kr_stack_of_event(const bt_event *event, struct kr_stack *stack)
{
	const bt_field *stop;

	stack->frames = context_member(event, KR_STACK_FIELD,
				       BT_FIELD_CLASS_TYPE_DYNAMIC_ARRAY);
	if (!stack->frames || !are_frames(stack->frames))
		return false;
	stop = context_member(event, KR_STOP_FIELD, BT_FIELD_CLASS_TYPE_STRING);
	stack->count = bt_field_array_get_length(stack->frames);
	stack->stop = stop ? bt_field_string_get_value(stop) : "";
	return true;
}

bool kr_stack_is_whole(const struct kr_stack *stack)
{
	/* A kernel thread has no user stack, and so lacks none. */
	return !stack->stop[0] || !strcmp(stack->stop, "COMPLETE") ||
	       !strcmp(stack->stop, "NO_USER");
}

static uint64_t member_integer(const bt_field *frame, enum kr_member member)
{
	return bt_field_integer_unsigned_get_value(
		bt_field_structure_borrow_member_field_by_index_const(frame, member));
}

static const char *member_string(const bt_field *frame, enum kr_member member)
{
	return bt_field_string_get_value(
		bt_field_structure_borrow_member_field_by_index_const(frame, member));
}

void kr_stack_frame(const struct kr_stack *stack, uint64_t i,
		    struct kr_stack_frame *frame)
{
	const bt_field *from =
		bt_field_array_borrow_element_field_by_index_const(stack->frames, i);

	frame->address = member_integer(from, KR_ADDRESS);
	frame->kind = member_integer(from, KR_KIND);
	frame->function = member_string(from, KR_FUNCTION);
	frame->offset = member_integer(from, KR_OFFSET);
	frame->module = member_string(from, KR_MODULE);
	frame->file = member_string(from, KR_FILE);
	frame->line = member_integer(from, KR_LINE);
	frame->guessed = member_integer(from, KR_GUESSED);
	frame->position = member_integer(from, KR_POSITION);
	frame->build_id = member_string(from, KR_BUILD_ID);
}

static int64_t context_number(const bt_event *event, const char *name)
{
	const bt_field *field = context_member(event, name,
		BT_FIELD_CLASS_TYPE_SIGNED_INTEGER);

	return field ? bt_field_integer_signed_get_value(field) : -1;
}

void kr_task_of_event(const bt_event *event, struct kr_task *task)
{
	const bt_field *name = context_member(event, "procname",
		BT_FIELD_CLASS_TYPE_STRING);

	task->procname = name ? bt_field_string_get_value(name) : "";
	task->pid = context_number(event, "pid");
	task->tid = context_number(event, "tid");
}
