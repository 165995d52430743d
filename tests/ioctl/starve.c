/* SPDX-License-Identifier: MIT */
/*
 * For tests/vm/retry.sh: a process whose stacks go through a library for whose table
 * there may be no memory, and maps nothing more.
 *
 * usage: starve LIBRARY [--device | --loaded]
 *
 * It waits for a line, loads LIBRARY, which is glib's, and forks. Both processes
 * call getppid() through it, until the input ends. With --device the parent asks for
 * its own stack there instead. If the stack is right, it prints the stop reason, or
 * "guessed" if not all frames are proven. With --loaded it loads LIBRARY before it
 * waits for the line.
 */
#include <dlfcn.h>
#include <err.h>
#include <execinfo.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>

#include "request.h"

static const char * const stop_names[] = {
#define NAME(number, name, sentence) #name,
	KUNWIND_STOPS(NAME)
#undef NAME
};

/* GList of glib. */
struct list {
	void *data;
	struct list *next;
	struct list *prev;
};

static void (*for_each)(struct list *list, void (*f)(void *, void *), void *);
static int device = -1;

/* Whether the stack is what backtrace() finds, as far as it goes. */
static NOINLINE void ask(void)
{
	struct request r = { .stack = good_stack(64) };
	void *callers[64];
	uint32_t count, i;
	long error;

	error = raw_ioctl(device, KUNWIND_IOC_STACK, &r);
	count = backtrace(callers, 64);
	if (error)
		errx(2, "the ioctl: %s", strerror(-error));
	/* The first is where each of the two was called. */
	for (i = 1; i < r.stack.count && i < count; i++)
		if (r.frames[i].address != (uintptr_t)callers[i])
			break;
	if (i < r.stack.count)
		puts("wrong");
	else if (r.stack.proven < r.stack.count)
		puts("guessed");
	else
		puts(stop_names[r.stack.stop]);
}

static NOINLINE void called(void *data, void *arg)
{
	(void)data;
	(void)arg;
	if (device >= 0)
		ask();
	else
		syscall(SYS_getppid);
	__asm__ volatile("" ::: "memory");
}

static NOINLINE void call(void)
{
	struct list one = { .data = &one };

	for_each(&one, called, NULL);
	__asm__ volatile("" ::: "memory");
}

static void load(const char *library)
{
	void *handle = dlopen(library, RTLD_NOW);

	if (!handle)
		errx(2, "%s", dlerror());
	for_each = (void (*)(struct list *, void (*)(void *, void *), void *))
		dlsym(handle, "g_list_foreach");
	if (!for_each)
		errx(2, "%s", dlerror());
}

int main(int argc, char **argv)
{
	struct pollfd input = { .events = POLLIN };
	const char *option = argc == 3 ? argv[2] : "";
	bool loaded = !strcmp(option, "--loaded");
	void *caller;

	if (argc < 2 || argc > 3 || (argc == 3 && !loaded && strcmp(option, "--device")))
		errx(2, "usage: starve LIBRARY [--device | --loaded]");
	/* It loads libgcc the first time. */
	backtrace(&caller, 1);
	if (loaded)
		load(argv[1]);
	else if (argc == 3)
		device = open_device();
	puts("ready");
	fflush(stdout);
	if (getchar() != '\n')
		return 2;
	if (!loaded)
		load(argv[1]);
	if (fork() < 0)
		err(2, "fork");
	do {
		call();
		fflush(stdout);
	} while (!poll(&input, 1, 200));
	return 0;
}
