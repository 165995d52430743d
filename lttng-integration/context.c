// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * The context has the fields _callstack_user_unwind_length and callstack_user_unwind, and
 * after them _callstack_user_unwind_stop, _callstack_user_unwind_space,
 * _callstack_user_unwind_proven and _callstack_user_unwind_interrupted.
 *
 * As LTTng's own callstack context does (src/lttng-context-callstack.c), get_size() computes
 * the stack, as its length must be known there, and keeps it for record(). LTTng keeps
 * preemption off in between. An incomplete stack ends with LTTng's mark, ULONG_MAX.
 *
 * On x86, LTTng packs fields. So the first field's get_size() and record() serve all six, by
 * one write into the ring buffer: six would cost as many instructions as nine frames.
 */
#include <linux/err.h>
#include <linux/module.h>
#include <linux/slab.h>
#include <ringbuffer/backend.h>
#include <ringbuffer/frontend.h>
#include <lttng/events.h>
#include <lttng/events-internal.h>
#include <lttng/tracer.h>
#include <lttng/endian.h>
#include <kunwind/kunwind.h>
#include "buffers.h"
#include "context.h"

#define LENGTH_NAME	"_callstack_user_unwind_length"
#define STACK_NAME	"callstack_user_unwind"
#define STOP_NAME	"_callstack_user_unwind_stop"
#define SPACE_NAME	"_callstack_user_unwind_space"
#define PROVEN_NAME	"_callstack_user_unwind_proven"
#define INTERRUPTED_NAME "_callstack_user_unwind_interrupted"
#define INCOMPLETE	ULONG_MAX

static_assert(lttng_alignof(u64) == 1);

static void compute(struct stack *s)
{
	struct kunwind_result result;
	struct stack_end *end;

	kunwind_walk(NULL, s->frames, KUNWIND_MAX_FRAMES, &result);
	s->count = result.count;
	/* A kernel thread has no user stack: an empty one is complete. */
	if (result.stop != KUNWIND_STOP_COMPLETE &&
	    result.stop != KUNWIND_STOP_NO_USER)
		s->frames[s->count++] = INCOMPLETE;
	end = (struct stack_end *)&s->frames[s->count];
	*end = (struct stack_end) {
		.stop = result.stop,
		.space = result.space,
		.proven = result.proven,
		.interrupted = result.interrupted,
	};
	s->bytes = (u8 *)(end + 1) - (u8 *)&s->count;
}

static size_t all_get_size(void *priv, struct lttng_kernel_probe_ctx *probe_ctx,
			   size_t offset)
{
	struct stack *s = buffers_stack(smp_processor_id());

	compute(s);
	return s->bytes;
}

static void all_record(void *priv, struct lttng_kernel_probe_ctx *probe_ctx,
		       struct lttng_kernel_ring_buffer_ctx *ctx,
		       struct lttng_kernel_channel_buffer *chan)
{
	const struct stack *s = buffers_stack(ctx->priv.reserve_cpu);

	chan->ops->event_write(ctx, &s->count, s->bytes, 1);
}

/* Of the other fields. */
static size_t no_size(void *priv, struct lttng_kernel_probe_ctx *probe_ctx, size_t offset)
{
	return 0;
}

static void no_record(void *priv, struct lttng_kernel_probe_ctx *probe_ctx,
		      struct lttng_kernel_ring_buffer_ctx *ctx,
		      struct lttng_kernel_channel_buffer *chan)
{
}

static void context_destroy(void *consumer)
{
	kunwind_detach(consumer);
	buffers_put();
	/* Do not sleep from here on: see main.c. */
	module_put(THIS_MODULE);
}

static const struct lttng_kernel_event_field *length_field =
	lttng_kernel_static_event_field(LENGTH_NAME,
		lttng_kernel_static_type_integer_from_type(unsigned int, __BYTE_ORDER, 10),
		false, false);

static const struct lttng_kernel_event_field *stack_field =
	lttng_kernel_static_event_field(STACK_NAME,
		lttng_kernel_static_type_sequence(NULL,
			lttng_kernel_static_type_integer_from_type(unsigned long, __BYTE_ORDER, 16),
			0, none),
		false, false);

