// SPDX-License-Identifier: MIT
/*
 * The ioctl of /dev/kunwind: what include/uapi/linux/kunwind.h promises, and an
 * error number of it for every bad input.
 */
#include <signal.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <ucontext.h>

#include "request.h"

#define MAX_CAPACITY	(1u << 20)
#define FUZZ_ROUNDS	4000

static int fd;
static int fd_of_self;
/* Two pages that can be used, and one behind them that cannot. */
static char *pages;

static char *end_of_pages(size_t bytes)
{
	return pages + 2 * PAGE - bytes;
}

/* The caller's stack; innermost is this function. */
static NOINLINE long take(struct request *request, uint32_t capacity, uint32_t skip)
{
	request->stack = good_stack(capacity);
	request->stack.skip = skip;
	return raw_ioctl(fd, KUNWIND_IOC_STACK, request);
}

/* Both requests: sizes. */

static void test_sizes(unsigned long number, uint32_t size, uint32_t capacity,
		       const char *name)
{
	static const char *const at[] = { "first", "last" };
	uint32_t *words = (uint32_t *)pages;
	char what[96];

	for (uint32_t bad = 0; bad < size; bad += bad < 2 ? 1 : 5) {
		memset(pages, 0, PAGE);
		words[0] = bad;
		words[2] = capacity;
		snprintf(what, sizeof(what), "%s, size %u", name, bad);
		expect(raw_ioctl(fd, number, pages), -EINVAL, what);
	}
	for (uint32_t big = size + 4; big <= PAGE; big = big < 64 ? 64 : big + 1344) {
		memset(pages, 0, 2 * PAGE);
		words[0] = big;
		words[2] = capacity;
		snprintf(what, sizeof(what), "%s, size %u with a tail of zeros", name, big);
		expect(raw_ioctl(fd, number, pages), 0, what);
		for (int i = 0; i < 2; i++) {
			memset(pages, 0, 2 * PAGE);
			words[0] = big;
			words[2] = capacity;
			pages[i ? big - 1 : size] = 1;
			snprintf(what, sizeof(what), "%s, size %u, %s byte of the tail set",
				 name, big, at[i]);
			expect(raw_ioctl(fd, number, pages), -E2BIG, what);
		}
	}
	memset(pages, 0, 2 * PAGE);
	words[2] = capacity;
	words[0] = PAGE + 1;
	snprintf(what, sizeof(what), "%s, size of more than a page", name);
	expect(raw_ioctl(fd, number, pages), -E2BIG, what);
	words[0] = UINT32_MAX;
	snprintf(what, sizeof(what), "%s, size 2^32-1", name);
	expect(raw_ioctl(fd, number, pages), -E2BIG, what);
}

/* Both requests: pointers. */

static void test_pointers(unsigned long number, uint32_t size, uint32_t capacity,
			  const char *name)
{
	static const struct {
		unsigned long address;
		const char *what;
	} bad[] = {
		{ 0, "null" },
		{ 1, "1" },
		{ 0x00007ffffffff000, "behind the last user page" },
		{ 0x0000800000000000, "not canonical" },
		{ 0xffff888000000000, "the kernel's memory" },
		{ 0xffffffff81000000, "the kernel's code" },
		{ 0xfffffffffffffffc, "the last word" },
	};
	uint32_t *words;
	char what[96];

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		snprintf(what, sizeof(what), "%s, pointer: %s", name, bad[i].what);
		expect(raw_ioctl(fd, number, (void *)bad[i].address), -EFAULT, what);
	}
	snprintf(what, sizeof(what), "%s, pointer to an unmapped page", name);
	expect(raw_ioctl(fd, number, pages + 2 * PAGE), -EFAULT, what);

	for (uint32_t part = 4; part < size; part += 4) {
		words = (uint32_t *)end_of_pages(part);
		memset(words, 0, part);
		words[0] = size;
		if (part > 8)
			words[2] = capacity;
		snprintf(what, sizeof(what), "%s, of which %u bytes are mapped", name, part);
		expect(raw_ioctl(fd, number, words), -EFAULT, what);
	}
	words = (uint32_t *)end_of_pages(size);
	memset(words, 0, size);
	words[0] = size + 8;
	words[2] = capacity;
	snprintf(what, sizeof(what), "%s, with a tail that is not mapped", name);
	expect(raw_ioctl(fd, number, words), -EFAULT, what);

	memset(pages, 0, PAGE);
	words = (uint32_t *)pages;
	words[0] = size;
	words[2] = capacity;
	mprotect(pages, PAGE, PROT_READ);
	snprintf(what, sizeof(what), "%s, in read-only memory", name);
	expect(raw_ioctl(fd, number, pages), -EFAULT, what);
	mprotect(pages, PAGE, PROT_NONE);
	snprintf(what, sizeof(what), "%s, in memory without access", name);
	expect(raw_ioctl(fd, number, pages), -EFAULT, what);
	mprotect(pages, PAGE, PROT_READ | PROT_WRITE);
}

