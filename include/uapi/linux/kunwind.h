/* SPDX-License-Identifier: (GPL-2.0-only WITH Linux-syscall-note) OR MIT */
/*
 * The ABI of /dev/kunwind: a process asks for its own user call stack.
 *
 * Opening the device (mode 0666) covers the opener's address space. The unwind
 * tables of everything executable that is mapped are compiled before open()
 * returns, and those of later mappings before their code can run. The coverage
 * ends with the last close of the file.
 *
 * A process sees its own stack and nothing else: a file that was inherited or
 * received from another process answers -EXDEV.
 *
 * open() gives what every open() can, and: -ENOMEM; -EINTR after a fatal signal;
 * -EOPNOTSUPP if the kernel lacks a function that must be hooked, or if the
 * sysctl kernel.ftrace_enabled is 0, so that none can be.
 *
 * How it grows: every structure that is an argument begins with its size, as the
 * caller knows it. A kernel that knows a longer one takes the rest as zero. A
 * kernel that knows a shorter one answers -E2BIG if what it does not know is not
 * zero, and leaves it alone otherwise. Zero is never a good result, so a field that
 * the kernel did not fill does not look like one. No structure holds a pointer or a
 * bit-field, and all layouts are the same for 32-bit callers.
 *
 * The number of a request has its direction and the size of the structure's first
 * version, for strace and seccomp. It stays when the structure grows.
 *
 * Errors that every request can give:
 *   -EINVAL   size is smaller than the first version of the structure, or a flag
 *             is unknown, or a reserved field is not zero
 *   -E2BIG    size is larger than this kernel's and the excess is not zero, or
 *             larger than a page
 *   -EFAULT   the argument cannot be read or written
 *   -ENOTTY   the request is unknown
 */
#ifndef _UAPI_LINUX_KUNWIND_H
#define _UAPI_LINUX_KUNWIND_H

#include <linux/ioctl.h>
#include <linux/types.h>

/* Raised when a request is added; what exists never changes. */
#define KUNWIND_ABI_VERSION	1

/* The most frames that one request returns, whatever the capacity. */
#define KUNWIND_MAX_FRAMES	1024

/*
 * The most frames that one request leaves out. A return address takes 8 bytes, so
 * that this is what a stack of 8 MiB, the usual RLIMIT_STACK, can hold.
 */
#define KUNWIND_MAX_SKIP	(1 << 20)

/*
 * Why a walk stopped: number, name, sentence. The numbers are for ever.
 * Only KUNWIND_STOP_COMPLETE means that the stack is whole. No walk ends with
 * KUNWIND_STOP_NONE: a result that nobody filled in is no good one.
 */
#define KUNWIND_STOPS(X) \
	X(0, NONE, "no walk was made") \
	X(1, COMPLETE, "the outermost frame was reached") \
	X(2, CAPACITY, "the caller's buffer is full") \
	X(3, MAX_FRAMES, "the stack is deeper than KUNWIND_MAX_FRAMES") \
	X(4, NO_USER, "the task has no user registers (kernel thread)") \
	X(5, NOT_COVERED, "no consumer covers this address space, or not yet") \
	X(6, NO_MAPPING, "an address lies in no known executable mapping") \
	X(7, NO_TABLE, "the mapped file has no usable unwind information") \
	X(8, NO_RULE, "no FDE covers the address") \
	X(9, STACK_FAULT, "the user stack could not be read") \
	X(10, CFA_BACK, "the CFA does not move towards the stack's base") \
	X(11, CFA_BAD, "the CFA is misaligned") \
	X(12, RA_BAD, "the return address is not a user address") \
	X(13, REG_UNKNOWN, "a rule needs a register whose value is lost") \
	X(14, EXPR_BAD, "a DWARF expression failed") \
	X(15, EXPR_BUDGET, "the DWARF expressions of this walk took too long") \
	X(16, MODE, "the task runs in a mode that is not supported") \
	X(17, CONTEXT, "the stack cannot be read in this context") \
	X(18, RULE_BAD, "the table holds a rule that cannot be applied") \
	X(19, INCOMPLETE_MAP, "a mapping is not recorded yet, or there was no memory for it") \
	X(20, UNPROVEN, "the frames end, but nothing proves that the last one is the outermost") \
	X(21, FAULT_BUDGET, "too many reads of the stack failed") \
	X(22, SIGNAL_BUDGET, "the stack has more signal frames than a walk records")

