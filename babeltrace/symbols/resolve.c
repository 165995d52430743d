// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* The stack of one event, from its addresses to the field that a sink reads. */
#include <glib.h>
#include <linux/kunwind.h>
#include <string.h>
#include "context.h"
#include "jit.h"
#include "kernel.h"
#include "module.h"
#include "notes.h"
#include "reader_budgets.h"
#include "resolve.h"
#include "resolved_stack.h"
#include "sample.h"
#include "traced_space.h"

/* LTTng's mark at the end of a stack that is not whole. */
#define INCOMPLETE	UINT64_MAX

/* At the same address in every process. */
#define VSYSCALL	0xffffffffff600000ULL

static const bt_field *at(const bt_field *structure, int index)
{
	if (index < 0)
		return NULL;
	return bt_field_structure_borrow_member_field_by_index_const(structure, index);
}

static uint64_t element(const bt_field *array, uint64_t i)
{
	return bt_field_integer_unsigned_get_value(
		bt_field_array_borrow_element_field_by_index_const(array, i));
}

static bt_field *frame_member(bt_field *frame, enum kr_member member)
{
	return bt_field_structure_borrow_member_field_by_index(frame, member);
}

static bool set_frame(bt_field *stack, uint64_t i, const struct kr_stack_frame *frame)
{
	bt_field *to = bt_field_array_borrow_element_field_by_index(stack, i);

	bt_field_integer_unsigned_set_value(frame_member(to, KR_ADDRESS),
					    frame->address);
	bt_field_integer_unsigned_set_value(frame_member(to, KR_KIND), frame->kind);
	bt_field_integer_unsigned_set_value(frame_member(to, KR_OFFSET),
					    frame->offset);
	bt_field_integer_unsigned_set_value(frame_member(to, KR_LINE), frame->line);
	bt_field_integer_unsigned_set_value(frame_member(to, KR_GUESSED),
					    frame->guessed);
	bt_field_integer_unsigned_set_value(frame_member(to, KR_POSITION),
					    frame->position);
	return !bt_field_string_set_value(frame_member(to, KR_FUNCTION),
					  frame->function) &&
	       !bt_field_string_set_value(frame_member(to, KR_MODULE),
					  frame->module) &&
	       !bt_field_string_set_value(frame_member(to, KR_FILE), frame->file) &&
	       !bt_field_string_set_value(frame_member(to, KR_BUILD_ID),
					  frame->build_id);
}

static uint64_t whole_length(const bt_field *array)
{
	uint64_t n = array ? bt_field_array_get_length(array) : 0;

	return n && element(array, n - 1) == INCOMPLETE ? n - 1 : n;
}

/* Return: how many frames of the kernel are those of the interrupt that takes a sample. */
static uint64_t interrupts(const struct kr_sample *sample, const bt_field *array, uint64_t n)
{
	uint64_t i;

	for (i = 0; i < n && (sample->user || element(array, i) != sample->ip); i++)
		;
	return i;
}

/* Return: how many of the innermost frames are the tracer's own. */
static uint64_t tracers(const struct kr_kernel *kernel, const bt_field *array, uint64_t n)
{
	const struct kr_kernel_symbol *symbol;
	uint64_t i;

	for (i = 0; kernel && i < n; i++) {
		symbol = kr_kernel_find(kernel, element(array, i) - 1);
		if (!symbol || !strstr(symbol->module, "lttng"))
			break;
	}
	return i;
}

/* @call: it is a return address, as all but that of an interrupted instruction are */
static bool set_kernel_frame(const struct kr_kernel *kernel, bt_field *stack,
			     uint64_t i, uint64_t address, bool call)
{
	struct kr_stack_frame frame = {
		.address = address, .kind = KR_KERNEL,
		.function = "", .module = "", .file = "", .build_id = "",
	};
	const struct kr_kernel_symbol *symbol = NULL;

	if (kernel)
		symbol = kr_kernel_find(kernel, address - call);
	if (symbol) {
		frame.function = symbol->name;
		frame.offset = address - symbol->address;
		frame.module = symbol->module;
	}
	return set_frame(stack, i, &frame);
}