static void test_version(void)
{
	struct kunwind_version version = { .size = sizeof(version) };

	expect(raw_ioctl(fd, KUNWIND_IOC_VERSION, &version), 0, "version");
	tap_ok(version.size == sizeof(version), "version: the size is left alone");
	tap_ok(version.abi == KUNWIND_ABI_VERSION, "version: the ABI is %d",
	       KUNWIND_ABI_VERSION);
	tap_ok(version.max_frames == KUNWIND_MAX_FRAMES &&
	       version.max_skip == KUNWIND_MAX_SKIP, "version: %d frames behind %d",
	       KUNWIND_MAX_FRAMES, KUNWIND_MAX_SKIP);
	tap_ok(version.nr_stops == KUNWIND_NR_STOPS, "version: %d stop reasons",
	       KUNWIND_NR_STOPS);
	tap_ok(version.stack_flags == 0 && version.frame_flags == 3,
	       "version: which flags there are");
	tap_ok(version.reserved == 0, "version: reserved is zero");

	for (int bit = 0; bit < 32; bit += 31) {
		version = (struct kunwind_version) {
			.size = sizeof(version),
			.reserved = 1u << bit,
		};
		expect(raw_ioctl(fd, KUNWIND_IOC_VERSION, &version), -EINVAL,
		       "version, reserved is not zero");
	}
	test_sizes(KUNWIND_IOC_VERSION, sizeof(version), 0, "version");
	test_pointers(KUNWIND_IOC_VERSION, sizeof(version), 0, "version");
}

static void test_fields(void)
{
	struct request request;
	long ret;
	int good = 1;

	for (int bit = 0; bit < 32 && good; bit++) {
		request.stack = good_stack(16);
		request.stack.flags = 1u << bit;
		ret = raw_ioctl(fd, KUNWIND_IOC_STACK, &request);
		good = ret == -EINVAL;
		if (!good)
			tap_diag("flag %d: got %ld", bit, ret);
	}
	tap_ok(good, "stack, each of 32 unknown flags: EINVAL");

	good = 1;
	for (int bit = 0; bit < 32 && good; bit++) {
		request.stack = good_stack(16);
		request.stack.reserved = 1u << bit;
		ret = raw_ioctl(fd, KUNWIND_IOC_STACK, &request);
		good = ret == -EINVAL;
		if (!good)
			tap_diag("reserved bit %d: got %ld", bit, ret);
	}
	tap_ok(good, "stack, each of 32 bits of reserved: EINVAL");

	expect(take(&request, 0, 0), -EINVAL, "stack, capacity 0");
	expect(take(&request, MAX_CAPACITY + 1, 0), -EINVAL, "stack, capacity 2^20+1");
	expect(take(&request, 1u << 31, 0), -EINVAL, "stack, capacity 2^31");
	expect(take(&request, UINT32_MAX, 0), -EINVAL, "stack, capacity 2^32-1");
	expect(take(&request, 16, KUNWIND_MAX_SKIP + 1), -EINVAL, "stack, skip 2^20+1");
	expect(take(&request, 16, 1u << 31), -EINVAL, "stack, skip 2^31");
	expect(take(&request, 16, UINT32_MAX), -EINVAL, "stack, skip 2^32-1");
}

static int in_this_program(uint64_t address)
{
	extern const char __executable_start[], etext[];

	return address > (uintptr_t)__executable_start &&
	       address < (uintptr_t)etext;
}

