/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* Whether what a sink wrote is what its form says, whatever was in the trace. */
#ifndef FUZZ_WRITTEN_H
#define FUZZ_WRITTEN_H

#include <glib.h>

/* Lines of UTF-8, without what a terminal would act on. */
void must_be_text(const char *bytes, gsize length);

/* A page: each of its parts of JSON ends where it should, and is some. */
void must_be_page(const char *bytes, gsize length);

/* A file of speedscope: frames that there are, and as many weights as samples. */
void must_be_speedscope(const char *bytes, gsize length);

/* Compressed, with strings, locations, functions and mappings that there are. */
void must_be_pprof(const char *bytes, gsize length);

/* Perfetto's packets, compressed, with names, stacks and tracks that there are. */
void must_be_perfetto(const char *bytes, gsize length);

/* uftrace's folder, packed: an exit is that of the last entry, and no time is earlier. */
void must_be_uftrace(const char *bytes, gsize length);

#endif /* FUZZ_WRITTEN_H */
