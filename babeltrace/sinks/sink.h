/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* What the sinks have in common: a port, from which all messages are taken. */
#ifndef KR_SINK_H
#define KR_SINK_H

#include <babeltrace2/babeltrace.h>
#include <glib.h>
#include <stdbool.h>
#include "output.h"

enum kr_so_far {
	/* More will come. */
	KR_SOME,
	KR_ALL,
	/* The trace could not be read to its end, or the user has stopped it. */
	KR_CUT,
};

struct kr_colors;
struct kr_event;
struct kr_sink;

/* What a sink has to say of KR_CUT, and of a trace without a resolved stack. */
extern const char kr_sink_is_cut[];
extern const char kr_sink_no_stacks[];

/**
 * struct kr_sink_ops - what each does itself
 * @message: take a message
 * @write: write what there is; false if it cannot be written, and the cause is in
 *	   errno. Not called again after KR_ALL, KR_CUT, or a failure
 * @turn: what was before has come to its end; only of a sink that compares
 * @free: free the sink, and all but what is in struct kr_sink
 */
struct kr_sink_ops {
	void (*message)(struct kr_sink *sink, const bt_message *message);
	bool (*write)(struct kr_sink *sink, enum kr_so_far so_far);
	void (*turn)(struct kr_sink *sink);
	void (*free)(struct kr_sink *sink);
};

/**
 * struct kr_sink - the first member of each sink
 * @ops: its own
 * @self: the component
 * @upstream: where messages come from
 * @compares: the port "before" has messages to compare with, which come first
 * @before: where these come from, until they end
 * @filter: events that do not match are left out; or NULL
 * @output: where it writes
 * @folder: that is a folder
 * @done: it has written all
 */
struct kr_sink {
	const struct kr_sink_ops *ops;
	bt_self_component_sink *self;
	bt_message_iterator *upstream;
	bool compares;
	bt_message_iterator *before;
	GRegex *filter;
	struct kr_output output;
	bool folder;
	bool done;
};

/**
 * kr_sink_init() - begin a sink, and open its file
 * @sink: zeroed memory
 * @ops: its own
 * @self: the component
 * @params: "path" is the file's; without it, the standard output
 * @names: of all parameters there are; NULL ends them
 * @own_params: what checks the others, or NULL
 *
 * Return: the status of the component's initialization. @sink belongs to the
 * component, or is freed.
 */
bt_component_class_initialize_method_status kr_sink_init(
	struct kr_sink *sink, const struct kr_sink_ops *ops,
	bt_self_component_sink *self, const bt_value *params,
	const char *const *names,
	bool (*own_params)(struct kr_sink *sink, const bt_value *params));

/**
 * kr_sink_choice() - a parameter that is one of some words
 * @sink: whose it is
 * @params: that it was given
 * @name: of the parameter
 * @words: that it can be, the default first; NULL ends them
 *
 * Return: which one; -1 if it is another, and that is the component's error.
 */
int kr_sink_choice(struct kr_sink *sink, const bt_value *params, const char *name,
		   const char *const *words);

/*
 * The same for a number, which is 0 without the parameter. Return: false if it is none,
 * and that is the component's error.
 */
bool kr_sink_number(struct kr_sink *sink, const bt_value *params, const char *name,
		    unsigned int *number);

/* Return: false; a parameter is wrong, and that is the component's error. */
bool kr_sink_refuse(const struct kr_sink *sink, const char *name, const char *why);

/* Take the parameter "filter", a regular expression. Return: likewise. */
bool kr_sink_take_filter(struct kr_sink *sink, const bt_value *params);

/*
 * Return: whether an event is to be shown: its name, its process, or a function or
 * module of its stack matches the filter.
 */
bool kr_sink_wants(const struct kr_sink *sink, const struct kr_event *event);

/* What "color" can be. */
enum kr_color {
	KR_COLOR_AUTO,
	KR_COLOR_ALWAYS,
	KR_COLOR_NEVER,
};

extern const char *const kr_color_words[];

/* Return: the colours for where the sink writes. @choice: enum kr_color */
const struct kr_colors *kr_sink_colors(const struct kr_sink *sink, int choice);

/* The methods of all sinks. */
bt_component_class_sink_graph_is_configured_method_status kr_sink_configured(
	bt_self_component_sink *self);
bt_component_class_sink_consume_method_status kr_sink_consume(
	bt_self_component_sink *self);
void kr_sink_finalize(bt_self_component_sink *self);

#endif /* KR_SINK_H */
