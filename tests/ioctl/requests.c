// SPDX-License-Identifier: MIT
/*
 * The ioctl of /dev/kunwind: what include/uapi/linux/kunwind.h promises, and an
 * error number of it for every bad input.
 */
#include <sys/ioctl.h>
#include <sys/mman.h>

#include "request.h"

#define DEEP		1200
#define MAX_CAPACITY	(1u << 20)
#define FUZZ_ROUNDS	4000

static int fd;
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
	tap_ok(version.max_frames == KUNWIND_MAX_FRAMES, "version: %d frames",
	       KUNWIND_MAX_FRAMES);
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
	tap_ok(all.frames[depth] == 0xeeeeeeeeeeeeeeee,
	       "stack: nothing is written behind the frames");
	tap_ok(in_this_program(all.frames[0]) && in_this_program(all.frames[1]) &&
	       in_this_program(all.frames[depth - 1]), "stack: begins and ends in this program");
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
			same = i + skip == 1 || other.frames[i] == all.frames[i + skip];
	}
	tap_ok(same, "stack, skip 0 to all: the same frames without the innermost");

	expect(take(&other, 2, 2), 0, "stack, skip 2, capacity 2");
	tap_ok(other.stack.count == 2 && other.frames[0] == all.frames[2] &&
	       other.frames[1] == all.frames[3], "stack, skip 2, capacity 2: frames 2 and 3");

	expect(take(&other, 2048, UINT32_MAX), 0, "stack, skip 2^32-1");
	tap_ok(other.stack.count == 0 && other.stack.proven == 0,
	       "stack, skip 2^32-1: no frames");
	expect(take(&other, MAX_CAPACITY, UINT32_MAX), 0, "stack, capacity 2^20, skip 2^32-1");
	expect(take(&other, MAX_CAPACITY, 0), 0, "stack, capacity 2^20");
	tap_ok(other.stack.count == depth, "stack, capacity 2^20: only what there is");
}

static NOINLINE long recurse(struct request *request, int depth, uint32_t skip)
{
	long ret;

	if (depth == 0)
		return take(request, 2048, skip);
	ret = recurse(request, depth - 1, skip);
	/* Not the last thing done: or it would be no call. */
	__asm__ volatile("" : "+r"(ret));
	return ret;
}

static void test_deep(void)
{
	static struct request request;

	expect(recurse(&request, DEEP, 0), 0, "a stack too deep");
	tap_ok(request.stack.count == KUNWIND_MAX_FRAMES &&
	       request.stack.stop == KUNWIND_STOP_MAX_FRAMES,
	       "a stack too deep: KUNWIND_MAX_FRAMES, MAX_FRAMES");
	expect(recurse(&request, DEEP, 24), 0, "a stack too deep, skip 24");
	tap_ok(request.stack.count && request.stack.count <= KUNWIND_MAX_FRAMES &&
	       request.stack.stop == KUNWIND_STOP_MAX_FRAMES,
	       "a stack too deep, skip 24: MAX_FRAMES");
	expect(recurse(&request, 900, 0), 0, "900 calls deep");
	tap_ok(request.stack.count > 900 && request.stack.stop == KUNWIND_STOP_COMPLETE,
	       "900 calls deep: COMPLETE");
}

/* The frames lie behind the structure, in memory of their own state. */
static void test_frames(void)
{
	struct request *request;
	uint64_t *far;

	for (size_t room = 0; room <= 2; room++) {
		char what[64];

		request = (struct request *)end_of_pages(sizeof(request->stack) +
							 8 * room);
		snprintf(what, sizeof(what), "stack, mapped room for %zu frames", room);
		expect(take(request, 16, 0), -EFAULT, what);
	}
	request = (struct request *)end_of_pages(sizeof(request->stack) + 4);
	expect(take(request, 1, 0), -EFAULT, "stack, mapped room for half a frame");
	request = (struct request *)end_of_pages(sizeof(request->stack) + 8);
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
	far = (uint64_t *)(pages + 64);
	expect(raw_ioctl(fd, KUNWIND_IOC_STACK, request), 0, "stack of a longer size");
	tap_ok(in_this_program(far[0]) && !request->frames[0] &&
	       request->stack.size == 64, "stack of a longer size: frames are behind it");
}

static void test_numbers(void)
{
	static const struct {
		unsigned long number;
		const char *what;
	} bad[] = {
		{ _IO(KUNWIND_IOC_MAGIC, 2), "request 2" },
		{ _IO(KUNWIND_IOC_MAGIC, 255), "request 255" },
		{ _IO(KUNWIND_IOC_MAGIC - 1, 1), "another driver's request" },
		{ _IOWR(KUNWIND_IOC_MAGIC, 1, struct kunwind_stack), "a size in the number" },
		{ _IOR(KUNWIND_IOC_MAGIC, 0, int), "a direction in the number" },
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
			number = _IO(KUNWIND_IOC_MAGIC, state >> 26 & 7);
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
	pages = mmap(NULL, 3 * PAGE, PROT_READ | PROT_WRITE,
		     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (pages == MAP_FAILED || munmap(pages + 2 * PAGE, PAGE))
		tap_bail("mmap: %s", strerror(errno));

	test_version();
	test_stack();
	test_deep();
	test_fields();
	test_sizes(KUNWIND_IOC_STACK, sizeof(struct kunwind_stack), 16, "stack");
	test_pointers(KUNWIND_IOC_STACK, sizeof(struct kunwind_stack), 16, "stack");
	test_frames();
	test_numbers();
	test_random();
	return tap_done();
}