static void test_stack(void)
{
	static struct request all, other;
	uint32_t depth;
	int same = 1;

	memset(&all, 0xee, sizeof(all));
	expect(take(&all, 2048, 0), 0, "stack");
	depth = all.stack.count;
	tap_ok(all.stack.stop == KUNWIND_STOP_COMPLETE, "stack: COMPLETE");
	tap_ok(depth >= 4 && depth < 20, "stack: take(), test_stack(), main(), _start");
	tap_ok(all.stack.proven == depth, "stack: all frames are proven");
	tap_ok(all.stack.size == sizeof(all.stack) && all.stack.capacity == 2048 &&
	       !all.stack.skip && !all.stack.flags && !all.stack.reserved,
	       "stack: what is in is left alone");
	tap_ok(all.frames[depth].address == 0xeeeeeeeeeeeeeeee,
	       "stack: nothing is written behind the frames");
	tap_ok(in_this_program(all.frames[0].address) &&
	       in_this_program(all.frames[1].address) &&
	       in_this_program(all.frames[depth - 1].address),
	       "stack: begins and ends in this program");
	for (uint32_t i = 0; i < depth; i++)
		same &= all.frames[i].flags == (i ? 0 : KUNWIND_FRAME_INTERRUPTED) &&
			!all.frames[i].reserved;
	tap_ok(same, "stack: the first frame is where the call is, others return");
	if (depth < 4 || depth >= 20)
		return;

	expect(take(&other, 1, 0), 0, "stack, capacity 1");
	tap_ok(other.stack.count == 1 && other.stack.proven == 1 &&
	       other.stack.stop == KUNWIND_STOP_CAPACITY, "stack, capacity 1: CAPACITY");

	expect(take(&other, depth - 1, 0), 0, "stack, capacity one too small");
	tap_ok(other.stack.count == depth - 1 &&
	       other.stack.stop == KUNWIND_STOP_CAPACITY,
	       "stack, capacity one too small: CAPACITY");

	expect(take(&other, depth, 0), 0, "stack, capacity just enough");
	tap_ok(other.stack.count == depth, "stack, capacity just enough: all frames");

	for (uint32_t skip = 0; skip <= depth; skip++) {
		/* Frame 1 is another call in test_stack(). */
		if (take(&other, 2048, skip) || other.stack.count != depth - skip ||
		    other.stack.proven != other.stack.count ||
		    other.stack.stop != KUNWIND_STOP_COMPLETE)
			same = 0;
		for (uint32_t i = 0; same && i < other.stack.count; i++)
			same = i + skip == 1 ||
			       !memcmp(&other.frames[i], &all.frames[i + skip],
				       sizeof(other.frames[i]));
	}
	tap_ok(same, "stack, skip 0 to all: the same frames without the innermost");

	expect(take(&other, 2, 2), 0, "stack, skip 2, capacity 2");
	tap_ok(other.stack.count == 2 &&
	       other.frames[0].address == all.frames[2].address &&
	       other.frames[1].address == all.frames[3].address,
	       "stack, skip 2, capacity 2: frames 2 and 3");

	expect(take(&other, 2048, KUNWIND_MAX_SKIP), 0, "stack, skip 2^20");
	tap_ok(other.stack.count == 0 && other.stack.proven == 0 &&
	       other.stack.stop == KUNWIND_STOP_COMPLETE,
	       "stack, skip 2^20: no frames, COMPLETE");
	expect(take(&other, MAX_CAPACITY, KUNWIND_MAX_SKIP), 0,
	       "stack, capacity 2^20, skip 2^20");
	expect(take(&other, MAX_CAPACITY, 0), 0, "stack, capacity 2^20");
	tap_ok(other.stack.count == depth, "stack, capacity 2^20: only what there is");
}

/*
 * Recursion through two functions, of @depth calls. Each notes its return address; then
 * the innermost one calls @end.
 */
static uint64_t *noted;
static NOINLINE void odd(int depth, void (*end)(void));

static NOINLINE void even(int depth, void (*end)(void))
{
	noted[depth] = (uintptr_t)__builtin_return_address(0);
	if (depth)
		odd(depth - 1, end);
	else
		end();
	/* Not the last thing done: or it would be no call. */
	__asm__ volatile("" ::: "memory");
}

static NOINLINE void odd(int depth, void (*end)(void))
{
	noted[depth] = (uintptr_t)__builtin_return_address(0);
	if (depth)
		even(depth - 1, end);
	else
		end();
	__asm__ volatile("" ::: "memory");
}

static struct request deep;
static uint32_t deep_skip, deep_capacity;
static long deep_error;