static const struct lttng_kernel_enum_entry * const stop_entries[] = {
#define STOP_ENTRY(number, name, sentence) \
	lttng_kernel_static_enum_entry_value(#name, number)
	KUNWIND_STOPS(STOP_ENTRY)
#undef STOP_ENTRY
};

static const struct lttng_kernel_enum_desc stop_enum = {
	.name = "kunwind_stop",
	.entries = stop_entries,
	.nr_entries = ARRAY_SIZE(stop_entries),
};

static const struct lttng_kernel_event_field *stop_field =
	lttng_kernel_static_event_field(STOP_NAME,
		lttng_kernel_static_type_enum(&stop_enum,
			lttng_kernel_static_type_integer_from_type(u8, __BYTE_ORDER, 10)),
		false, false);

static const struct lttng_kernel_event_field *space_field =
	lttng_kernel_static_event_field(SPACE_NAME,
		lttng_kernel_static_type_integer_from_type(u64, __BYTE_ORDER, 10),
		false, false);

static const struct lttng_kernel_event_field *proven_field =
	lttng_kernel_static_event_field(PROVEN_NAME,
		lttng_kernel_static_type_integer_from_type(u16, __BYTE_ORDER, 10),
		false, false);

static const struct lttng_kernel_event_field *interrupted_field =
	lttng_kernel_static_event_field(INTERRUPTED_NAME,
		lttng_kernel_static_type_integer_from_type(u64, __BYTE_ORDER, 16),
		false, false);

/*
 * Append two fields. lttng_kernel_context_append() is not exported. A call of it through a
 * pointer could fault: with IBT, the kernel removes the landing pad of a function whose
 * address no code takes. But LTTng's own callstack context has two fields, an unsigned int
 * and unsigned longs. So make LTTng append that context, and then replace its fields. No type
 * of kunwind's fields needs a larger alignment.
 */
static int append(struct lttng_kernel_ctx **ctx,
		  const struct lttng_kernel_ctx_field *first,
		  const struct lttng_kernel_ctx_field *second)
{
	unsigned int before = *ctx ? (*ctx)->nr_fields : 0;
	struct lttng_kernel_ctx_field *fields;
	int ret;

	ret = lttng_add_callstack_to_ctx(ctx, LTTNG_KERNEL_ABI_CONTEXT_CALLSTACK_USER);
	if (ret)
		return ret;
	/* This is not the LTTng that this was written for: leave its own fields. */
	if (WARN_ON_ONCE((*ctx)->nr_fields != before + 2))
		return -ENXIO;
	fields = &(*ctx)->fields[before];
	if (fields[1].destroy)
		fields[1].destroy(fields[1].priv);
	fields[0] = *first;
	fields[1] = *second;
	return 0;
}

static int append_rest(struct lttng_kernel_ctx **ctx, const struct lttng_kernel_event_field *first,
		       const struct lttng_kernel_event_field *second)
{
	const struct lttng_kernel_ctx_field fields[] = {
		{ .event_field = first, .get_size = no_size, .record = no_record },
		{ .event_field = second, .get_size = no_size, .record = no_record },
	};

	return append(ctx, &fields[0], &fields[1]);
}

/* Append all fields or, on an error, none. Then @consumer is still the caller's. */
static int append_all(struct lttng_kernel_ctx **ctx, struct kunwind_consumer *consumer)
{
	const struct lttng_kernel_ctx_field length = {
		.event_field = length_field,
		.get_size = all_get_size,
		.record = all_record,
	};
	const struct lttng_kernel_ctx_field stack = {
		.event_field = stack_field,
		.get_size = no_size,
		.record = no_record,
		.destroy = context_destroy,
		.priv = consumer,
	};
	unsigned int before = *ctx ? (*ctx)->nr_fields : 0;
	int ret;

	ret = append(ctx, &length, &stack);
	if (ret)
		return ret;
	ret = append_rest(ctx, stop_field, space_field) ?:
	      append_rest(ctx, proven_field, interrupted_field);
	/* As lttng_kernel_context_remove_last(), which is not exported. */
	if (ret)
		(*ctx)->nr_fields = before;
	return ret;
}

/**
 * context_add() - replaces lttng_add_callstack_to_ctx(CALLSTACK_USER)
 * @ctx: the context of a channel that has not been active
 *
 * Context: an ioctl of the session daemon; sleeps. Takes over the redirect's reference to
 *	this module.
 * Return: 0, -EEXIST, or a negative errno.
 */
int context_add(struct lttng_kernel_ctx **ctx)
{
	struct kunwind_consumer *consumer;
	int ret;

	ret = -EEXIST;
	if (lttng_kernel_find_context(*ctx, LENGTH_NAME) ||
	    lttng_kernel_find_context(*ctx, STACK_NAME))
		goto put_module;
	ret = buffers_get();
	if (ret)
		goto put_module;
	consumer = kunwind_attach();
	ret = PTR_ERR_OR_ZERO(consumer);
	if (ret)
		goto put_buffers;
	ret = append_all(ctx, consumer);
	/* From here on the context owns the consumer, buffers and module. */
	if (!ret)
		return 0;
	kunwind_detach(consumer);
put_buffers:
	buffers_put();
put_module:
	module_put(THIS_MODULE);
	return ret;
}
