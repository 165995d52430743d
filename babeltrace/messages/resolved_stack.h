/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * The resolved stack of an event: what filter.kunwind.symbolize adds, and how
 * a sink reads it.
 *
 * The filter appends to the common context of each event that has a stack:
 *
 *	kunwind_stack: dynamic array, innermost first, kernel before user, of
 *		address		unsigned integer
 *		kind		unsigned enumeration, enum kr_kind: USER, INLINED, KERNEL
 *		function	string, demangled; of a function without a name, its
 *				module and where it begins there: "ls!0x6100"; "" if
 *				that is not known either
 *		offset		unsigned integer: after the start of function; if
 *				there is no function, in module's file; 0 if inlined
 *		module		string: the file's path, "" if unknown
 *		file		string: the source file, "" if unknown
 *		line		unsigned integer: 0 if unknown
 *		guessed		unsigned integer: 1 if no unwind information proves the
 *				frame, or if what is mapped there may be another file,
 *				as events were lost; 0 if not, or if the trace does not
 *				tell
 *		position	unsigned integer: what of module's file is at address; 0 if
 *				unknown, and in the kernel
 *		build_id	string: module's, in hexadecimal; "" if it has none
 *	kunwind_stop: string: why the user's stack ends, a name of KUNWIND_STOPS
 *		such as "COMPLETE"; "INCOMPLETE" if the trace says no more than
 *		that; "" if it does not say anything
 *
 * An inlined function has a frame of its own, before that of the function that
 * it became a part of, and with the same address.
 */
#ifndef KR_RESOLVED_STACK_H
#define KR_RESOLVED_STACK_H

#include <babeltrace2/babeltrace.h>
#include <stdbool.h>
#include <stdint.h>

enum kr_kind {
	KR_USER,
	KR_INLINED,
	KR_KERNEL,
};

/* Members of a frame, in their order. */
enum kr_member {
	KR_ADDRESS,
	KR_KIND,
	KR_FUNCTION,
	KR_OFFSET,
	KR_MODULE,
	KR_FILE,
	KR_LINE,
	KR_GUESSED,
	KR_POSITION,
	KR_BUILD_ID,
	KR_NR_MEMBERS
};

#define KR_STACK_FIELD	"kunwind_stack"
#define KR_STOP_FIELD	"kunwind_stop"

/**
 * struct kr_stack - the resolved stack of an event
 * @frames: the field, or NULL if the event has no stack
 * @count: frames
 * @stop: why it ends; "" if unknown
 */
struct kr_stack {
	const bt_field *frames;
	uint64_t count;
	const char *stop;
};

/* One frame; strings live as long as the event. */
struct kr_stack_frame {
	uint64_t address;
	enum kr_kind kind;
	const char *function;
	uint64_t offset;
	const char *module;
	const char *file;
	uint64_t line;
	bool guessed;
	uint64_t position;
	const char *build_id;
};

/* Return: whether the event has a resolved stack. */
bool kr_stack_of_event(const bt_event *event, struct kr_stack *stack);

/* Return: whether nothing is known to be missing from it. */
bool kr_stack_is_whole(const struct kr_stack *stack);

void kr_stack_frame(const struct kr_stack *stack, uint64_t i,
		    struct kr_stack_frame *frame);

/*
 * What an event says of its task, as far as it does: the context fields procname, pid, tid.
 * -1 and "" if they are not there.
 */
struct kr_task {
	const char *procname;
	int64_t pid;
	int64_t tid;
};

void kr_task_of_event(const bt_event *event, struct kr_task *task);

#endif /* KR_RESOLVED_STACK_H */
