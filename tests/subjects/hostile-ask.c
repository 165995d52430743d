// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* Asking for one's own stack, in ways that libkunwind does not have. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/kunwind.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "hostile.h"

static struct {
	struct kunwind_stack head;
	struct kunwind_frame frames[64];
} request;

const char *stop_name(uint32_t stop)
{
	static const char * const names[] = {
#define NAME(number, name, sentence) #name,
		KUNWIND_STOPS(NAME)
#undef NAME
	};

	return stop < sizeof(names) / sizeof(names[0]) ? names[stop] : "?";
}

int device_open(void)
{
	int fd = open("/dev/kunwind", O_RDWR | O_CLOEXEC);

	if (fd < 0)
		err(2, "/dev/kunwind");
	return fd;
}

static void prepare(void)
{
	memset(&request, 0, sizeof(request));
	request.head.size = sizeof(request.head);
	request.head.capacity = 64;
}

static void take(int ret, struct answer *answer)
{
	answer->error = ret < 0 ? -ret : 0;
	answer->count = request.head.count;
	answer->proven = request.head.proven;
	answer->stop = request.head.stop;
	for (unsigned int i = 0; i < 64; i++)
		answer->frames[i] = request.frames[i].address;
}

void __attribute__((noinline)) ask_here(int device, struct answer *answer)
{
	prepare();
	take(ioctl(device, KUNWIND_IOC_STACK, &request) ? -errno : 0, answer);
}

void ask_with_sp(int device, uint64_t sp, struct answer *answer)
{
	register uint64_t stack asm("r12") = sp;
	long ret = SYS_ioctl;

	prepare();
	asm volatile("xchg %%rsp, %1\n\tsyscall\n\txchg %%rsp, %1"
		     : "+a"(ret), "+r"(stack)
		     : "D"((long)device), "S"((long)KUNWIND_IOC_STACK),
		       "d"(&request)
		     : "rcx", "r11", "memory");
	take(ret, answer);
}

void ask_by(ask_function *ask, int device, uint64_t address, struct answer *answer)
{
	prepare();
	take(ask(device, KUNWIND_IOC_STACK, &request, 0, address), answer);
}

struct question {
	int device;
	struct answer *answer;
};

static void __attribute__((noinline)) called_back(void *arg)
{
	struct question *q = arg;

	ask_here(q->device, q->answer);
	asm volatile("" ::: "memory");
}

void ask_through(int device, const char *path, struct answer *answer)
{
	struct question q = { device, answer };
	int (*call_back)(void (*f)(void *), void *arg);
	void *lib = dlopen(path, RTLD_NOW);

	if (!lib)
		errx(2, "%s", dlerror());
	call_back = (int (*)(void (*)(void *), void *))dlsym(lib, "call_back");
	if (!call_back)
		errx(2, "%s", dlerror());
	call_back(called_back, &q);
	dlclose(lib);
}

void image_load(struct image *image, const char *path)
{
	Elf64_Phdr *phdr;
	Elf64_Shdr *shdr;
	const char *names;
	struct stat st;
	int fd = open(path, O_RDONLY | O_CLOEXEC), i;

	memset(image, 0, sizeof(*image));
	if (fd < 0 || fstat(fd, &st))
		err(2, "%s", path);
	image->size = st.st_size;
	image->bytes = malloc(image->size);
	if (!image->bytes || read(fd, image->bytes, image->size) != st.st_size)
		err(2, "%s", path);
	close(fd);
	image->ehdr = (Elf64_Ehdr *)image->bytes;
	phdr = (Elf64_Phdr *)(image->bytes + image->ehdr->e_phoff);
	for (i = 0; i < image->ehdr->e_phnum; i++)
		if (phdr[i].p_type == PT_GNU_EH_FRAME)
			image->eh_hdr = &phdr[i];
	shdr = (Elf64_Shdr *)(image->bytes + image->ehdr->e_shoff);
	names = (char *)image->bytes + shdr[image->ehdr->e_shstrndx].sh_offset;
	for (i = 0; i < image->ehdr->e_shnum; i++)
		if (!strcmp(names + shdr[i].sh_name, ".eh_frame"))
			image->eh_frame = &shdr[i];
	if (!image->eh_hdr || !image->eh_frame)
		errx(2, "%s: no .eh_frame", path);
	image->frame = image->bytes + image->eh_frame->sh_offset;
}

void image_save(const struct image *image, const char *path)
{
	int fd;

	/* A new file: the old one may still be mapped. */
	unlink(path);
	fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0755);
	if (fd < 0 || write(fd, image->bytes, image->size) != (ssize_t)image->size)
		err(2, "%s", path);
	close(fd);
}