/* What is known of an address. @module: a path, or a name in brackets. @compiled: or NULL */
struct found {
	const struct kr_place *place;
	const struct kr_jit_function *compiled;
	const char *module;
	const char *build_id;
	uint64_t address;
	uint64_t position;
	bool guessed;
};

/* What is not known of a stack: something of its addresses, or whether it is still so. */
struct doubts {
	bool untold;
	bool lost;
};

/* What is executable and announced by nobody. */
static const char *unmapped(uint64_t address)
{
	if (address >= VSYSCALL && address - VSYSCALL < 4096)
		return "[vsyscall]";
	return "[anon]";
}

/* Return: what is mapped at an address, or NULL. */
static const struct kr_mapping *find_mapping(struct kr_spaces *spaces, uint64_t space,
					     uint64_t address, bool call)
{
	/* A call can be the last instruction of a mapping. */
	const struct kr_mapping *mapping = kr_spaces_find(spaces, space, address - call);

	/* Signal frames, which are not called, can be the first. */
	return mapping ?: kr_spaces_find(spaces, space, address);
}

/* Return: an address of a mapping, as an offset in its file. */
static uint64_t position_in(const struct kr_mapping *mapping, uint64_t address)
{
	return address - mapping->start + mapping->offset;
}

/*
 * Return: how many frames they are; *@call says whether the next is a call's, and
 * *@doubts what the trace does not tell.
 */
static uint64_t find(const struct kr_resolver *resolver, uint64_t space,
		     uint64_t address, bool *call, struct doubts *doubts,
		     struct found *found)
{
	const struct kr_mapping *mapping = find_mapping(resolver->spaces, space, address, *call);

	*found = (struct found) { .address = address, .module = "", .build_id = "" };
	if (!mapping || !mapping->module) {
		if (!mapping && kr_spaces_whole_now(resolver->spaces, space))
			found->module = unmapped(address);
		else
			doubts->untold = true;
		*call = true;
		return 1;
	}
	found->guessed = !kr_spaces_are_sure(resolver->spaces, mapping);
	doubts->lost |= found->guessed;
	found->module = kr_module_path(mapping->module);
	found->build_id = kr_module_build_id(mapping->module);
	found->position = position_in(mapping, address);
	found->place = kr_module_resolve(mapping->module, found->position, *call);
	found->guessed |= found->place->guessed;
	*call = !found->place->signal;
	if (kr_module_was_reopened(mapping->module))
		resolver->reopened(resolver->data, mapping->module);
	return found->place->count;
}

static bool set_user_frames(bt_field *stack, uint64_t *i, const struct found *found)
{
	struct kr_stack_frame frame = {
		.address = found->address, .kind = KR_USER,
		.function = "", .module = found->module, .file = "",
		.build_id = found->build_id, .guessed = found->guessed,
		.position = found->position,
	};
	uint32_t j;

	if (found->compiled) {
		frame.function = found->compiled->name;
		frame.offset = found->address - found->compiled->start;
		frame.module = "[jit]";
		frame.build_id = "";
		frame.position = 0;
		return set_frame(stack, (*i)++, &frame);
	}
	if (!found->place)
		return set_frame(stack, (*i)++, &frame);
	for (j = 0; j < found->place->count; j++) {
		const struct kr_frame *from = &found->place->frames[j];

		frame.kind = from->inlined ? KR_INLINED : KR_USER;
		frame.function = from->function;
		frame.offset = from->offset;
		frame.file = from->file;
		frame.line = from->line;
		if (!set_frame(stack, (*i)++, &frame))
			return false;
	}
	return true;
}

