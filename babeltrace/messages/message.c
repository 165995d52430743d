// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* Copies of messages. */
#include "message.h"
#include "mirror.h"

static bt_message *begin_stream(struct kr_mirror *mirror,
				bt_self_message_iterator *it, const bt_message *in)
{
	const bt_stream *from = bt_message_stream_beginning_borrow_stream_const(in);
	bt_stream *stream = kr_mirror_begin_stream(mirror, from);
	const bt_clock_snapshot *clock;
	bt_message *out;

	if (!stream)
		return NULL;
	out = bt_message_stream_beginning_create(it, stream);
	if (out && bt_stream_class_borrow_default_clock_class_const(
			bt_stream_borrow_class_const(from)) &&
	    bt_message_stream_beginning_borrow_default_clock_snapshot_const(in,
			&clock) == BT_MESSAGE_STREAM_CLOCK_SNAPSHOT_STATE_KNOWN)
		bt_message_stream_beginning_set_default_clock_snapshot(out,
			bt_clock_snapshot_get_value(clock));
	return out;
}

static bt_message *end_stream(struct kr_mirror *mirror,
			      bt_self_message_iterator *it, const bt_message *in)
{
	const bt_stream *from = bt_message_stream_end_borrow_stream_const(in);
	bt_message *out = bt_message_stream_end_create(it,
		kr_mirror_stream(mirror, from));
	const bt_clock_snapshot *clock;

	if (out && bt_stream_class_borrow_default_clock_class_const(
			bt_stream_borrow_class_const(from)) &&
	    bt_message_stream_end_borrow_default_clock_snapshot_const(in,
			&clock) == BT_MESSAGE_STREAM_CLOCK_SNAPSHOT_STATE_KNOWN)
		bt_message_stream_end_set_default_clock_snapshot(out,
			bt_clock_snapshot_get_value(clock));
	return out;
}

static const bt_stream_class *class_of_packet(const bt_packet *packet)
{
	return bt_stream_borrow_class_const(bt_packet_borrow_stream_const(packet));
}

static bt_message *begin_packet(struct kr_mirror *mirror,
				bt_self_message_iterator *it, const bt_message *in)
{
	const bt_packet *from = bt_message_packet_beginning_borrow_packet_const(in);
	bt_packet *packet = kr_mirror_begin_packet(mirror, from);

	if (!packet)
		return NULL;
	if (!bt_stream_class_packets_have_beginning_default_clock_snapshot(
			class_of_packet(from)))
		return bt_message_packet_beginning_create(it, packet);
	return bt_message_packet_beginning_create_with_default_clock_snapshot(
		it, packet, bt_clock_snapshot_get_value(
			bt_message_packet_beginning_borrow_default_clock_snapshot_const(
				in)));
}

static bt_message *end_packet(struct kr_mirror *mirror,
			      bt_self_message_iterator *it, const bt_message *in)
{
	const bt_packet *from = bt_message_packet_end_borrow_packet_const(in);
	bt_packet *packet = kr_mirror_packet(mirror, from);
	bt_message *out;

	if (!bt_stream_class_packets_have_end_default_clock_snapshot(
			class_of_packet(from)))
		out = bt_message_packet_end_create(it, packet);
	else
		out = bt_message_packet_end_create_with_default_clock_snapshot(
			it, packet, bt_clock_snapshot_get_value(
				bt_message_packet_end_borrow_default_clock_snapshot_const(
					in)));
	kr_mirror_drop_packet(mirror, from);
	return out;
}

