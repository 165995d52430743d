/* SPDX-License-Identifier: MIT */
/*
 * A library is replaced while it is mapped, and again when its inode number is free:
 * on a file system that gives the number to the next file, as ext4 does. All files
 * have the same size and time of modification, and the same functions with other
 * frames, so that another file's table gives wrong stacks.
 *
 * The bytes of a memfd are replaced, too, through a mapping that is writable all the time.
 * That moves no time of the file.
 *
 * usage: replaced FOLDER VARIANT..., of tests/soak/variant.c
 *
 * Each stack must be what glibc's backtrace() says.
 */
#include <dlfcn.h>
#include <err.h>
#include <execinfo.h>
#include <stdbool.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "live.h"
/* Each defines it. */
#undef NOINLINE
#include "request.h"

#define ROUNDS		12
#define FILE_SIZE	(256 * 1024)

typedef void (*variant_fn)(const struct live_calls *calls, struct live_stacks *stacks);

/* A library, loaded; on the stack, it calls the next one. */
struct loaded {
	void *handle;
	variant_fn call;
	ino_t number;
	struct loaded *next;
};

static char path[4096];
static int device, nr_wrong, nr_stacks;
static struct request request;

/* The two are made at different places of this function: its callers count. */
static NOINLINE void look(void)
{
	const struct kunwind_stack *s = &request.stack;
	void *callers[64];
	uint32_t i, count;
	long error;

	request.stack = good_stack(64);
	error = raw_ioctl(device, KUNWIND_IOC_STACK, &request);
	count = backtrace(callers, 64);
	nr_stacks++;
	for (i = 1; i < s->count && i < count; i++)
		if (request.frames[i].address != (uintptr_t)callers[i])
			break;
	if (!error && i == count && i == s->count && s->proven == i &&
	    s->stop == KUNWIND_STOP_COMPLETE)
		return;
	nr_wrong++;
	printf("# error %ld, %u frames of %u are right, stop %u, %u callers\n", -error, i,
	       s->count, s->stop, count);
}

static void ignore_push(const void *address)
{
	(void)address;
}

static void ignore_pop(void)
{
}

static void take(struct live_stacks *stacks);

static const struct live_calls calls = { ignore_push, ignore_pop, take };

static NOINLINE void call(struct loaded *library)
{
	library->call(&calls, (struct live_stacks *)library->next);
	__asm__ volatile("" ::: "memory");
}

/* What the library calls is given what call() gave it. */
static void take(struct live_stacks *stacks)
{
	if (stacks)
		call((struct loaded *)stacks);
	else
		look();
	__asm__ volatile("" ::: "memory");
}

/* Read @variant into @bytes, of which there are FILE_SIZE. */
static void read_variant(const char *variant, char *bytes)
{
	int from = open(variant, O_RDONLY | O_CLOEXEC);
	ssize_t n;

	if (from < 0)
		err(2, "%s", variant);
	memset(bytes, 0, FILE_SIZE);
	n = read(from, bytes, FILE_SIZE);
	if (n <= 0 || n == FILE_SIZE)
		err(2, "%s", variant);
	close(from);
}

/* Return: the inode number of a copy of @variant at @path. */
static ino_t copy(const char *variant)
{
	const struct timespec times[2] = { { 1000000000, 0 }, { 1000000000, 0 } };
	static char bytes[FILE_SIZE];
	int to = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0755);
	struct stat status;

	read_variant(variant, bytes);
	if (to < 0 || write(to, bytes, sizeof(bytes)) != sizeof(bytes) ||
	    futimens(to, times) || fstat(to, &status))
		err(2, "%s", path);
	close(to);
	return status.st_ino;
}

static void load_name(struct loaded *library, const char *name)
{
	library->handle = dlopen(name, RTLD_NOW | RTLD_LOCAL);
	if (!library->handle)
		errx(2, "%s", dlerror());
	library->call = (variant_fn)(uintptr_t)dlsym(library->handle, "variant_call");
	library->next = NULL;
}

/* The loader takes a file for one that it has if their names are the same. */
static void load(struct loaded *library, ino_t number)
{
	static unsigned int count;
	char name[4200];

	snprintf(name, sizeof(name), "%.*s%s", (int)(strrchr(path, '/') - path), path,
		 count++ % 2 ? "/library.so" : "/./library.so");
	load_name(library, name);
	library->number = number;
}

static void load_copy(struct loaded *library, const char *variant)
{
	load(library, copy(variant));
}

/* Once nobody maps the old file any more, which may take a moment. */
static void load_with_number(struct loaded *library, const char *variant, ino_t number)
{
	unsigned int tries;

	for (tries = 0; tries < 500; tries++) {
		if (copy(variant) == number) {
			load(library, number);
			return;
		}
		unlink(path);
		usleep(10000);
	}
	errx(2, "no file gets the number of the old one");
}

static void one_round(const char *first, const char *second, const char *third)
{
	struct loaded old, between, new;

	load_copy(&old, first);
	call(&old);

	/* It is still mapped, and has the number. */
	unlink(path);
	load_copy(&between, second);
	if (between.number == old.number)
		errx(2, "two files have one number");
	old.next = &between;
	call(&old);

	dlclose(old.handle);
	unlink(path);
	load_with_number(&new, third, old.number);
	new.next = &between;
	call(&new);
	dlclose(new.handle);
	dlclose(between.handle);
	unlink(path);
}

static void replace_in_memory(char **variants, int count)
{
	int fd = memfd_create("library", MFD_CLOEXEC), i;
	struct loaded library;
	char name[64];
	char *bytes;

	if (fd < 0 || ftruncate(fd, FILE_SIZE))
		err(2, "memfd_create");
	bytes = mmap(NULL, FILE_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (bytes == MAP_FAILED)
		err(2, "mmap");
	snprintf(name, sizeof(name), "/proc/self/fd/%d", fd);
	for (i = 0; i < count; i++) {
		read_variant(variants[i], bytes);
		load_name(&library, name);
		call(&library);
		dlclose(library.handle);
	}
	munmap(bytes, FILE_SIZE);
	close(fd);
}

int main(int argc, char **argv)
{
	int i, count = argc - 2;
	void *once;

	if (argc < 5)
		errx(2, "usage: replaced FOLDER VARIANT...");
	snprintf(path, sizeof(path), "%s/library.so", argv[1]);
	device = open_device();
	/* It loads libgcc the first time. */
	backtrace(&once, 1);
	for (i = 0; i < ROUNDS; i++)
		one_round(argv[2 + i % count], argv[2 + (i + 1) % count],
			  argv[2 + (i + 2) % count]);
	replace_in_memory(argv + 2, count);
	printf("# %d files with another one's number, %d stacks, %d wrong\n", ROUNDS, nr_stacks,
	       nr_wrong);
	return nr_wrong != 0;
}