static NOINLINE void take_deep(void)
{
	deep_error = take(&deep, deep_capacity, deep_skip);
	__asm__ volatile("" ::: "memory");
}

static void recurse(int depth, uint32_t capacity, uint32_t skip)
{
	noted = calloc(depth + 1, sizeof(*noted));
	if (!noted)
		tap_bail("no memory");
	deep_capacity = capacity;
	deep_skip = skip;
	even(depth, take_deep);
	free(noted);
}

static void test_deep(void)
{
	recurse(1200, 2048, 0);
	expect(deep_error, 0, "a stack too deep");
	tap_ok(deep.stack.count == KUNWIND_MAX_FRAMES &&
	       deep.stack.stop == KUNWIND_STOP_MAX_FRAMES,
	       "a stack too deep: KUNWIND_MAX_FRAMES, MAX_FRAMES");
	recurse(1200, 2048, 24);
	expect(deep_error, 0, "a stack too deep, skip 24");
	tap_ok(deep.stack.count == KUNWIND_MAX_FRAMES &&
	       deep.stack.proven == deep.stack.count &&
	       deep.stack.stop == KUNWIND_STOP_MAX_FRAMES,
	       "a stack too deep, skip 24: KUNWIND_MAX_FRAMES, MAX_FRAMES");
	recurse(1200, 1000, 24);
	tap_ok(!deep_error && deep.stack.count == 1000 &&
	       deep.stack.stop == KUNWIND_STOP_CAPACITY,
	       "a stack too deep, skip 24, capacity 1000: CAPACITY");
	recurse(1200, 1000, 1000);
	tap_ok(!deep_error && deep.stack.count > 200 && deep.stack.count < 220 &&
	       deep.stack.proven == deep.stack.count &&
	       deep.stack.stop == KUNWIND_STOP_COMPLETE,
	       "a stack too deep, skip 1000: the rest, COMPLETE");
	recurse(900, 2048, 0);
	expect(deep_error, 0, "900 calls deep");
	tap_ok(deep.stack.count > 900 && deep.stack.stop == KUNWIND_STOP_COMPLETE,
	       "900 calls deep: COMPLETE");
}

/* A stack of @pieces_depth calls, read as a caller does that wants all of it. */
static int pieces_depth;

static NOINLINE void take_pieces(void)
{
	uint32_t total = 0, rounds = 0, i;
	int same = 1;
	long error;

	do {
		error = take(&deep, 1000 + rounds % 30, total);
		for (i = 0; !error && i < deep.stack.count; i++) {
			/* take(), this function and its caller; then those that are noted. */
			int at = (int)(total + i) - 3;

			if (at >= 0 && at <= pieces_depth)
				same &= deep.frames[i].address == noted[at];
			same &= deep.frames[i].flags ==
				(total + i ? 0 : KUNWIND_FRAME_INTERRUPTED);
		}
		total += deep.stack.count;
		rounds++;
	} while (!error && (deep.stack.stop == KUNWIND_STOP_CAPACITY ||
			    deep.stack.stop == KUNWIND_STOP_MAX_FRAMES));
	expect(error, 0, "pieces");
	tap_ok(same, "pieces: %d calls are those that were made", pieces_depth);
	tap_ok(deep.stack.stop == KUNWIND_STOP_COMPLETE, "pieces: COMPLETE");
	/* What called the recursion is the rest: main() and libc's start at least. */
	tap_ok(total > (uint32_t)pieces_depth + 5 && total < (uint32_t)pieces_depth + 15,
	       "pieces: %u frames in %u requests", total, rounds);
}

static void test_pieces(int depth)
{
	pieces_depth = depth;
	noted = calloc(depth + 1, sizeof(*noted));
	if (!noted)
		tap_bail("no memory");
	even(depth, take_pieces);
	free(noted);
}

/* Where a signal came is what the kernel gave its handler. */
static int handler_depth;

