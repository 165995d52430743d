// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* Copies of traces and streams, and of their classes and those of events and clocks, except fields. */
#include "copy.h"

void kr_copy_trace_class(const bt_trace_class *from, bt_trace_class *to)
{
	bt_trace_class_set_assigns_automatic_stream_class_id(to, BT_FALSE);
	bt_trace_class_set_user_attributes(to,
		bt_trace_class_borrow_user_attributes_const(from));
}

/* The UUID is left out: it names the original. */
bool kr_copy_trace(const bt_trace *from, bt_trace *to)
{
	uint64_t i, n = bt_trace_get_environment_entry_count(from);
	const char *name = bt_trace_get_name(from);
	const bt_value *value;
	int err = 0;

	if (name && bt_trace_set_name(to, name))
		return false;
	bt_trace_set_user_attributes(to,
		bt_trace_borrow_user_attributes_const(from));
	for (i = 0; i < n && !err; i++) {
		bt_trace_borrow_environment_entry_by_index_const(from, i, &name,
								 &value);
		if (bt_value_is_string(value))
			err = bt_trace_set_environment_entry_string(to, name,
				bt_value_string_get(value));
		else
			err = bt_trace_set_environment_entry_integer(to, name,
				bt_value_integer_signed_get(value));
	}
	return !err;
}

bool kr_copy_clock_class(const bt_clock_class *from, bt_clock_class *to)
{
	const char *description = bt_clock_class_get_description(from);
	const char *name = bt_clock_class_get_name(from);
	bt_uuid uuid = bt_clock_class_get_uuid(from);
	uint64_t cycles;
	int64_t seconds;

	if (name && bt_clock_class_set_name(to, name))
		return false;
	if (description && bt_clock_class_set_description(to, description))
		return false;
	if (uuid)
		bt_clock_class_set_uuid(to, uuid);
	bt_clock_class_set_frequency(to, bt_clock_class_get_frequency(from));
	bt_clock_class_set_precision(to, bt_clock_class_get_precision(from));
	bt_clock_class_get_offset(from, &seconds, &cycles);
	bt_clock_class_set_offset(to, seconds, cycles);
	bt_clock_class_set_origin_is_unix_epoch(to,
		bt_clock_class_origin_is_unix_epoch(from));
	bt_clock_class_set_user_attributes(to,
		bt_clock_class_borrow_user_attributes_const(from));
	return true;
}

bool kr_copy_stream_class(const bt_stream_class *from, bt_stream_class *to)
{
	const char *name = bt_stream_class_get_name(from);

	if (name && bt_stream_class_set_name(to, name))
		return false;
	bt_stream_class_set_user_attributes(to,
		bt_stream_class_borrow_user_attributes_const(from));
	bt_stream_class_set_assigns_automatic_event_class_id(to, BT_FALSE);
	bt_stream_class_set_assigns_automatic_stream_id(to, BT_FALSE);
	bt_stream_class_set_supports_packets(to,
		bt_stream_class_supports_packets(from),
		bt_stream_class_packets_have_beginning_default_clock_snapshot(from),
		bt_stream_class_packets_have_end_default_clock_snapshot(from));
	bt_stream_class_set_supports_discarded_events(to,
		bt_stream_class_supports_discarded_events(from),
		bt_stream_class_discarded_events_have_default_clock_snapshots(from));
	bt_stream_class_set_supports_discarded_packets(to,
		bt_stream_class_supports_discarded_packets(from),
		bt_stream_class_discarded_packets_have_default_clock_snapshots(from));
	return true;
}

bool kr_copy_stream(const bt_stream *from, bt_stream *to)
{
	const char *name = bt_stream_get_name(from);

	bt_stream_set_user_attributes(to,
		bt_stream_borrow_user_attributes_const(from));
	return !name || !bt_stream_set_name(to, name);
}

bool kr_copy_event_class(const bt_event_class *from, bt_event_class *to)
{
	const char *name = bt_event_class_get_name(from);
	const char *uri = bt_event_class_get_emf_uri(from);
	bt_event_class_log_level level;

	if (name && bt_event_class_set_name(to, name))
		return false;
	if (uri && bt_event_class_set_emf_uri(to, uri))
		return false;
	if (bt_event_class_get_log_level(from, &level) ==
	    BT_PROPERTY_AVAILABILITY_AVAILABLE)
		bt_event_class_set_log_level(to, level);
	bt_event_class_set_user_attributes(to,
		bt_event_class_borrow_user_attributes_const(from));
	return true;
}
