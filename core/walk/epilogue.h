/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * The end of a function without an FDE. Where nothing but that follows a call, as in the
 * trampolines of CPython's -X perf, the code says where the function's return address is.
 */
#ifndef KUW_EPILOGUE_H
#define KUW_EPILOGUE_H

#include "apply.h"

/*
 * Do what the code at the current frame's ip does up to its ret: add to rsp, and pop
 * callee-saved registers. @regs: out: all registers after that.
 * Return: false if the code does something else, or if something cannot be read.
 */
bool kuw_run_epilogue(struct kuw_state *w, struct kuw_expr_regs *regs);

#endif /* KUW_EPILOGUE_H */