static NOINLINE void on_signal(int number, siginfo_t *info, void *context)
{
	const ucontext_t *uc = context;
	uint64_t ip = uc->uc_mcontext.gregs[REG_RIP];
	uint32_t total, i, at = 0, nr = 0;

	(void)number;
	(void)info;
	for (total = 0; total == 0 || deep.stack.stop == KUNWIND_STOP_MAX_FRAMES;
	     total += deep.stack.count) {
		recurse(handler_depth, 2048, total);
		if (deep_error)
			break;
		for (i = 0; i < deep.stack.count; i++)
			if (deep.frames[i].flags & KUNWIND_FRAME_INTERRUPTED && total + i) {
				at = deep.frames[i].address == ip ? total + i : 0;
				nr++;
			}
	}
	tap_ok(!deep_error && deep.stack.stop == KUNWIND_STOP_COMPLETE,
	       "interrupted: %d calls in a handler: COMPLETE", handler_depth);
	tap_ok(nr == 1 && at > (uint32_t)handler_depth,
	       "interrupted: one frame, at the signal's instruction (%u)", at);
}

static void test_interrupted(int depth)
{
	struct sigaction action = { .sa_sigaction = on_signal };

	action.sa_flags = SA_SIGINFO;
	handler_depth = depth;
	sigaction(SIGUSR1, &action, NULL);
	raise(SIGUSR1);
}

/* A request from given registers, and its frames. */
static struct {
	struct kunwind_stack_at at;
	struct kunwind_frame frames[2048];
} given;

static struct kunwind_registers registers_of(const ucontext_t *uc)
{
	const greg_t *r = uc->uc_mcontext.gregs;

	return (struct kunwind_registers) {
		.ip = r[REG_RIP], .sp = r[REG_RSP], .bp = r[REG_RBP],
		.ax = r[REG_RAX], .bx = r[REG_RBX], .cx = r[REG_RCX], .dx = r[REG_RDX],
		.si = r[REG_RSI], .di = r[REG_RDI],
		.r8 = r[REG_R8], .r9 = r[REG_R9], .r10 = r[REG_R10], .r11 = r[REG_R11],
		.r12 = r[REG_R12], .r13 = r[REG_R13], .r14 = r[REG_R14], .r15 = r[REG_R15],
	};
}

static long take_at(const struct kunwind_registers *registers, uint32_t capacity,
		    uint32_t skip)
{
	given.at = (struct kunwind_stack_at) {
		.stack = { .size = sizeof(given.at), .capacity = capacity, .skip = skip },
		.registers = *registers,
	};
	return raw_ioctl(fd, KUNWIND_IOC_STACK_AT, &given.at);
}

/* What the signal interrupted is the rest of the handler's own stack. */
static NOINLINE void at_signal(int number, siginfo_t *info, void *context)
{
	const struct kunwind_registers registers = registers_of(context);
	uint32_t i, total = 0, inner = 0;
	int same = 1;

	(void)number;
	(void)info;
	/* The handler's frames: this one, and the signal's. */
	deep_error = take(&deep, 64, 0);
	while (!deep_error && inner < deep.stack.count &&
	       deep.frames[inner].address != registers.ip)
		inner++;
	tap_ok(inner > 1 && inner < deep.stack.count, "at: the handler's own stack has it, too");
	do {
		deep_error = take(&deep, 1000, inner + total) ?:
			     take_at(&registers, 1000, total);
		same &= !deep_error && given.at.stack.count == deep.stack.count &&
			given.at.stack.proven == deep.stack.count &&
			given.at.stack.stop == deep.stack.stop;
		for (i = 0; same && i < deep.stack.count; i++)
			same = !memcmp(&given.frames[i], &deep.frames[i],
				       sizeof(deep.frames[i]));
		total += deep.stack.count;
	} while (same && deep.stack.stop == KUNWIND_STOP_CAPACITY);
	tap_ok(same, "at: %u frames are those that the signal interrupted", total);
	tap_ok(given.at.stack.stop == KUNWIND_STOP_COMPLETE, "at: COMPLETE");
	tap_ok(!memcmp(&given.at.registers, &registers, sizeof(registers)),
	       "at: the registers are left alone");
}

static NOINLINE void raise_it(void)
{
	raise(SIGUSR2);
	__asm__ volatile("" ::: "memory");
}

static void test_at(int depth)
{
	struct sigaction action = { .sa_sigaction = at_signal, .sa_flags = SA_SIGINFO };

	sigaction(SIGUSR2, &action, NULL);
	noted = calloc(depth + 1, sizeof(*noted));
	if (!noted)
		tap_bail("no memory");
	even(depth, raise_it);
	free(noted);
}

