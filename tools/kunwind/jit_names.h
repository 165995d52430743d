/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* Names that JIT compilers give to their code, kept for the reader of a trace. */
#ifndef KC_JIT_NAMES_H
#define KC_JIT_NAMES_H

#include <time.h>

/* The folder of a trace that has them. */
#define KC_JIT_NAMES	"jit"

/*
 * Copy /tmp/perf-PID.map of all processes, also of those in containers, and of this user's
 * processes that have ended since @begin, into the folder of a trace.
 */
void kc_keep_jit_names(const char *folder, time_t begin);

#endif /* KC_JIT_NAMES_H */