static bt_message *discard_events(struct kr_mirror *mirror,
				  bt_self_message_iterator *it,
				  const bt_message *in)
{
	const bt_stream *from = bt_message_discarded_events_borrow_stream_const(in);
	bt_stream *stream = kr_mirror_stream(mirror, from);
	bt_message *out;
	uint64_t count;

	if (bt_stream_class_discarded_events_have_default_clock_snapshots(
			bt_stream_borrow_class_const(from)))
		out = bt_message_discarded_events_create_with_default_clock_snapshots(
			it, stream,
			bt_clock_snapshot_get_value(
				bt_message_discarded_events_borrow_beginning_default_clock_snapshot_const(
					in)),
			bt_clock_snapshot_get_value(
				bt_message_discarded_events_borrow_end_default_clock_snapshot_const(
					in)));
	else
		out = bt_message_discarded_events_create(it, stream);
	if (out && bt_message_discarded_events_get_count(in, &count) ==
		   BT_PROPERTY_AVAILABILITY_AVAILABLE)
		bt_message_discarded_events_set_count(out, count);
	return out;
}

static bt_message *discard_packets(struct kr_mirror *mirror,
				   bt_self_message_iterator *it,
				   const bt_message *in)
{
	const bt_stream *from = bt_message_discarded_packets_borrow_stream_const(in);
	bt_stream *stream = kr_mirror_stream(mirror, from);
	bt_message *out;
	uint64_t count;

	if (bt_stream_class_discarded_packets_have_default_clock_snapshots(
			bt_stream_borrow_class_const(from)))
		out = bt_message_discarded_packets_create_with_default_clock_snapshots(
			it, stream,
			bt_clock_snapshot_get_value(
				bt_message_discarded_packets_borrow_beginning_default_clock_snapshot_const(
					in)),
			bt_clock_snapshot_get_value(
				bt_message_discarded_packets_borrow_end_default_clock_snapshot_const(
					in)));
	else
		out = bt_message_discarded_packets_create(it, stream);
	if (out && bt_message_discarded_packets_get_count(in, &count) ==
		   BT_PROPERTY_AVAILABILITY_AVAILABLE)
		bt_message_discarded_packets_set_count(out, count);
	return out;
}

bt_message *kr_message_create_event(struct kr_mirror *mirror,
				    bt_self_message_iterator *it,
				    const bt_message *in,
				    const struct kr_event_class *class)
{
	const bt_event *from = bt_message_event_borrow_event_const(in);
	const bt_packet *in_packet = bt_event_borrow_packet_const(from);
	bt_packet *packet = in_packet ? kr_mirror_packet(mirror, in_packet) : NULL;
	bt_stream *stream = kr_mirror_stream(mirror,
		bt_event_borrow_stream_const(from));
	uint64_t clock;

	if (!bt_message_event_borrow_stream_class_default_clock_class_const(in))
		return packet ?
			bt_message_event_create_with_packet(it, class->out, packet) :
			bt_message_event_create(it, class->out, stream);
	clock = bt_clock_snapshot_get_value(
		bt_message_event_borrow_default_clock_snapshot_const(in));
	return packet ?
		bt_message_event_create_with_packet_and_default_clock_snapshot(
			it, class->out, packet, clock) :
		bt_message_event_create_with_default_clock_snapshot(
			it, class->out, stream, clock);
}

const bt_message *kr_message_copy(struct kr_mirror *mirror,
				  bt_self_message_iterator *it,
				  const bt_message *in)
{
	switch (bt_message_get_type(in)) {
	case BT_MESSAGE_TYPE_STREAM_BEGINNING:
		return begin_stream(mirror, it, in);
	case BT_MESSAGE_TYPE_STREAM_END:
		return end_stream(mirror, it, in);
	case BT_MESSAGE_TYPE_PACKET_BEGINNING:
		return begin_packet(mirror, it, in);
	case BT_MESSAGE_TYPE_PACKET_END:
		return end_packet(mirror, it, in);
	case BT_MESSAGE_TYPE_DISCARDED_EVENTS:
		return discard_events(mirror, it, in);
	case BT_MESSAGE_TYPE_DISCARDED_PACKETS:
		return discard_packets(mirror, it, in);
	default:
		/* It refers to no trace. */
		bt_message_get_ref(in);
		return in;
	}
}
