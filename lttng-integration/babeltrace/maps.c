// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* The events of kunwind itself: Documentation/trace-format.md. */
#include <glib.h>
#include <string.h>
#include <sys/sysmacros.h>
#include "maps.h"
#include "module.h"
#include "space.h"

/* More than any linker makes. */
#define MAX_BUILD_ID	64

enum kr_maps_event kr_maps_event_of(const bt_event_class *class)
{
	static const struct {
		const char *name;
		enum kr_maps_event event;
	} events[] = {
		{ "kunwind_map", KR_MAPS_MAP },
		{ "kunwind_statedump_map", KR_MAPS_MAP },
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
	if (n > MAX_BUILD_ID)
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

static void apply_map(const bt_field *payload, struct kr_spaces *spaces,
		      struct kr_modules *modules)
{
	const bt_field *path = member(payload, "path", BT_FIELD_CLASS_TYPE_STRING);
	uint8_t build_id[MAX_BUILD_ID];
	struct kr_module_id id = { .build_id = build_id };
	struct kr_mapping mapping;
	uint64_t space, dev = 0;

	if (!path || !get(payload, "space", &space) ||
	    !get(payload, "start", &mapping.start) ||
	    !get(payload, "end", &mapping.end) ||
	    !get(payload, "offset", &mapping.offset) ||
	    !get_build_id(payload, build_id, &id.build_id_len))
		return;
	id.path = bt_field_string_get_value(path);
	get(payload, "inode", &id.inode);
	/* As the kernel has it: 12 bits and 20. */
	if (get(payload, "dev", &dev))
		id.dev = makedev(dev >> 20, dev & 0xfffff);
	mapping.module = kr_module_get(modules, &id);
	kr_spaces_map(spaces, space, &mapping);
}

void kr_maps_apply(enum kr_maps_event what, const bt_event *event,
		   struct kr_spaces *spaces, struct kr_modules *modules)
{
	const bt_field *payload = bt_event_borrow_payload_field_const(event);
	uint64_t space, start, end;

	if (!payload)
		return;
	switch (what) {
	case KR_MAPS_NONE:
		break;
	case KR_MAPS_MAP:
		apply_map(payload, spaces, modules);
		break;
	case KR_MAPS_UNMAP:
		if (get(payload, "space", &space) && get(payload, "start", &start) &&
		    get(payload, "end", &end))
			kr_spaces_unmap(spaces, space, start, end);
		break;
	case KR_MAPS_FORK:
		if (get(payload, "parent_space", &start) &&
		    get(payload, "child_space", &space))
			kr_spaces_fork(spaces, start, space);
		break;
	case KR_MAPS_EXIT:
		if (get(payload, "space", &space))
			kr_spaces_exit(spaces, space);
		break;
	}
}
