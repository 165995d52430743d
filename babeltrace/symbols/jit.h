/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * Names of code that a JIT compiler made. Programs write them for perf: to /tmp/perf-PID.map,
 * where a line is an address, a size, both hexadecimal, and a name; or to jit-PID.dump
 * (jitdump.h). `kunwind trace` and `kunwind profile` copy these files into a folder.
 */
#ifndef KR_JIT_H
#define KR_JIT_H

#include <stdint.h>

struct kr_jit;

/**
 * struct kr_jit_function - a function
 * @start: its first address
 * @end: the first behind it
 * @name: its name
 */
struct kr_jit_function {
	uint64_t start;
	uint64_t end;
	const char *name;
};

/* @folder: where the files are, called perf-PID.map and jit-PID.dump */
struct kr_jit *kr_jit_new(const char *folder);
void kr_jit_free(struct kr_jit *jit);

/* Return: how many files had more names than a budget allows, since this was asked last. */
uint64_t kr_jit_take_left_out(struct kr_jit *jit);

/* Return: the function that a process has at an address, or NULL. */
const struct kr_jit_function *kr_jit_find(struct kr_jit *jit, int64_t pid, uint64_t address);

#endif /* KR_JIT_H */
