/* SPDX-License-Identifier: MIT */
#ifndef KUNWIND_PLUGIN_H
#define KUNWIND_PLUGIN_H

#include "live.h"

void plugin_call(const struct live_calls *calls, struct live_stacks *stacks);

#endif /* KUNWIND_PLUGIN_H */
