// SPDX-License-Identifier: MIT
/*
 * A 32-bit program, without a library, so that no 32-bit one must be installed:
 * the same layouts, the same answers; and its own stack, which is two functions.
 */
#include "layout.h"

#define NR_EXIT		1
#define NR_WRITE	4
#define NR_OPEN		5
#define NR_IOCTL	54

#define ENOENT		2
#define ENXIO		6
#define EFAULT		14
#define EINVAL		22

struct request {
	struct kunwind_stack stack;
	struct kunwind_frame frames[64];
};

struct request_at {
	struct kunwind_stack_at at;
	struct kunwind_frame frames[64];
};

_Static_assert(sizeof(void *) == 4, "a 32-bit program");
_Static_assert(offsetof(struct request, frames) == 32, "layout");

static int points;
static int failures;

static int call(int number, long a, long b, long c)
{
	int ret;

	__asm__ volatile("int $0x80" : "=a"(ret)
			 : "0"(number), "b"(a), "c"(b), "d"(c) : "memory");
	return ret;
}

static void say(const char *text)
{
	int size = 0;

	while (text[size])
		size++;
	call(NR_WRITE, 1, (long)text, size);
}

static void say_number(int number)
{
	char digits[] = "00";

	digits[0] += number / 10;
	digits[1] += number % 10;
	say(digits[0] == '0' ? digits + 1 : digits);
}

static void ok(int good, const char *name)
{
	points++;
	failures += !good;
	say(good ? "ok " : "not ok ");
	say_number(points);
	say(" - 32-bit program: ");
	say(name);
	say("\n");
}

static __attribute__((noreturn)) void leave(int status)
{
	for (;;)
		call(NR_EXIT, status, 0, 0);
}

/* Where run() would return to. */
extern const char back[];

/* The registers here. The upper halves are not looked at. */
#define HERE(r) do { \
	unsigned int ip_, sp_, bp_; \
\
	__asm__ volatile("1: mov $1b, %0; mov %%esp, %1; mov %%ebp, %2" \
			 : "=r"(ip_), "=r"(sp_), "=r"(bp_)); \
	(r)->ip = ip_ | 1ull << 63; \
	(r)->sp = sp_ | 1ull << 32; \
	(r)->bp = bp_ | 1ull << 47; \
} while (0)

__attribute__((noreturn, used)) static void run(void)
{
	static struct kunwind_version version = { .size = sizeof(version) };
	static struct request request;
	static struct request_at given;
	int fd = call(NR_OPEN, (long)"/dev/kunwind", 0, 0);

	if (fd == -ENOENT || fd == -ENXIO) {
		say("1..0 # SKIP no /dev/kunwind: load the module, or ./run.sh test vm\n");
		leave(77);
	}
	ok(fd >= 0, "opens the device");
	ok(call(NR_IOCTL, fd, KUNWIND_IOC_VERSION, (long)&version) == 0 &&
	   version.abi == KUNWIND_ABI_VERSION &&
	   version.max_frames == KUNWIND_MAX_FRAMES, "version");

	request.stack.size = sizeof(request.stack);
	request.stack.capacity = 64;
	ok(call(NR_IOCTL, fd, KUNWIND_IOC_STACK, (long)&request) == 0, "stack: 0");
	ok(request.stack.count == 2 && request.frames[1].address == (unsigned long)back &&
	   request.stack.stop == KUNWIND_STOP_COMPLETE, "stack: run, _start");
	ok(request.frames[0].flags == KUNWIND_FRAME_INTERRUPTED &&
	   request.frames[1].flags == 0, "stack: flags of the frames");
	ok(request.stack.count <= 64 && request.stack.proven <= request.stack.count,
	   "stack: counts");

	given.at.stack.size = sizeof(given.at);
	given.at.stack.capacity = 64;
	HERE(&given.at.registers);
	ok(call(NR_IOCTL, fd, KUNWIND_IOC_STACK_AT, (long)&given) == 0, "at: 0");
	ok(given.at.stack.count == 2 && given.frames[1].address == (unsigned long)back &&
	   given.frames[0].address == (__u32)given.at.registers.ip &&
	   given.at.stack.stop == KUNWIND_STOP_COMPLETE, "at: run, _start");

	request.stack.size = sizeof(request.stack) - 1;
	ok(call(NR_IOCTL, fd, KUNWIND_IOC_STACK, (long)&request) == -EINVAL,
	   "stack, size 31: EINVAL");
	ok(call(NR_IOCTL, fd, KUNWIND_IOC_STACK, 0) == -EFAULT,
	   "stack, null pointer: EFAULT");
	ok(call(NR_IOCTL, fd, KUNWIND_IOC_STACK, -4096) == -EFAULT,
	   "stack, bad pointer: EFAULT");
	say("1..");
	say_number(points);
	say("\n");
	leave(failures != 0);
}

/* The stack is aligned as a called function expects it. */
__asm__(".globl _start\n"
	"_start:\n"
	"	and $-16, %esp\n"
	"	call run\n"
	"back:\n"
	"	hlt\n");
