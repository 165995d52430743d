// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * Mappings of this program's text that mremap() makes longer: where they are, into
 * a gap, where other code was a moment ago, and elsewhere. What came in by that is
 * called, makes a system call in line, for a tracer, and asks.
 *
 * entry getpriority: @grown first call main ... _start
 * stack: @ask grown first call main ... _start
 * stop: COMPLETE, all proven
 * entry getpriority: @grown first call main ... _start
 * stack: @ask grown first call main ... _start
 * stop: COMPLETE, all proven
 * entry getpriority: @grown first call main ... _start
 * stack: @ask grown first call main ... _start
 * stop: COMPLETE, all proven
 * entry getpriority: @grown first call main ... _start
 * stack: @ask grown first call main ... _start
 * stop: COMPLETE, all proven
 */
#include "hard.h"

#define PAGE		4096UL
#define PAGE_OF(n)	__attribute__((section(".text." #n), aligned(4096)))

typedef void callee(void **what);

/* Position-independent: they call only what they are given, the next one with the rest. */
FRAME PAGE_OF(1) static void first(void **what)
{
	char room[200];

	__asm__ volatile("" :: "r"(room) : "memory");
	((callee *)*what)(what + 1);
	STAY();
}

/* A page behind, and with another frame. */
FRAME PAGE_OF(2) static void grown(void **what)
{
	long ret;

	__asm__ volatile("syscall"
			 : "=a"(ret)
			 : "0"((long)SYS_getpriority), "D"(0L), "S"(0L)
			 : "rcx", "r11", "memory");
	((callee *)*what)(what + 1);
	STAY();
}

FRAME PAGE_OF(3) __attribute__((used)) static void last(void)
{
	STAY();
}

static int self;
static off_t offset;

/* Where first() lies in the file. */
static void find_first(void)
{
	unsigned long start, end, off;
	char line[4096];
	FILE *maps = fopen("/proc/self/maps", "re");

	while (maps && fgets(line, sizeof(line), maps))
		if (sscanf(line, "%lx-%lx %*s %lx", &start, &end, &off) == 3 &&
		    (unsigned long)first - start < end - start)
			offset = off + (unsigned long)first - start;
	if (!offset || (char *)grown != (char *)first + PAGE ||
	    (char *)last != (char *)first + 2 * PAGE)
		errx(1, "the text is not what it should be");
	fclose(maps);
	self = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
}

/* So many pages of address space that nobody uses. */
static char *room_for(size_t pages)
{
	char *at = mmap(NULL, pages * PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (at == MAP_FAILED || munmap(at, pages * PAGE))
		err(1, "no room");
	return at;
}

/* The page of the text that first() is in, or one behind it. */
static void map(char *at, size_t behind)
{
	if (mmap(at, PAGE, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_FIXED_NOREPLACE, self,
		 offset + behind * PAGE) != at)
		err(1, "mmap");
}

static char *grow(char *at, int flags)
{
	at = mremap(at, PAGE, 2 * PAGE, flags);
	if (at == MAP_FAILED)
		err(1, "mremap");
	return at;
}

static char *in_place(void)
{
	char *at = room_for(4);

	map(at, 0);
	return grow(at, 0);
}

/* It becomes one with the mapping behind. */
static char *into_gap(void)
{
	char *at = room_for(4);

	map(at, 0);
	map(at + 2 * PAGE, 2);
	return grow(at, 0);
}

/* What was there was first(), too. */
static char *over_other_code(void)
{
	char *at = room_for(4);

	map(at, 0);
	map(at + PAGE, 0);
	if (munmap(at + PAGE, PAGE))
		err(1, "munmap");
	return grow(at, 0);
}

static char *elsewhere(void)
{
	char *at = room_for(4), *to;

	map(at, 0);
	map(at + PAGE, 0);
	to = grow(at, MREMAP_MAYMOVE);
	if (to == at)
		errx(1, "mremap() found room where there is none");
	return to;
}

FRAME static void call(char *at)
{
	void *what[] = { at + PAGE, ask };

	((callee *)at)(what);
	STAY();
}

int main(void)
{
	find_first();
	begin();
	call(in_place());
	call(into_gap());
	call(over_other_code());
	call(elsewhere());
	report();
	return 0;
}
