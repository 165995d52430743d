/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* What the cases of hostile.c share: a library to damage, and its own stack. */
#ifndef HOSTILE_H
#define HOSTILE_H

#include <elf.h>
#include <stddef.h>
#include <stdint.h>

/* A library in memory, as its file is to be; and where things are in it. */
struct image {
	unsigned char *bytes;
	size_t size;
	Elf64_Ehdr *ehdr;
	Elf64_Phdr *eh_hdr;	/* PT_GNU_EH_FRAME */
	Elf64_Shdr *eh_frame;	/* the section header */
	unsigned char *frame;	/* the section's bytes */
};

/* The answer to one question: the stack of a function that the library called. */
struct answer {
	int error;		/* errno of the ioctl, or 0 */
	uint32_t count;
	uint32_t proven;
	uint32_t stop;
	uint64_t frames[64];
};

/* Each returns only if it could; a program that cannot go on says why and ends. */
void image_load(struct image *image, const char *path);
void image_save(const struct image *image, const char *path);

int device_open(void);
void ask_here(int device, struct answer *answer);

/*
 * Ask with another stack pointer; nothing of the stack is touched meanwhile.
 * @sp: the stack pointer during the system call
 */
void ask_with_sp(int device, uint64_t sp, struct answer *answer);

/* Ask from a function that the library at @path calls. */
void ask_through(int device, const char *path, struct answer *answer);

/* It makes the ioctl itself, with @address in r8. */
typedef long ask_function(long device, long request, void *stack, long unused,
			  uint64_t address);
void ask_by(ask_function *ask, int device, uint64_t address, struct answer *answer);

const char *stop_name(uint32_t stop);

/* A case of its own file: hostile-kernel.c. */
int kernel_addresses(struct image *image);

#endif /* HOSTILE_H */
