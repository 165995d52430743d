/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * jit-PID.dump: the functions that a JIT compiler made, their code and their lines, as
 * `perf inject --jit` reads it (jitdump-specification.txt in Linux's tools/perf).
 */
#ifndef KR_JITDUMP_H
#define KR_JITDUMP_H

#include <stddef.h>
#include <stdint.h>

/* @name: valid during the call */
typedef void kr_jitdump_each(void *data, uint64_t start, uint64_t size, const char *name);

/**
 * kr_jitdump_read() - the functions, in the order in which they were written
 * @bytes: the file
 * @length: its length; the writer may have been in the middle of a record
 * @each: called with each function, and again when it was moved
 * @data: passed to @each
 *
 * Reads up to the first record that is damaged, or cut.
 */
void kr_jitdump_read(const char *bytes, size_t length, kr_jitdump_each *each, void *data);

#endif /* KR_JITDUMP_H */