/* The caller's claims may be anything. The first frame is what it claims. */
static void test_at_random(void)
{
	struct kunwind_registers registers;
	uint64_t state = 0x2545f4914f6cdd1d, words[64] = { 0 };
	unsigned int nr_complete = 0;
	int good = 1;

	for (int round = 0; good && round < FUZZ_ROUNDS; round++) {
		uint64_t *r = (uint64_t *)&registers;

		for (size_t i = 0; i < sizeof(registers) / sizeof(*r); i++) {
			state = state * 6364136223846793005u + 1442695040888963407u;
			r[i] = state >> 62 == 0 ? (uintptr_t)&words[state >> 40 & 63] :
			       state >> 62 == 1 ? (uintptr_t)take_at + (state >> 40 & 0xfff) :
			       state >> 62 == 2 ? state * 0x9e3779b97f4a7c15 : state >> 60 & 1;
			words[state >> 20 & 63] = r[i];
		}
		good = !take_at(&registers, 2048, 0) && given.at.stack.count &&
		       given.at.stack.stop && given.frames[0].address == registers.ip &&
		       given.frames[0].flags & KUNWIND_FRAME_INTERRUPTED &&
		       given.at.stack.proven <= given.at.stack.count;
		nr_complete += given.at.stack.stop == KUNWIND_STOP_COMPLETE;
	}
	tap_ok(good, "at: %d requests from random registers", FUZZ_ROUNDS);
	tap_diag("%u said COMPLETE", nr_complete);
	memset(&registers, 0, sizeof(registers));
	expect(take_at(&registers, 16, 0), 0, "at: all registers 0");
	tap_ok(given.at.stack.stop != KUNWIND_STOP_COMPLETE, "at: all registers 0: not COMPLETE");
}

