/* SPDX-License-Identifier: MIT */
#ifndef KUNWIND_LATE_LIBRARY_H
#define KUNWIND_LATE_LIBRARY_H

#include "live.h"

void plugin_call(const struct live_calls *calls, struct live_stacks *stacks);

#endif /* KUNWIND_LATE_LIBRARY_H */
