/* SPDX-License-Identifier: MIT */
/* The layout of the ABI, as numbers: for every kind of caller the same. */
#ifndef KUNWIND_LAYOUT_H
#define KUNWIND_LAYOUT_H

#include <stddef.h>
#include <linux/kunwind.h>

_Static_assert(sizeof(struct kunwind_version) == 16, "layout");
_Static_assert(offsetof(struct kunwind_version, size) == 0, "layout");
_Static_assert(offsetof(struct kunwind_version, abi) == 4, "layout");
_Static_assert(offsetof(struct kunwind_version, max_frames) == 8, "layout");
_Static_assert(offsetof(struct kunwind_version, reserved) == 12, "layout");

_Static_assert(sizeof(struct kunwind_stack) == 32, "layout");
_Static_assert(offsetof(struct kunwind_stack, size) == 0, "layout");
_Static_assert(offsetof(struct kunwind_stack, flags) == 4, "layout");
_Static_assert(offsetof(struct kunwind_stack, capacity) == 8, "layout");
_Static_assert(offsetof(struct kunwind_stack, skip) == 12, "layout");
_Static_assert(offsetof(struct kunwind_stack, count) == 16, "layout");
_Static_assert(offsetof(struct kunwind_stack, proven) == 20, "layout");
_Static_assert(offsetof(struct kunwind_stack, stop) == 24, "layout");
_Static_assert(offsetof(struct kunwind_stack, reserved) == 28, "layout");

_Static_assert(KUNWIND_IOC_VERSION == 0xbe00, "request");
_Static_assert(KUNWIND_IOC_STACK == 0xbe01, "request");
_Static_assert(KUNWIND_ABI_VERSION == 1, "version");
_Static_assert(KUNWIND_MAX_FRAMES == 1024, "limit");

/* Numbers of stop reasons are for ever. */
_Static_assert(KUNWIND_STOP_COMPLETE == 0, "stop");
_Static_assert(KUNWIND_STOP_CAPACITY == 1, "stop");
_Static_assert(KUNWIND_STOP_MAX_FRAMES == 2, "stop");
_Static_assert(KUNWIND_STOP_NO_USER == 3, "stop");
_Static_assert(KUNWIND_STOP_NOT_COVERED == 4, "stop");
_Static_assert(KUNWIND_STOP_NO_MAPPING == 5, "stop");
_Static_assert(KUNWIND_STOP_NO_TABLE == 6, "stop");
_Static_assert(KUNWIND_STOP_NO_RULE == 7, "stop");
_Static_assert(KUNWIND_STOP_STACK_FAULT == 8, "stop");
_Static_assert(KUNWIND_STOP_CFA_BACK == 9, "stop");
_Static_assert(KUNWIND_STOP_CFA_BAD == 10, "stop");
_Static_assert(KUNWIND_STOP_RA_BAD == 11, "stop");
_Static_assert(KUNWIND_STOP_REG_UNKNOWN == 12, "stop");
_Static_assert(KUNWIND_STOP_EXPR_BAD == 13, "stop");
_Static_assert(KUNWIND_STOP_EXPR_BUDGET == 14, "stop");
_Static_assert(KUNWIND_STOP_MODE == 15, "stop");
_Static_assert(KUNWIND_STOP_CONTEXT == 16, "stop");
_Static_assert(KUNWIND_STOP_RULE_BAD == 17, "stop");
_Static_assert(KUNWIND_STOP_INCOMPLETE_MAP == 18, "stop");
_Static_assert(KUNWIND_NR_STOPS == 19, "a new stop reason: number it here, too");

#endif /* KUNWIND_LAYOUT_H */
