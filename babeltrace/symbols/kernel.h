/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* Symbols of the kernel, from a copy of the traced machine's /proc/kallsyms. */
#ifndef KR_KERNEL_H
#define KR_KERNEL_H

#include <stdint.h>

struct kr_kernel;

/**
 * struct kr_kernel_symbol - a function of the kernel
 * @name: its name
 * @module: the module in brackets, "[kernel]" for the kernel itself
 * @address: its first
 */
struct kr_kernel_symbol {
	const char *name;
	const char *module;
	uint64_t address;
};

/* Return: NULL and errno if the file cannot be read; ENODATA if it hides addresses. */
struct kr_kernel *kr_kernel_read(const char *path);
void kr_kernel_free(struct kr_kernel *kernel);

/* Return: the function that an address is in, or NULL if it may be in another one. */
const struct kr_kernel_symbol *kr_kernel_find(const struct kr_kernel *kernel,
					      uint64_t address);

#endif /* KR_KERNEL_H */