enum kunwind_stop {
#define KUNWIND_STOP_ENUM(number, name, sentence) KUNWIND_STOP_##name = number,
	KUNWIND_STOPS(KUNWIND_STOP_ENUM)
#undef KUNWIND_STOP_ENUM
	KUNWIND_NR_STOPS
};

/**
 * struct kunwind_version - what this module speaks
 * @size: in: sizeof(struct kunwind_version)
 * @abi: out: KUNWIND_ABI_VERSION of the module: it has all requests of that version
 * @max_frames: out: KUNWIND_MAX_FRAMES of the module
 * @max_skip: out: KUNWIND_MAX_SKIP of the module
 * @nr_stops: out: the module's stop reasons are smaller than this
 * @stack_flags: out: the flags that the module takes in struct kunwind_stack
 * @frame_flags: out: the flags that the module sets in struct kunwind_frame
 * @reserved: in: must be zero; out: zero
 */
struct kunwind_version {
	__u32 size;
	__u32 abi;
	__u32 max_frames;
	__u32 max_skip;
	__u32 nr_stops;
	__u32 stack_flags;
	__u32 frame_flags;
	__u32 reserved;
};

/*
 * The address is the next instruction that the frame executes: it made a system
 * call, or a signal interrupted it. Look up the address as it is. Without this flag
 * it is a return address, which may be the first byte behind the function: look up
 * the address minus 1.
 */
#define KUNWIND_FRAME_INTERRUPTED	(1U << 0)

/*
 * No unwind information proves this frame. It rests on a guess, its own or that of a
 * frame further in: a step by frame pointer, or that nothing was pushed since a call.
 */
#define KUNWIND_FRAME_GUESSED		(1U << 1)

/**
 * struct kunwind_frame - one frame of a stack
 * @address: the user address that it executes or returns to
 * @flags: KUNWIND_FRAME_. A later module may set more; none changes what @address
 *	or another flag means
 * @reserved: zero
 */
struct kunwind_frame {
	__u64 address;
	__u32 flags;
	__u32 reserved;
};

/**
 * struct kunwind_stack - the caller's own user call stack
 * @size: in: sizeof(struct kunwind_stack); the frames, an array of struct
 *	kunwind_frame, begin at this many bytes behind the structure's address
 * @flags: in: must be zero
 * @capacity: in: how many frames there is room for; 1 to 2^20, of which at most
 *	KUNWIND_MAX_FRAMES are used
 * @skip: in: how many innermost frames to leave out; 0 to KUNWIND_MAX_SKIP
 * @count: out: frames written, innermost first. The innermost of the whole stack is
 *	the one that made this request
 * @proven: out: how many of them follow from unwind information alone; those behind
 *	have KUNWIND_FRAME_GUESSED. At most @count
 * @stop: out: enum kunwind_stop
 * @reserved: in: must be zero; out: zero
 *
 * After KUNWIND_STOP_CAPACITY and KUNWIND_STOP_MAX_FRAMES the stack goes on: ask
 * again with @skip raised by @count. The walk begins at the innermost frame each
 * time.
 *
 * Errors besides the general ones:
 *   -EINVAL   capacity is 0 or more than 2^20, or skip is more than
 *             KUNWIND_MAX_SKIP
 *   -EXDEV    the caller's address space is not the one that opened the file
 *   -ENOMEM   no memory for the answer
 *   -EINTR    a fatal signal came
 * A partial stack is a result, not an error.
 */
struct kunwind_stack {
	__u32 size;
	__u32 flags;
	__u32 capacity;
	__u32 skip;
	__u32 count;
	__u32 proven;
	__u32 stop;
	__u32 reserved;
};

/* The sizes of the first versions. */
#define KUNWIND_VERSION_SIZE_VER0	32
#define KUNWIND_STACK_SIZE_VER0		32

#define KUNWIND_IOC_MAGIC	0xbe

#define KUNWIND_IOC_VERSION	_IOC(_IOC_READ | _IOC_WRITE, KUNWIND_IOC_MAGIC, \
				     0x00, KUNWIND_VERSION_SIZE_VER0)
#define KUNWIND_IOC_STACK	_IOC(_IOC_READ | _IOC_WRITE, KUNWIND_IOC_MAGIC, \
				     0x01, KUNWIND_STACK_SIZE_VER0)

#endif /* _UAPI_LINUX_KUNWIND_H */