static void test_mappings(void)
{
	struct kunwind_registers registers = { .ip = (uintptr_t)test_mappings };
	uint64_t before;
	void *code;

	expect(take_at(&registers, 16, 0), 0, "mappings");
	before = given.at.mappings;
	code = mmap(NULL, PAGE, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	expect(take_at(&registers, 16, 0), 0, "mappings, after one of data");
	tap_ok(given.at.mappings == before, "mappings: one of data is none of code");
	munmap(code, PAGE);
	code = mmap(NULL, PAGE, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd_of_self, 0);
	expect(take_at(&registers, 16, 0), 0, "mappings, after one of code");
	tap_ok(code != MAP_FAILED && given.at.mappings != before,
	       "mappings: one of code is counted");
	munmap(code, PAGE);
}

static void test_at_fields(void)
{
	const struct kunwind_registers registers = { .ip = 1 };

	expect(take_at(&registers, 0, 0), -EINVAL, "at, capacity 0");
	expect(take_at(&registers, MAX_CAPACITY + 1, 0), -EINVAL, "at, capacity 2^20+1");
	expect(take_at(&registers, 16, KUNWIND_MAX_SKIP + 1), -EINVAL, "at, skip 2^20+1");
	given.at.stack = (struct kunwind_stack) { sizeof(given.at), 1, 16 };
	expect(raw_ioctl(fd, KUNWIND_IOC_STACK_AT, &given), -EINVAL, "at, a flag");
	given.at.stack = (struct kunwind_stack) { sizeof(given.at), .capacity = 16, .reserved = 1 };
	expect(raw_ioctl(fd, KUNWIND_IOC_STACK_AT, &given), -EINVAL, "at, reserved is not zero");
	test_sizes(KUNWIND_IOC_STACK_AT, sizeof(given.at), 16, "at");
	test_pointers(KUNWIND_IOC_STACK_AT, sizeof(given.at), 16, "at");
}

/* Without unwind information: what it calls is proven, its caller is not. */
void without_cfi(void (*function)(void));
extern const char behind_call[];
__asm__(".text\n"
	".p2align 6\n"
	"	.skip 64, 0x90\n"
	"without_cfi:\n"
	"	pushq %rbp\n"
	"	movq %rsp, %rbp\n"
	"	call *%rdi\n"
	"behind_call:\n"
	"	popq %rbp\n"
	"	ret\n"
	"	.skip 64, 0x90\n");

static uint64_t guess_caller;

static NOINLINE void call_without_cfi(void)
{
	guess_caller = (uintptr_t)__builtin_return_address(0);
	without_cfi(take_deep);
	__asm__ volatile("" ::: "memory");
}

static void test_guessed(void)
{
	uint32_t i, at = 0;
	int same = 1;

	deep_capacity = 64;
	deep_skip = 0;
	call_without_cfi();
	for (i = 0; !deep_error && i < deep.stack.count; i++) {
		if (deep.frames[i].address == (uintptr_t)behind_call)
			at = i;
		same &= !!(deep.frames[i].flags & KUNWIND_FRAME_GUESSED) ==
			(i >= deep.stack.proven);
	}
	tap_ok(at && deep.stack.proven == at + 1, "guessed: frames up to code without CFI are proven");
	tap_ok(same && deep.stack.count > at + 2, "guessed: those behind have the flag");
	tap_ok(deep.frames[at + 2].address == guess_caller, "guessed: they are right all the same");
	deep_skip = at + 1;
	call_without_cfi();
	tap_ok(!deep_error && deep.stack.proven == 0 && deep.stack.count &&
	       deep.frames[0].flags & KUNWIND_FRAME_GUESSED, "guessed, proven ones left out");
}

/*
 * A system call that ends its function, as exit() does. What is behind it is another function's, whose
 * rule would lead to a null address.
 */
long ask(long file, unsigned long number, const void *request);
extern const char behind_ask[];
extern uint64_t ask_caller;
uint64_t ask_caller;
__asm__(".text\n.type ask, @function\n"
	"ask:	.cfi_startproc\n"
	"	movq (%rsp), %rax\n"
	"	movq %rax, ask_caller(%rip)\n"
	"	pushq $0\n"
	"	.cfi_adjust_cfa_offset 8\n"
	"	movl $16, %eax\n"
	"	syscall\n"
	"	.cfi_endproc\n.size ask, . - ask\n"
	".type behind_ask, @function\n"
	"behind_ask:\n	.cfi_startproc\n"
	"	addq $8, %rsp\n"
	"	ret\n"
	"	.cfi_endproc\n.size behind_ask, . - behind_ask\n");

static void test_last_instruction(void)
{
	static struct request request;

	request.stack = good_stack(64);
	expect(ask(fd, KUNWIND_IOC_STACK, &request), 0, "a system call that ends its function");
	tap_ok(request.stack.count > 2 && request.frames[0].address == (uintptr_t)behind_ask,
	       "the first frame is behind it");
	tap_ok(request.frames[1].address == ask_caller, "the second is the function's caller");
	tap_ok(request.stack.stop == KUNWIND_STOP_COMPLETE, "the stack is whole");
}

/* The frames lie behind the structure, in memory of their own state. */
static void test_frames(void)
{
	struct request *request;
	struct kunwind_frame *far;

	for (size_t room = 0; room <= 2; room++) {
		char what[64];

		request = (struct request *)end_of_pages(sizeof(request->stack) +
							 sizeof(request->frames[0]) * room);
		snprintf(what, sizeof(what), "stack, mapped room for %zu frames", room);
		expect(take(request, 16, 0), -EFAULT, what);
	}
	request = (struct request *)end_of_pages(sizeof(request->stack) + 8);
	expect(take(request, 1, 0), -EFAULT, "stack, mapped room for half a frame");
	request = (struct request *)end_of_pages(sizeof(request->stack) + 16);
	expect(take(request, 1, 0), 0, "stack, mapped room for the one frame");
	request = (struct request *)end_of_pages(sizeof(request->stack));
	expect(take(request, 16, 1000), 0, "stack, no room, and no frame left");

	/* The structure can be written, the frames cannot. */
	request = (struct request *)(pages + PAGE - sizeof(request->stack));
	mprotect(pages + PAGE, PAGE, PROT_READ);
	expect(take(request, 16, 0), -EFAULT, "stack, read-only room for frames");
	mprotect(pages + PAGE, PAGE, PROT_READ | PROT_WRITE);

	memset(pages, 0, 2 * PAGE);
	request = (struct request *)pages;
	request->stack = good_stack(4);
	request->stack.size = 64;
	far = (struct kunwind_frame *)(pages + 64);
	expect(raw_ioctl(fd, KUNWIND_IOC_STACK, request), 0, "stack of a longer size");
	tap_ok(in_this_program(far[0].address) && !request->frames[0].address &&
	       request->stack.size == 64, "stack of a longer size: frames are behind it");
}

#define NUMBER(magic, nr, size)	_IOC(_IOC_READ | _IOC_WRITE, magic, nr, size)

static void test_numbers(void)
{
	static const struct {
		unsigned long number;
		const char *what;
	} bad[] = {
		{ NUMBER(KUNWIND_IOC_MAGIC, 2, 32), "request 2" },
		{ NUMBER(KUNWIND_IOC_MAGIC, 255, 32), "request 255" },
		{ NUMBER(KUNWIND_IOC_MAGIC - 1, 1, 32), "another driver's request" },
		{ NUMBER(KUNWIND_IOC_MAGIC, 1, 40), "another size in the number" },
		{ _IOR(KUNWIND_IOC_MAGIC, 1, struct kunwind_stack), "another direction" },
		{ _IO(KUNWIND_IOC_MAGIC, 0), "no direction and no size" },
		{ 0, "request 0" },
		{ 0xffffffff, "request 2^32-1" },
	};
	struct request request;
	int null;

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		request.stack = good_stack(16);
		expect(raw_ioctl(fd, bad[i].number, &request), -ENOTTY, bad[i].what);
	}
	request.stack = good_stack(16);
	null = open("/dev/null", O_RDONLY | O_CLOEXEC);
	expect(raw_ioctl(null, KUNWIND_IOC_STACK, &request), -ENOTTY, "/dev/null");
	close(null);
	expect(raw_ioctl(null, KUNWIND_IOC_STACK, &request), -EBADF, "a closed file");
	expect(raw_ioctl(-1, KUNWIND_IOC_STACK, &request), -EBADF, "file -1");
	null = open(DEVICE, O_PATH | O_CLOEXEC);
	expect(raw_ioctl(null, KUNWIND_IOC_STACK, &request), -EBADF, "a file of O_PATH");
	close(null);
}

