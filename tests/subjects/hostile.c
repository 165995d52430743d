// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * Bad input, one case a run: files that lie, files that change, stack pointers
 * into nowhere. Exit status 0: the stack is what it can be, no more and no less.
 *
 * usage: hostile LIBRARY FOLDER CASE
 *        hostile --list
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/kunwind.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include "hostile.h"

static const char *library;
static char damaged[4096];
static unsigned int seed = 1;

static unsigned int rnd(unsigned int below)
{
	seed = seed * 1103515245 + 12345;
	return (seed >> 8) % below;
}

static void print(const char *what, const struct answer *a)
{
	uint32_t i;

	printf("%s: error %d, %u frames, %u proven, stop %s\n", what, a->error,
	       a->count, a->proven, stop_name(a->stop));
	for (i = 0; i < a->count && i < 64; i++)
		printf("  %#llx\n", (unsigned long long)a->frames[i]);
}

static int expect(const char *what, const struct answer *a, uint32_t stop)
{
	print(what, a);
	return !(!a->error && a->count && a->proven && a->stop == stop);
}

/* The whole stack, as from an intact library: with this program's two at the end. */
static int expect_whole(const char *what, const struct answer *a)
{
	return expect(what, a, KUNWIND_STOP_COMPLETE) || a->proven != a->count;
}

/* It ends in the library: this program's two functions and the library's. */
static int expect_cut(const char *what, const struct answer *a, uint32_t stop)
{
	print(what, a);
	if (a->error || a->proven > 4)
		return 1;
	/* What is behind may be a guess, and is then said to be one. */
	return a->stop != stop && a->proven == a->count;
}

static void damage(const struct image *image, struct answer *a)
{
	int device;

	image_save(image, damaged);
	device = device_open();
	ask_through(device, damaged, a);
	close(device);
}

static int intact(struct image *image)
{
	struct answer a;

	damage(image, &a);
	return expect_whole("intact", &a);
}

static int no_records(struct image *image)
{
	struct answer a;

	memset(image->frame, 0, image->eh_frame->sh_size);
	damage(image, &a);
	return expect_cut(".eh_frame of zeros", &a, KUNWIND_STOP_NO_TABLE);
}

static int huge_lengths(struct image *image)
{
	struct answer a;

	memset(image->frame, 0xff, image->eh_frame->sh_size);
	damage(image, &a);
	return expect_cut(".eh_frame of 0xff", &a, KUNWIND_STOP_NO_TABLE);
}

/* Every CIE pointer names the record that it is in. */
static int self_overlapping(struct image *image)
{
	uint32_t *word = (uint32_t *)image->frame, at = 0;
	struct answer a;

	while (at + 8 <= image->eh_frame->sh_size && word[at / 4]) {
		if (word[at / 4 + 1])
			word[at / 4 + 1] = 4;
		at += word[at / 4] + 4;
	}
	damage(image, &a);
	return expect_cut("CIEs that are FDEs", &a, KUNWIND_STOP_NO_TABLE);
}

static int random_bytes(struct image *image)
{
	unsigned char *good = malloc(image->size);
	struct answer a;
	int round, i;

	memcpy(good, image->bytes, image->size);
	for (round = 0; round < 60; round++) {
		memcpy(image->bytes, good, image->size);
		for (i = 0; i < 1 + round; i++)
			image->frame[rnd(image->eh_frame->sh_size)] = rnd(256);
		damage(image, &a);
		print("random .eh_frame", &a);
		/* This program's own frames are always right. */
		if (a.error || a.count < 3 || a.proven < 3)
			return 1;
	}
	free(good);
	return 0;
}

/* The section says 4 GiB; the segment and .eh_frame_hdr know better. */
static int section_lies(struct image *image)
{
	struct answer a;

	image->eh_frame->sh_size = 0xffffffff;
	damage(image, &a);
	return expect_whole("a section of 4 GiB", &a);
}

static int sections_nowhere(struct image *image)
{
	struct answer a;

	image->ehdr->e_shoff = ~0ULL - 63;
	image->ehdr->e_shnum = 0xffff;
	damage(image, &a);
	return expect_whole("sections behind the end of the file", &a);
}

static int header_nowhere(struct image *image)
{
	struct answer a;

	image->eh_hdr->p_vaddr = 0xfffffffffffff000;
	image->eh_hdr->p_offset = ~0ULL;
	image->eh_hdr->p_filesz = ~0ULL;
	image->eh_hdr->p_memsz = ~0ULL;
	damage(image, &a);
	return expect_whole(".eh_frame_hdr at no address", &a);
}

static int header_huge(struct image *image)
{
	struct answer a;

	image->eh_hdr->p_filesz = 0xffffffff;
	damage(image, &a);
	return expect_whole(".eh_frame_hdr of 4 GiB", &a);
}

/* Nothing but the segments is right: neither a header nor sections. */
static int no_information(struct image *image)
{
	struct answer a;

	image->eh_hdr->p_type = PT_NULL;
	image->ehdr->e_shnum = 0;
	damage(image, &a);
	return expect_cut("no way to .eh_frame", &a, KUNWIND_STOP_NO_TABLE);
}

/*
 * A file that is written to while it is mapped. What was compiled stays right
 * for its users, as the code is the same. Later ones see the new bytes.
 */
