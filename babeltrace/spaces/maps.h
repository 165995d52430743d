/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* The events of kunwind itself, as changes of the address spaces. */
#ifndef KR_MAPS_H
#define KR_MAPS_H

#include <babeltrace2/babeltrace.h>
#include <stdbool.h>
#include <stdint.h>

struct kr_modules;
struct kr_spaces;

enum kr_maps_event {
	KR_MAPS_NONE,
	KR_MAPS_MAP,
	KR_MAPS_DUMP_BEGIN,
	KR_MAPS_DUMPED,
	KR_MAPS_DUMP_END,
	KR_MAPS_UNMAP,
	KR_MAPS_FORK,
	KR_MAPS_EXIT,
};

/* Return: which of these the events of a class are. */
enum kr_maps_event kr_maps_event_of(const bt_event_class *class);

/* Return: whether a channel has any of these. */
bool kr_maps_are_in(const bt_stream_class *class);

/* Return: whether a trace can have a state dump: its end is KR_MAPS_DUMP_END. */
bool kr_maps_can_be_dumped(const bt_trace_class *class);

/* Return: whether an event tells of a space. */
bool kr_maps_are_of(const bt_event *event, uint64_t space);

/* Return: whether an event is about what was mapped before, and not all is known of. */
bool kr_maps_need_past(enum kr_maps_event what, const bt_event *event,
		       struct kr_spaces *spaces);

/* Return: whether an event is the end of a dump that tells of everything. */
bool kr_maps_are_whole(enum kr_maps_event what, const bt_event *event);

/* Apply an event. One that lacks a field, or has it of another type, is none. */
void kr_maps_apply(enum kr_maps_event what, const bt_event *event,
		   struct kr_spaces *spaces, struct kr_modules *modules);

/*
 * What an event says of the time before it, if it is the first one that says
 * anything of these addresses: @past is for as long as nothing was said.
 */
void kr_maps_recall(enum kr_maps_event what, const bt_event *event,
		    struct kr_spaces *past, struct kr_modules *modules);

#endif /* KR_MAPS_H */
