/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* The stack of one event, from its addresses to the field that a sink reads. */
#ifndef KR_RESOLVE_H
#define KR_RESOLVE_H

#include <babeltrace2/babeltrace.h>
#include <stdbool.h>

struct kr_context;
struct kr_jit;
struct kr_kernel;
struct kr_module;
struct kr_notes;
struct kr_sample;
struct kr_spaces;

/**
 * struct kr_resolver - what a stack is resolved with
 * @spaces: what is mapped
 * @kernel: symbols, or NULL
 * @jit: names of compiled code, or NULL
 * @notes: what is missing
 * @sample: the event at hand is one; or NULL
 * @stacks: how many had an address of the user
 * @reopened: called when a file was closed and opened again: it asks for the file's addresses in
 *            stacks to come, with kr_resolve_of()
 * @data: passed to that
 */
struct kr_resolver {
	struct kr_spaces *spaces;
	const struct kr_kernel *kernel;
	struct kr_jit *jit;
	struct kr_notes *notes;
	const struct kr_sample *sample;
	uint64_t stacks;
	void (*reopened)(void *data, struct kr_module *module);
	void *data;
};

/* Return: whether the stack of an event is of a space of which all is known. */
bool kr_resolve_can(struct kr_spaces *spaces, const struct kr_context *context,
		    const bt_field *from);

/*
 * Return: the space of a stack that was taken before anything of its space was told: at
 * the exit of execve(), whose one frame is the new program's first instruction; or 0.
 * @address: set to that, if not NULL
 */
uint64_t kr_resolve_new_space(struct kr_spaces *spaces, const struct kr_context *context,
			      const bt_field *from, uint64_t *address);

/* Return: false if memory ran out. */
bool kr_resolve(struct kr_resolver *resolver,
		const struct kr_context *context, const bt_field *from,
		bt_field *to);

/* Ask for a stack's addresses of one file. Return: how many addresses were looked at. */
uint64_t kr_resolve_of(struct kr_spaces *spaces, const struct kr_context *context,
		       const bt_field *from, struct kr_module *module);

#endif /* KR_RESOLVE_H */