static int changed(struct image *image)
{
	struct answer a, b, c;
	int device, fd;
	void *lib;

	image_save(image, damaged);
	lib = dlopen(damaged, RTLD_NOW);
	if (!lib)
		errx(2, "%s", dlerror());
	device = device_open();
	ask_through(device, damaged, &a);
	fd = open(damaged, O_WRONLY | O_CLOEXEC);
	memset(image->frame, 0, image->eh_frame->sh_size);
	if (fd < 0 || pwrite(fd, image->bytes, image->size, 0) !=
			      (ssize_t)image->size)
		err(2, "%s", damaged);
	close(fd);
	ask_through(device, damaged, &b);
	close(device);
	/* Hooks and tables stay for a second after the last close. */
	device = device_open();
	ask_through(device, damaged, &c);
	close(device);
	dlclose(lib);
	return expect_whole("before the change", &a) |
	       expect_whole("after it", &b) |
	       expect_cut("from then on", &c, KUNWIND_STOP_NO_TABLE);
}

/* Truncated while it is mapped: its pages are gone, and so are its bytes. */
static int truncated(struct image *image)
{
	struct answer a;
	int device;
	void *lib;

	image_save(image, damaged);
	lib = dlopen(damaged, RTLD_NOW);
	if (!lib || truncate(damaged, 100))
		err(2, "%s", damaged);
	device = device_open();
	ask_here(device, &a);
	close(device);
	return expect_whole("this program's own stack", &a);
}

/* Mapped executable, and no library at all; each is looked at when it is. */
static int mapped_junk(struct image *image)
{
	struct answer a;
	int device = device_open(), round, fd, i;
	size_t size;
	void *p;

	for (round = 0; round < 300; round++) {
		struct image junk = *image;

		junk.bytes = malloc(image->size);
		memcpy(junk.bytes, image->bytes, image->size);
		for (i = 0; i <= round % 20; i++)
			junk.bytes[rnd(round % 2 ? 64 : 4096)] = rnd(256);
		junk.size = round % 3 ? image->size : 1 + rnd(4096);
		image_save(&junk, damaged);
		size = junk.size;
		free(junk.bytes);
		fd = open(damaged, O_RDONLY | O_CLOEXEC);
		p = mmap(NULL, size, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0);
		if (p == MAP_FAILED)
			err(2, "%s", damaged);
		close(fd);
		ask_here(device, &a);
		if (expect_whole("with junk mapped", &a))
			return 1;
		munmap(p, size);
	}
	close(device);
	return 0;
}

static int bad_sp(struct image *image)
{
	int device = device_open(), wrong = 0;
	void *hole = mmap(NULL, 1 << 20, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS,
			  -1, 0);
	struct answer a;

	(void)image;
	ask_with_sp(device, 0, &a);
	wrong |= expect("sp = 0", &a, KUNWIND_STOP_STACK_FAULT);
	ask_with_sp(device, (uint64_t)hole + 4096, &a);
	wrong |= expect("sp where nothing can be read", &a,
			KUNWIND_STOP_STACK_FAULT);
	ask_with_sp(device, 0xffff888000000000, &a);
	wrong |= expect("sp in the kernel", &a, KUNWIND_STOP_STACK_FAULT);
	ask_with_sp(device, 0x8000000000000000, &a);
	wrong |= expect("sp at no address", &a, KUNWIND_STOP_STACK_FAULT);
	ask_with_sp(device, 0x7ffffffffff8, &a);
	wrong |= expect("sp at the end of user space", &a,
			KUNWIND_STOP_STACK_FAULT);
	ask_with_sp(device, (uint64_t)&a | 1, &a);
	wrong |= expect("an odd sp", &a, KUNWIND_STOP_CFA_BAD);
	close(device);
	return wrong;
}

static const struct {
	const char *name;
	int (*run)(struct image *image);
} cases[] = {
	{ "intact", intact },
	{ "no-records", no_records },
	{ "huge-lengths", huge_lengths },
	{ "self-overlapping", self_overlapping },
	{ "random-bytes", random_bytes },
	{ "section-lies", section_lies },
	{ "sections-nowhere", sections_nowhere },
	{ "header-nowhere", header_nowhere },
	{ "header-huge", header_huge },
	{ "no-information", no_information },
	{ "changed", changed },
	{ "truncated", truncated },
	{ "mapped-junk", mapped_junk },
	{ "bad-sp", bad_sp },
	{ "kernel-addresses", kernel_addresses },
};

int main(int argc, char **argv)
{
	struct image image;
	int wrong;
	size_t i;

	for (i = 0; argc == 2 && !strcmp(argv[1], "--list") &&
	     i < sizeof(cases) / sizeof(cases[0]); i++)
		puts(cases[i].name);
	if (i)
		return 0;
	if (argc != 4)
		errx(2, "usage: hostile LIBRARY FOLDER CASE");
	library = argv[1];
	snprintf(damaged, sizeof(damaged), "%s/damaged.so", argv[2]);
	image_load(&image, library);
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		if (strcmp(argv[3], cases[i].name))
			continue;
		wrong = cases[i].run(&image);
		fflush(stdout);
		/* exit() would run the code of libraries that are gone. */
		_exit(wrong);
	}
	errx(2, "no such case: %s", argv[3]);
}
