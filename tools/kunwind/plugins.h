/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * The plugins of babeltrace2 that a graph (graph.h) is made of. The command loads them before
 * it forks the reader, which has no privileges, and puts them at its end.
 */
#ifndef KC_PLUGINS_H
#define KC_PLUGINS_H

#include <babeltrace2/babeltrace.h>
#include <stdbool.h>
#include "view.h"

/* Plugins of babeltrace2, and ours; each is NULL, or loaded. */
struct kc_plugins {
	const bt_plugin *own;
	const bt_plugin *ctf;
	const bt_plugin *utils;
};

/* Load them, with privileges. Return: whether all are there; if not, that was said. */
bool kc_plugins_load(struct kc_plugins *plugins, enum kc_form form);
void kc_plugins_put(struct kc_plugins *plugins);

#endif /* KC_PLUGINS_H */