/* Any bytes: one of the documented answers, and memory is as it was. */
static void test_random(void)
{
	static const int errors[] = { 0, EINVAL, E2BIG, EFAULT, ENOTTY };
	uint64_t state = 0x9e3779b97f4a7c15;
	unsigned int seen[sizeof(errors) / sizeof(errors[0])] = { 0 };
	uint32_t *words = (uint32_t *)pages;
	int good = 1;

	for (int round = 0; good && round < FUZZ_ROUNDS; round++) {
		unsigned long number = KUNWIND_IOC_STACK;
		size_t known = 0;
		long ret;

		for (int i = 0; i < 16; i++) {
			state = state * 6364136223846793005u + 1442695040888963407u;
			/* Mostly small numbers and zero, so that some are accepted. */
			words[i] = state >> 61 ? (state >> 60 & 1 ? 0 : state >> 58) :
				   state >> 32;
		}
		if (state >> 20 & 1)
			words[0] = sizeof(struct kunwind_stack);
		if (state >> 21 & 1)
			words[1] = words[7] = 0;
		if ((state >> 22 & 15) == 0)
			number = NUMBER(KUNWIND_IOC_MAGIC, state >> 26 & 7, 32);
		ret = raw_ioctl(fd, number, pages);
		while (known < sizeof(errors) / sizeof(errors[0]) &&
		       ret != -errors[known])
			known++;
		good = known < sizeof(errors) / sizeof(errors[0]);
		if (good)
			seen[known]++;
		else
			tap_diag("round %d: %ld", round, ret);
	}
	tap_ok(good, "%d random requests: documented answers", FUZZ_ROUNDS);
	tap_diag("0: %u, EINVAL: %u, E2BIG: %u, EFAULT: %u, ENOTTY: %u", seen[0],
		 seen[1], seen[2], seen[3], seen[4]);
}

int main(void)
{
	fd = open_device();
	fd_of_self = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	pages = mmap(NULL, 3 * PAGE, PROT_READ | PROT_WRITE,
		     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (pages == MAP_FAILED || munmap(pages + 2 * PAGE, PAGE))
		tap_bail("mmap: %s", strerror(errno));

	test_version();
	test_stack();
	test_deep();
	test_pieces(5000);
	test_pieces(100000);
	test_interrupted(0);
	test_interrupted(3000);
	test_guessed();
	test_last_instruction();
	test_at(0);
	test_at(3000);
	test_at_random();
	test_mappings();
	test_at_fields();
	test_fields();
	test_sizes(KUNWIND_IOC_STACK, sizeof(struct kunwind_stack), 16, "stack");
	test_pointers(KUNWIND_IOC_STACK, sizeof(struct kunwind_stack), 16, "stack");
	test_frames();
	test_numbers();
	test_random();
	return tap_done();
}
