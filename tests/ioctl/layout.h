/* SPDX-License-Identifier: MIT */
/* The layout of the ABI, as numbers: for every kind of caller the same. */
#ifndef KUNWIND_LAYOUT_H
#define KUNWIND_LAYOUT_H

#include <stddef.h>
#include <linux/kunwind.h>

_Static_assert(sizeof(struct kunwind_version) == 32, "layout");
_Static_assert(offsetof(struct kunwind_version, size) == 0, "layout");
_Static_assert(offsetof(struct kunwind_version, abi) == 4, "layout");
_Static_assert(offsetof(struct kunwind_version, max_frames) == 8, "layout");
_Static_assert(offsetof(struct kunwind_version, max_skip) == 12, "layout");
_Static_assert(offsetof(struct kunwind_version, nr_stops) == 16, "layout");
_Static_assert(offsetof(struct kunwind_version, stack_flags) == 20, "layout");
_Static_assert(offsetof(struct kunwind_version, frame_flags) == 24, "layout");
_Static_assert(offsetof(struct kunwind_version, reserved) == 28, "layout");

_Static_assert(sizeof(struct kunwind_stack) == 32, "layout");
_Static_assert(offsetof(struct kunwind_stack, size) == 0, "layout");
_Static_assert(offsetof(struct kunwind_stack, flags) == 4, "layout");
_Static_assert(offsetof(struct kunwind_stack, capacity) == 8, "layout");
_Static_assert(offsetof(struct kunwind_stack, skip) == 12, "layout");
_Static_assert(offsetof(struct kunwind_stack, count) == 16, "layout");
_Static_assert(offsetof(struct kunwind_stack, proven) == 20, "layout");
_Static_assert(offsetof(struct kunwind_stack, stop) == 24, "layout");
_Static_assert(offsetof(struct kunwind_stack, reserved) == 28, "layout");

_Static_assert(sizeof(struct kunwind_stack_at) == 176, "layout");
_Static_assert(offsetof(struct kunwind_stack_at, stack) == 0, "layout");
_Static_assert(offsetof(struct kunwind_stack_at, mappings) == 32, "layout");
_Static_assert(offsetof(struct kunwind_stack_at, registers) == 40, "layout");
_Static_assert(sizeof(struct kunwind_registers) == 136, "layout");
_Static_assert(offsetof(struct kunwind_registers, ip) == 0, "layout");
_Static_assert(offsetof(struct kunwind_registers, sp) == 8, "layout");
_Static_assert(offsetof(struct kunwind_registers, bp) == 16, "layout");
_Static_assert(offsetof(struct kunwind_registers, ax) == 24, "layout");
_Static_assert(offsetof(struct kunwind_registers, bx) == 32, "layout");
_Static_assert(offsetof(struct kunwind_registers, cx) == 40, "layout");
_Static_assert(offsetof(struct kunwind_registers, dx) == 48, "layout");
_Static_assert(offsetof(struct kunwind_registers, si) == 56, "layout");
_Static_assert(offsetof(struct kunwind_registers, di) == 64, "layout");
_Static_assert(offsetof(struct kunwind_registers, r8) == 72, "layout");
_Static_assert(offsetof(struct kunwind_registers, r9) == 80, "layout");
_Static_assert(offsetof(struct kunwind_registers, r10) == 88, "layout");
_Static_assert(offsetof(struct kunwind_registers, r11) == 96, "layout");
_Static_assert(offsetof(struct kunwind_registers, r12) == 104, "layout");
_Static_assert(offsetof(struct kunwind_registers, r13) == 112, "layout");
_Static_assert(offsetof(struct kunwind_registers, r14) == 120, "layout");
_Static_assert(offsetof(struct kunwind_registers, r15) == 128, "layout");

