/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * The Trace Event Format of Chrome: JSON that Chrome's viewer and Perfetto open.
 *
 * Callstacks are there twice. "stackFrames" and "sf" are the format's own, for
 * Chrome's viewer; Perfetto reads them not, and shows the argument "stack".
 */
#ifndef KR_CHROME_H
#define KR_CHROME_H

#include <glib.h>
#include <stdint.h>

struct kr_stack;

enum kr_phase {
	KR_SLICE,
	/* A slice whose end is not in the trace. */
	KR_OPEN_SLICE,
	KR_INSTANT,
	/* Of all processes. */
	KR_GLOBAL_INSTANT,
};

/**
 * struct kr_chrome_event - an event of that format
 * @phase: what it is
 * @name: of it
 * @category: of it
 * @begin: in nanoseconds
 * @end: likewise, of KR_SLICE
 * @pid: whose it is
 * @tid: likewise
 * @stack: of kr_chrome_stack(), or 0
 * @args: members of a JSON object, or NULL
 */
struct kr_chrome_event {
	enum kr_phase phase;
	const char *name;
	const char *category;
	int64_t begin;
	int64_t end;
	int64_t pid;
	int64_t tid;
	uint32_t stack;
	const char *args;
};

struct kr_chrome;

/* Return: a new trace, whose text goes into @out. */
struct kr_chrome *kr_chrome_new(GString *out);
void kr_chrome_free(struct kr_chrome *chrome);

/* Say from when times are counted, before the first event. */
void kr_chrome_begin(struct kr_chrome *chrome, int64_t begin);

/* Return: the number of a stack. */
uint32_t kr_chrome_stack(struct kr_chrome *chrome, const struct kr_stack *stack);

/* Append an event. */
void kr_chrome_append(struct kr_chrome *chrome,
		      const struct kr_chrome_event *event);

/* Say what a process (@tid is -1) or a thread is called. */
void kr_chrome_name(struct kr_chrome *chrome, int64_t pid, int64_t tid,
		    const char *name);

/* Say which process comes first. */
void kr_chrome_sort(struct kr_chrome *chrome, int64_t pid, int index);

/* Append what ends the text; @notes are for who asks for the trace's metadata. */
void kr_chrome_end(struct kr_chrome *chrome, const GPtrArray *notes);

#endif /* KR_CHROME_H */
