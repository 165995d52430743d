// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* The events of kunwind itself: Documentation/trace-format.md. */
#include <glib.h>
#include <string.h>
#include <sys/sysmacros.h>
#include "event.h"
#include "maps.h"
#include "module.h"
#include "reader_budgets.h"
#include "traced_space.h"

#define DUMP_END	"kunwind_statedump_end"

/*
 * The kernel maps it into each program that it begins, and who tells of it tells of
 * all that is mapped then.
 */
#define VDSO	"[vdso]"

enum kr_maps_event kr_maps_event_of(const bt_event_class *class)
{
	static const struct {
		const char *name;
		enum kr_maps_event event;
	} events[] = {
		{ "kunwind_map", KR_MAPS_MAP },
		{ KR_DUMP_BEGIN, KR_MAPS_DUMP_BEGIN },
		{ "kunwind_statedump_map", KR_MAPS_DUMPED },
		{ DUMP_END, KR_MAPS_DUMP_END },
		{ "kunwind_unmap", KR_MAPS_UNMAP },
		{ "kunwind_fork", KR_MAPS_FORK },
		{ "kunwind_exit", KR_MAPS_EXIT },
	};
	const char *name = bt_event_class_get_name(class);
	size_t i;

	for (i = 0; name && i < G_N_ELEMENTS(events); i++)
		if (!strcmp(name, events[i].name))
			return events[i].event;
	return KR_MAPS_NONE;
}

bool kr_maps_are_in(const bt_stream_class *class)
{
	uint64_t i, n = bt_stream_class_get_event_class_count(class);

	for (i = 0; i < n; i++)
		if (kr_maps_event_of(
			bt_stream_class_borrow_event_class_by_index_const(class, i)))
			return true;
	return false;
}

bool kr_maps_can_be_dumped(const bt_trace_class *class)
{
	uint64_t i, j, n = bt_trace_class_get_stream_class_count(class), m;

	for (i = 0; i < n; i++) {
		const bt_stream_class *stream =
			bt_trace_class_borrow_stream_class_by_index_const(class, i);

		m = bt_stream_class_get_event_class_count(stream);
		for (j = 0; j < m; j++)
			if (!g_strcmp0(DUMP_END, bt_event_class_get_name(
				bt_stream_class_borrow_event_class_by_index_const(
					stream, j))))
				return true;
	}
	return false;
}

static const bt_field *member(const bt_field *payload, const char *name,
			      bt_field_class_type type)
{
	const bt_field *field =
		bt_field_structure_borrow_member_field_by_name_const(payload, name);

	if (field && bt_field_class_type_is(bt_field_get_class_type(field), type))
		return field;
	return NULL;
}

static bool get(const bt_field *payload, const char *name, uint64_t *value)
{
	const bt_field *field = member(payload, name,
				       BT_FIELD_CLASS_TYPE_UNSIGNED_INTEGER);

	if (field)
		*value = bt_field_integer_unsigned_get_value(field);
	return field;
}

static bool get_build_id(const bt_field *payload, uint8_t *bytes, size_t *len)
{
	const bt_field *field = member(payload, "build_id",
				       BT_FIELD_CLASS_TYPE_ARRAY), *byte;
	uint64_t i, n;

	if (!field)
		return false;
	n = bt_field_array_get_length(field);
	if (n > KR_BUILD_ID_BYTES)
		return false;
	for (i = 0; i < n; i++) {
		byte = bt_field_array_borrow_element_field_by_index_const(field, i);
		if (!bt_field_class_type_is(bt_field_get_class_type(byte),
				BT_FIELD_CLASS_TYPE_UNSIGNED_INTEGER))
			return false;
		bytes[i] = bt_field_integer_unsigned_get_value(byte);
	}
	*len = n;
	return true;
}