_Static_assert(sizeof(struct kunwind_thread) == 40, "layout");
_Static_assert(offsetof(struct kunwind_thread, size) == 0, "layout");
_Static_assert(offsetof(struct kunwind_thread, flags) == 4, "layout");
_Static_assert(offsetof(struct kunwind_thread, pid) == 8, "layout");
_Static_assert(offsetof(struct kunwind_thread, tid) == 12, "layout");
_Static_assert(offsetof(struct kunwind_thread, capacity) == 16, "layout");
_Static_assert(offsetof(struct kunwind_thread, count) == 20, "layout");
_Static_assert(offsetof(struct kunwind_thread, proven) == 24, "layout");
_Static_assert(offsetof(struct kunwind_thread, stop) == 28, "layout");
_Static_assert(offsetof(struct kunwind_thread, state) == 32, "layout");
_Static_assert(offsetof(struct kunwind_thread, reserved) == 36, "layout");
_Static_assert(KUNWIND_THREAD_OFF_CPU == 1, "state");
_Static_assert(KUNWIND_THREAD_ON_CPU == 2, "state");

_Static_assert(sizeof(struct kunwind_frame) == 16, "layout");
_Static_assert(offsetof(struct kunwind_frame, address) == 0, "layout");
_Static_assert(offsetof(struct kunwind_frame, flags) == 8, "layout");
_Static_assert(offsetof(struct kunwind_frame, reserved) == 12, "layout");
_Static_assert(KUNWIND_FRAME_INTERRUPTED == 1, "flag");
_Static_assert(KUNWIND_FRAME_GUESSED == 2, "flag");

_Static_assert(KUNWIND_IOC_VERSION == 0xc020be00, "request");
_Static_assert(KUNWIND_IOC_STACK == 0xc020be01, "request");
_Static_assert(KUNWIND_IOC_THREAD == 0xc028be02, "request");
_Static_assert(KUNWIND_IOC_STACK_AT == 0xc0b0be03, "request");
_Static_assert(KUNWIND_ABI_VERSION == 3, "version");
_Static_assert(KUNWIND_MAX_FRAMES == 1024, "limit");
_Static_assert(KUNWIND_MAX_SKIP == 1 << 20, "limit");

/* Numbers of stop reasons are for ever. */
_Static_assert(KUNWIND_STOP_NONE == 0, "stop");
_Static_assert(KUNWIND_STOP_COMPLETE == 1, "stop");
_Static_assert(KUNWIND_STOP_CAPACITY == 2, "stop");
_Static_assert(KUNWIND_STOP_MAX_FRAMES == 3, "stop");
_Static_assert(KUNWIND_STOP_NO_USER == 4, "stop");
_Static_assert(KUNWIND_STOP_NOT_COVERED == 5, "stop");
_Static_assert(KUNWIND_STOP_NO_MAPPING == 6, "stop");
_Static_assert(KUNWIND_STOP_NO_TABLE == 7, "stop");
_Static_assert(KUNWIND_STOP_NO_RULE == 8, "stop");
_Static_assert(KUNWIND_STOP_STACK_FAULT == 9, "stop");
_Static_assert(KUNWIND_STOP_CFA_BACK == 10, "stop");
_Static_assert(KUNWIND_STOP_CFA_BAD == 11, "stop");
_Static_assert(KUNWIND_STOP_RA_BAD == 12, "stop");
_Static_assert(KUNWIND_STOP_REG_UNKNOWN == 13, "stop");
_Static_assert(KUNWIND_STOP_EXPR_BAD == 14, "stop");
_Static_assert(KUNWIND_STOP_EXPR_BUDGET == 15, "stop");
_Static_assert(KUNWIND_STOP_MODE == 16, "stop");
_Static_assert(KUNWIND_STOP_CONTEXT == 17, "stop");
_Static_assert(KUNWIND_STOP_RULE_BAD == 18, "stop");
_Static_assert(KUNWIND_STOP_INCOMPLETE_MAP == 19, "stop");
_Static_assert(KUNWIND_STOP_UNPROVEN == 20, "stop");
_Static_assert(KUNWIND_STOP_FAULT_BUDGET == 21, "stop");
_Static_assert(KUNWIND_STOP_SIGNAL_BUDGET == 22, "stop");
_Static_assert(KUNWIND_NR_STOPS == 23, "a new stop reason: number it here, too");

#endif /* KUNWIND_LAYOUT_H */
