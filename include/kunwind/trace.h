/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * Tracepoints with which a reader of stacks can turn addresses into names, later and
 * on another machine. Documentation/trace-format.md is their manual.
 */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM kunwind

#if !defined(KUNWIND_TRACE_H) || defined(TRACE_HEADER_MULTI_READ)
#define KUNWIND_TRACE_H

#include <linux/kdev_t.h>
#include <linux/string.h>
#include <linux/tracepoint.h>
#include <kunwind/kunwind.h>

TRACE_EVENT(kunwind_map,
	TP_PROTO(const struct kunwind_mapping *m),
	TP_ARGS(m),
	TP_STRUCT__entry(
		__field(u64, space)
		__field(u64, start)
		__field(u64, end)
		__field(u64, offset)
		__field(u64, inode)
		__field(u32, dev)
		__field(pid_t, pid)
		__dynamic_array(u8, build_id, m->build_id_len)
		__dynamic_array(char, path, strlen(m->path) + 1)
	),
	TP_fast_assign(
		__entry->space = m->space;
		__entry->start = m->start;
		__entry->end = m->end;
		__entry->offset = m->offset;
		__entry->inode = m->inode;
		__entry->dev = m->dev;
		__entry->pid = m->pid;
		memcpy(__get_dynamic_array(build_id), m->build_id,
		       m->build_id_len);
		memcpy(__get_dynamic_array(path), m->path,
		       __get_dynamic_array_len(path));
	),
	TP_printk("space=%llu pid=%d start=%#llx end=%#llx offset=%#llx dev=%u:%u inode=%llu build_id=%s path=%s",
		  __entry->space, __entry->pid, __entry->start, __entry->end,
		  __entry->offset, MAJOR(__entry->dev), MINOR(__entry->dev),
		  __entry->inode,
		  __print_hex_str(__get_dynamic_array(build_id),
				  __get_dynamic_array_len(build_id)),
		  __get_str(path))
);

TRACE_EVENT(kunwind_unmap,
	TP_PROTO(u64 space, u64 start, u64 end),
	TP_ARGS(space, start, end),
	TP_STRUCT__entry(
		__field(u64, space)
		__field(u64, start)
		__field(u64, end)
	),
	TP_fast_assign(
		__entry->space = space;
		__entry->start = start;
		__entry->end = end;
	),
	TP_printk("space=%llu start=%#llx end=%#llx",
		  __entry->space, __entry->start, __entry->end)
);

TRACE_EVENT(kunwind_fork,
	TP_PROTO(u64 parent_space, u64 child_space, pid_t parent_pid,
		 pid_t child_pid),
	TP_ARGS(parent_space, child_space, parent_pid, child_pid),
	TP_STRUCT__entry(
		__field(u64, parent_space)
		__field(u64, child_space)
		__field(pid_t, parent_pid)
		__field(pid_t, child_pid)
	),
	TP_fast_assign(
		__entry->parent_space = parent_space;
		__entry->child_space = child_space;
		__entry->parent_pid = parent_pid;
		__entry->child_pid = child_pid;
	),
	TP_printk("parent_space=%llu child_space=%llu parent_pid=%d child_pid=%d",
		  __entry->parent_space, __entry->child_space,
		  __entry->parent_pid, __entry->child_pid)
);

TRACE_EVENT(kunwind_exit,
	TP_PROTO(u64 space),
	TP_ARGS(space),
	TP_STRUCT__entry(
		__field(u64, space)
	),
	TP_fast_assign(
		__entry->space = space;
	),
	TP_printk("space=%llu", __entry->space)
);

#endif /* KUNWIND_TRACE_H */

#undef TRACE_INCLUDE_PATH
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_PATH kunwind
#define TRACE_INCLUDE_FILE trace
#include <trace/define_trace.h>