/* @is_cut: the trace has more frames than are shown */
static const char *stop_name(const struct kr_context *context, const bt_field *from,
			     bool is_cut)
{
	const bt_field *stop = at(from, context->stop), *user;
	bt_field_class_enumeration_mapping_label_array labels;
	uint64_t n;

	if (is_cut)
		return "MAX_FRAMES";
	if (stop && !bt_field_enumeration_unsigned_get_mapping_labels(stop, &labels,
								      &n) && n)
		return labels[0];
	user = at(from, context->user);
	if (!stop && user && bt_field_array_get_length(user) == whole_length(user))
		return "COMPLETE";
	return user ? "INCOMPLETE" : "";
}

/* Return: the integer at @index, or @otherwise if the trace does not have it. */
static uint64_t integer_at(const bt_field *from, int index, uint64_t otherwise)
{
	const bt_field *number = at(from, index);

	return number ? bt_field_integer_unsigned_get_value(number) : otherwise;
}

static uint64_t space_of(const struct kr_context *context, const bt_field *from)
{
	return integer_at(from, context->space, 0);
}

/* In the middle of execve() there is neither a map nor a stack. */
static bool is_early(const bt_field *stop)
{
	return stop && bt_field_integer_unsigned_get_value(stop) ==
		       KUNWIND_STOP_NOT_COVERED;
}

/* The address at which the walk stopped is in a mapping that it did not know. */
static bool is_incomplete(const bt_field *stop)
{
	return stop && bt_field_integer_unsigned_get_value(stop) ==
		       KUNWIND_STOP_INCOMPLETE_MAP;
}

uint64_t kr_resolve_new_space(struct kr_spaces *spaces, const struct kr_context *context,
			      const bt_field *from, uint64_t *address)
{
	const bt_field *stop = at(from, context->stop);

	if (!stop || whole_length(at(from, context->user)) != 1 ||
	    bt_field_integer_unsigned_get_value(stop) != KUNWIND_STOP_COMPLETE ||
	    kr_spaces_has(spaces, space_of(context, from)))
		return 0;
	if (address)
		*address = element(at(from, context->user), 0);
	return space_of(context, from);
}

bool kr_resolve_can(struct kr_spaces *spaces, const struct kr_context *context,
		    const bt_field *from)
{
	return !whole_length(at(from, context->user)) ||
	       !space_of(context, from) || is_early(at(from, context->stop)) ||
	       kr_spaces_whole(spaces, space_of(context, from));
}

static int64_t pid_of(const struct kr_context *context, const bt_field *from)
{
	const bt_field *pid = at(from, context->pid);

	return pid ? bt_field_integer_signed_get_value(pid) : 0;
}

/* A program may tell names for its memory, but not for a file of a disk. */
static bool is_in_memory(const struct found *found)
{
	return found->module[0] != '/' || g_str_has_prefix(found->module, "/memfd:");
}

/*
 * Compiled code has no file, or one in memory that names nothing. Return: its function; NULL
 * if something else names the address.
 */
static const struct kr_jit_function *find_compiled(const struct kr_resolver *resolver,
						   int64_t pid, bool call,
						   const struct found *found)
{
	if (!resolver->jit || pid <= 0 || !is_in_memory(found) ||
	    (found->place && (found->place->count != 1 ||
			      found->place->frames[0].function[0])))
		return NULL;
	return kr_jit_find(resolver->jit, pid, found->address - call);
}

/*
 * Find all user frames. The trace says of the first 64 which ones were interrupted; of
 * others, and in a trace that does not, CFI tells it of the frame before.
 *
 * Return: how many they are, inlined ones included; *@n of the addresses were looked at.
 */
static uint64_t find_all(const struct kr_resolver *resolver,
			 const struct kr_context *context, const bt_field *from,
			 struct doubts *doubts, struct found *found, uint64_t *n)
{
	uint64_t interrupted = integer_at(from, context->interrupted, 0);
	uint64_t proven = integer_at(from, context->proven, UINT64_MAX);
	const bt_field *user = at(from, context->user);
	int64_t pid = pid_of(context, from);
	bool call = false, called;
	uint64_t total = 0, i;

