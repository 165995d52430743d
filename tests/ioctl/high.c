// SPDX-License-Identifier: MIT
/*
 * Code and a stack above 2^47, where only 5-level paging has addresses. The code is a second
 * mapping of this program, and the stack is a thread's.
 *
 * What is expected comes from the functions, which note their return addresses, and from
 * glibc's backtrace() for the thread's outermost frames.
 */
#include <elf.h>
#include <execinfo.h>
#include <link.h>
#include <pthread.h>
#include <stdio.h>
#include <sys/mman.h>

#include "request.h"

/* A hint: without 5-level paging, the kernel maps somewhere else. */
#define HIGH		(1ull << 50)
#define STACK_BYTES	(1ul << 20)

/* Return addresses, innermost first. */
struct notes {
	uintptr_t frames[16];
	int count;
};

typedef void (*visit_fn)(struct notes *notes);

static int device;
static struct request request;
static long error;

static NOINLINE void look(struct notes *notes)
{
	notes->frames[notes->count++] = (uintptr_t)__builtin_return_address(0);
	request.stack = good_stack(64);
	error = raw_ioctl(device, KUNWIND_IOC_STACK, &request);
}

/* It runs in the second mapping, too, so it needs no relocated address. */
static NOINLINE void call(visit_fn visit, struct notes *notes)
{
	visit(notes);
	notes->frames[notes->count++] = (uintptr_t)__builtin_return_address(0);
}

/* Map the whole file of this program once more. Return: how far that is above the first. */
static int map_high(struct dl_phdr_info *program, size_t size, void *distance)
{
	int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC), i;
	uintptr_t base = HIGH;

	(void)size;
	for (i = 0; i < program->dlpi_phnum; i++) {
		const ElfW(Phdr) *p = &program->dlpi_phdr[i];
		uintptr_t skew = p->p_vaddr % PAGE;
		void *at = (void *)(base + p->p_vaddr - skew);

		if (p->p_type != PT_LOAD || !(p->p_flags & PF_X))
			continue;
		if (mmap(at, p->p_filesz + skew, PROT_READ | PROT_EXEC,
			 MAP_PRIVATE | MAP_FIXED_NOREPLACE, fd,
			 (off_t)(p->p_offset - skew)) != at)
			base = program->dlpi_addr;
	}
	close(fd);
	*(uintptr_t *)distance = base - program->dlpi_addr;
	/* The first one is the program itself. */
	return 1;
}

static void judge(const struct notes *notes, void **outer, int count)
{
	const struct kunwind_stack *s = &request.stack;
	uint32_t expected = (uint32_t)(1 + notes->count + count), i;

	expect(error, 0, "a stack above 2^47");
	tap_ok(s->stop == KUNWIND_STOP_COMPLETE && s->proven == s->count, "it is whole");
	if (s->stop)
		tap_diag("stop %u, %u frames, %u proven", s->stop, s->count, s->proven);
	for (i = 1; i < s->count && i < expected; i++) {
		uint32_t callers = (uint32_t)notes->count;
		uintptr_t want = i <= callers ? notes->frames[i - 1] :
						(uintptr_t)outer[i - 1 - callers];

		if (request.frames[i].address != want)
			break;
	}
	if (!tap_ok(i == s->count && i == expected, "its frames are the calls"))
		tap_diag("%u frames, %u expected, the first wrong one is %u", s->count,
			 expected, i);
}

static void *run(void *distance)
{
	void *outer[16];
	int count = backtrace(outer, 16);
	struct notes notes = { .count = 0 };

	((__typeof__(&call))((uintptr_t)call + *(uintptr_t *)distance))(look, &notes);
	tap_ok(notes.frames[0] > 1ull << 47 && (uintptr_t)&notes > 1ull << 47,
	       "code and stack are above 2^47");
	judge(&notes, outer + 1, count - 1);
	return NULL;
}

int main(void)
{
	uintptr_t distance = 0;
	pthread_attr_t attributes;
	pthread_t thread;
	void *stack;

	dl_iterate_phdr(map_high, &distance);
	stack = mmap((void *)(HIGH * 2), STACK_BYTES, PROT_READ | PROT_WRITE,
		     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (!distance || (uintptr_t)stack < HIGH)
		tap_skip_all("this machine has no addresses above 2^47");
	device = open_device();
	pthread_attr_init(&attributes);
	if (pthread_attr_setstack(&attributes, stack, STACK_BYTES) ||
	    pthread_create(&thread, &attributes, run, &distance))
		tap_bail("no thread with a stack above 2^47");
	pthread_join(thread, NULL);
	return tap_done();
}
