// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * Prints what is mapped executable in it, as /proc/self/maps has it, and stacks
 * of its own, as the kernel would record them: the first address is that of an
 * instruction, the others are return addresses, and behind a signal's frame comes
 * the instruction that it interrupted.
 */
#include <execinfo.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define INLINE	static inline __attribute__((always_inline))
#ifdef __clang__
#define OUTLINE	__attribute__((noinline))
#else
#define OUTLINE	__attribute__((noinline, noclone))
#endif

static volatile int sink;

extern "C" OUTLINE void print_stack(const char *name)
{
	void *frames[64];
	int i, n = backtrace(frames, 64);

	printf("stack %s", name);
	for (i = 0; i < n; i++)
		printf(" %p", frames[i]);
	printf("\n");
	sink++;
}

namespace outer {

template<typename T> struct box {
	OUTLINE void work(T value);
};

INLINE void innermost(const char *name)
{
	print_stack(name);
	sink++;
}

INLINE void middle(const char *name)
{
	innermost(name);
	sink++;
}

template<typename T> OUTLINE void box<T>::work(T value)
{
	middle("inlined");
	sink += (int)value;
}

OUTLINE int call_through(int (*call)(int), int value)
{
	int result = call(value);

	sink++;
	return result;
}

}

static OUTLINE int last_call(int value)
{
	print_stack("local");
	sink++;
	return value;
}

static void handler(int)
{
	print_stack("signal");
	sink++;
}

static OUTLINE void raise_it()
{
	__asm__ volatile("ud2");
	sink++;
}

static void skip(int, siginfo_t *, void *)
{
	print_stack("interrupted");
	signal(SIGILL, SIG_DFL);
	exit(0);
}

static void print_maps()
{
	char line[4096];
	FILE *maps = fopen("/proc/self/maps", "r");

	while (fgets(line, sizeof(line), maps))
		if (strstr(line, " r-xp "))
			printf("map %s", line);
	fclose(maps);
}

int main()
{
	struct sigaction action = {};
	outer::box<long> box;

	print_maps();
	box.work(3);
	outer::call_through(last_call, 4);
	signal(SIGUSR1, handler);
	raise(SIGUSR1);
	action.sa_sigaction = skip;
	action.sa_flags = SA_SIGINFO;
	sigaction(SIGILL, &action, nullptr);
	raise_it();
}
