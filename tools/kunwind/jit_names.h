/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* Names that JIT compilers give to their code, kept for the reader of a trace. */
#ifndef KC_JIT_NAMES_H
#define KC_JIT_NAMES_H

#include <time.h>

/* The folder of a trace that has them. */
#define KC_JIT_NAMES	"jit"

/*
 * Copy perf-PID.map and jit-PID.dump of all processes, also of those in containers, and of this
 * user's processes that have ended since @begin, into the folder of a trace. They are looked for
 * in /tmp and where the processes work.
 */
void kc_keep_jit_names(const char *folder, time_t begin);

#endif /* KC_JIT_NAMES_H */
