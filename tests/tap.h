/* SPDX-License-Identifier: MIT */
/* Test Anything Protocol, version 13, for tests in C and C++. */
#ifndef KUNWIND_TAP_H
#define KUNWIND_TAP_H

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#ifdef __cplusplus
extern "C" {
#endif

/* One test point; returns @good. Safe with threads that are joined. */
int tap_ok(int good, const char *name, ...)
	__attribute__((format(printf, 2, 3)));
void tap_skip(const char *name, const char *why);
void tap_diag(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* The plan, last; what main() returns. */
int tap_done(void);

/* Nothing can be tested, for the reason given: exit status 77. */
void tap_skip_all(const char *why) __attribute__((noreturn));

/* The test itself cannot go on: exit status 99. */
void tap_bail(const char *format, ...)
	__attribute__((noreturn, format(printf, 1, 2)));

#ifdef __cplusplus
}
#endif

#endif /* KUNWIND_TAP_H */