	for (i = 0; i < *n && total < KR_FRAMES; i++) {
		if (context->interrupted >= 0 && i < 64)
			call = !(interrupted >> i & 1);
		called = call;
		total += find(resolver, space_of(context, from), element(user, i),
			      &call, doubts, &found[i]);
		found[i].guessed |= i >= proven;
		found[i].compiled = find_compiled(resolver, pid, called, &found[i]);
		/* Where nothing is known to be mapped, a file may be. */
		found[i].guessed |= found[i].compiled && !found[i].module[0];
	}
	/* What is told to be mapped there may have been replaced. */
	if (i && i == whole_length(user) && is_incomplete(at(from, context->stop)))
		found[i - 1].guessed |= found[i - 1].place != NULL;
	*n = i;
	return total;
}

uint64_t kr_resolve_of(struct kr_spaces *spaces, const struct kr_context *context,
		       const bt_field *from, struct kr_module *module)
{
	uint64_t interrupted = integer_at(from, context->interrupted, 1);
	const bt_field *user = at(from, context->user);
	uint64_t n = MIN(whole_length(user), KR_FRAMES), i;

	for (i = 0; i < n; i++) {
		uint64_t address = element(user, i);
		/* Where CFI would tell of a signal, a wrong guess costs a question. */
		bool call = i >= 64 || !(interrupted >> i & 1);
		const struct kr_mapping *mapping =
			find_mapping(spaces, space_of(context, from), address, call);

		if (mapping && mapping->module == module)
			kr_module_resolve(module, position_in(mapping, address), call);
	}
	return n;
}

bool kr_resolve(struct kr_resolver *resolver,
		const struct kr_context *context, const bt_field *from,
		bt_field *to)
{
	const bt_field *user, *kernel;
	uint64_t nr_user, nr_kernel, nr_found, own, space, total, i, j;
	bt_field *stack;
	struct found *found;
	struct doubts doubts = { 0 };
	bool done = true;

	if (context->stack < 0)
		return true;
	user = at(from, context->user);
	if (resolver->sample && resolver->sample->kernel)
		kernel = resolver->sample->kernel;
	else
		kernel = at(from, context->kernel);
	space = space_of(context, from);
	nr_user = whole_length(user);
	nr_kernel = whole_length(kernel);
	own = resolver->sample ? interrupts(resolver->sample, kernel, nr_kernel) :
				 tracers(resolver->kernel, kernel, nr_kernel);
	nr_kernel = MIN(nr_kernel - own, KR_FRAMES);
	nr_found = MIN(nr_user, KR_FRAMES);
	resolver->stacks += !!nr_user;
	found = g_new(struct found, nr_found);
	total = nr_kernel + find_all(resolver, context, from, &doubts, found, &nr_found);
	if (nr_user && !space)
		kr_note(resolver->notes, KR_NO_SPACE, NULL);
	else if (doubts.untold && !is_early(at(from, context->stop)) &&
		 !kr_resolve_new_space(resolver->spaces, context, from, NULL))
		kr_note(resolver->notes, KR_UNTOLD, NULL);
	if (doubts.lost)
		kr_note(resolver->notes, KR_DOUBTED, NULL);
	stack = bt_field_structure_borrow_member_field_by_index(to, context->stack);
	done = !bt_field_array_dynamic_set_length(stack, total);
	for (i = 0; i < nr_kernel && done; i++)
		done = set_kernel_frame(resolver->kernel, stack, i,
					element(kernel, own + i),
					i || !resolver->sample);
	for (j = 0; j < nr_found && done; j++)
		done = set_user_frames(stack, &i, &found[j]);
	g_free(found);
	return done && !bt_field_string_set_value(
		bt_field_structure_borrow_member_field_by_index(to,
			context->stack + 1),
		stop_name(context, from, nr_found < nr_user));
}
