/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* The event kunwind:user_stack; Documentation/tracing.md is its manual. */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM kunwind

#if !defined(KT_USER_STACK_EVENT_H) || defined(TRACE_HEADER_MULTI_READ)
#define KT_USER_STACK_EVENT_H

#include <linux/tracepoint.h>
#include <kunwind/kunwind.h>
#include <uapi/linux/kunwind.h>

/* The list has a comma after its last member, so TP_printk() adds one more member. */
#define KT_STOP_NAME(number, name, sentence) { number, #name },

TRACE_EVENT(user_stack,
	TP_PROTO(const u64 *frames, const struct kunwind_result *result),
	TP_ARGS(frames, result),
	TP_STRUCT__entry(
		__field(u16, count)
		__field(u16, proven)
		__field(u8, stop)
		__dynamic_array(u64, frames, result->count)
	),
	TP_fast_assign(
		__entry->count = result->count;
		__entry->proven = result->proven;
		__entry->stop = result->stop;
		memcpy(__get_dynamic_array(frames), frames,
		       result->count * sizeof(*frames));
	),
	TP_printk("count=%u proven=%u stop=%s frames=%s",
		  __entry->count, __entry->proven,
		  __print_symbolic(__entry->stop, KUNWIND_STOPS(KT_STOP_NAME)
				   { 255, "?" }),
		  __print_array(__get_dynamic_array(frames), __entry->count,
				sizeof(u64)))
);

#endif /* KT_USER_STACK_EVENT_H */

#undef TRACE_INCLUDE_PATH
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_PATH .
#define TRACE_INCLUDE_FILE user-stack-event
#include <trace/define_trace.h>