static bool read_map(const bt_field *payload, struct kr_modules *modules,
		     uint64_t *space, struct kr_mapping *mapping)
{
	const bt_field *path = member(payload, "path", BT_FIELD_CLASS_TYPE_STRING);
	uint8_t build_id[KR_BUILD_ID_BYTES];
	struct kr_module_id id = { .build_id = build_id };
	uint64_t dev = 0;

	mapping->told = 0;
	mapping->doubted = false;
	if (!path || !get(payload, "space", space) ||
	    !get(payload, "start", &mapping->start) ||
	    !get(payload, "end", &mapping->end) ||
	    !get(payload, "offset", &mapping->offset) ||
	    !get_build_id(payload, build_id, &id.build_id_len))
		return false;
	id.path = bt_field_string_get_value(path);
	get(payload, "inode", &id.inode);
	/* As the kernel has it: 12 bits and 20. */
	if (get(payload, "dev", &dev))
		id.dev = makedev(dev >> 20, dev & 0xfffff);
	mapping->module = kr_module_get(modules, &id);
	return true;
}

static bool read_unmap(const bt_field *payload, uint64_t *space,
		       struct kr_mapping *range)
{
	*range = (struct kr_mapping) { 0 };
	return get(payload, "space", space) &&
	       get(payload, "start", &range->start) &&
	       get(payload, "end", &range->end);
}

static bool is_vdso(const struct kr_mapping *mapping)
{
	return !strcmp(kr_module_path(mapping->module), VDSO);
}

bool kr_maps_are_of(const bt_event *event, uint64_t space)
{
	const bt_field *payload = bt_event_borrow_payload_field_const(event);
	uint64_t its;

	return payload && get(payload, "space", &its) && its == space;
}

bool kr_maps_need_past(enum kr_maps_event what, const bt_event *event,
		       struct kr_spaces *spaces)
{
	const bt_field *payload = bt_event_borrow_payload_field_const(event);
	uint64_t parent;

	return what == KR_MAPS_FORK && payload &&
	       get(payload, "parent_space", &parent) &&
	       !kr_spaces_whole(spaces, parent);
}

bool kr_maps_are_whole(enum kr_maps_event what, const bt_event *event)
{
	const bt_field *payload = bt_event_borrow_payload_field_const(event), *error;

	if (what != KR_MAPS_DUMP_END || !payload)
		return false;
	error = member(payload, "error", BT_FIELD_CLASS_TYPE_SIGNED_INTEGER);
	return error && !bt_field_integer_signed_get_value(error);
}

void kr_maps_apply(enum kr_maps_event what, const bt_event *event,
		   struct kr_spaces *spaces, struct kr_modules *modules)
{
	const bt_field *payload = bt_event_borrow_payload_field_const(event);
	struct kr_mapping mapping;
	uint64_t space, parent;

	if (!payload)
		return;
	switch (what) {
	case KR_MAPS_NONE:
	case KR_MAPS_DUMP_BEGIN:
	case KR_MAPS_DUMP_END:
		break;
	case KR_MAPS_MAP:
	case KR_MAPS_DUMPED:
		if (!read_map(payload, modules, &space, &mapping))
			break;
		kr_spaces_map(spaces, space, &mapping);
		if (is_vdso(&mapping))
			kr_spaces_set_whole(spaces, space);
		break;
	case KR_MAPS_UNMAP:
		if (read_unmap(payload, &space, &mapping))
			kr_spaces_unmap(spaces, space, mapping.start, mapping.end);
		break;
	case KR_MAPS_FORK:
		if (get(payload, "parent_space", &parent) &&
		    get(payload, "child_space", &space))
			kr_spaces_fork(spaces, parent, space);
		break;
	case KR_MAPS_EXIT:
		if (get(payload, "space", &space))
			kr_spaces_exit(spaces, space);
		break;
	}
}

void kr_maps_recall(enum kr_maps_event what, const bt_event *event,
		    struct kr_spaces *past, struct kr_modules *modules)
{
	const bt_field *payload = bt_event_borrow_payload_field_const(event);
	struct kr_mapping mapping;
	uint64_t space;

	if (!payload)
		return;
	switch (what) {
	case KR_MAPS_DUMPED:
		if (!read_map(payload, modules, &space, &mapping))
			break;
		kr_spaces_fill(past, space, &mapping);
		if (is_vdso(&mapping))
			kr_spaces_set_whole(past, space);
		break;
	case KR_MAPS_MAP:
		if (!read_map(payload, modules, &space, &mapping))
			break;
		mapping.module = NULL;
		kr_spaces_fill(past, space, &mapping);
		break;
	case KR_MAPS_UNMAP:
		if (read_unmap(payload, &space, &mapping))
			kr_spaces_fill(past, space, &mapping);
		break;
	default:
		break;
	}
}
