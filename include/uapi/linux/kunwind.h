/* SPDX-License-Identifier: (GPL-2.0-only WITH Linux-syscall-note) OR MIT */
/*
 * The ABI of /dev/kunwind: a process asks for its own user call stack, or for that of another
 * thread that it may trace.
 *
 * Opening the device (mode 0666) covers the opener's address space. The unwind
 * tables of everything executable that is mapped are compiled before open()
 * returns, and those of later mappings before their code can run. The coverage
 * ends with the last close of the file.
 *
 * KUNWIND_IOC_STACK gives the caller's own stack, and KUNWIND_IOC_STACK_AT gives the one that
 * begins with registers that the caller names, as in a signal handler. On a file that another
 * process opened (inherited or received) both fail with -EXDEV. KUNWIND_IOC_THREAD gives the
 * stack of any thread that shares the caller's memory, or that the caller may trace.
 *
 * Errors of open(), in addition to those that every open() can give:
 *   -ENOMEM      no memory
 *   -EINTR       a fatal signal came
 *   -EOPNOTSUPP  the kernel lacks a function that the module must hook, or the
 *                sysctl kernel.ftrace_enabled is 0, so that it can hook none
 *
 * How the ABI grows: every structure that is an argument starts with its size, as
 * the caller knows it. If the kernel's structure is longer, the kernel takes the
 * rest as zero. If the kernel's structure is shorter and the excess is not zero,
 * the kernel answers -E2BIG. If the excess is zero, the kernel leaves it alone. Zero
 * is never a good result, so a field that the kernel did not fill does not look like
 * one. No structure holds a pointer or a bit-field. All layouts are the same for
 * 32-bit callers.
 *
 * For strace and seccomp, the number of a request encodes its direction and the size
 * of the structure's first version. The number stays when the structure grows.
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

/* Raised when a request is added. Existing requests never change. */
#define KUNWIND_ABI_VERSION	3

/* The most frames that one request returns, whatever the capacity. */
#define KUNWIND_MAX_FRAMES	1024

/*
 * The most frames that one request leaves out. A return address takes 8 bytes, so a
 * stack of 8 MiB, the usual RLIMIT_STACK, holds at most this many.
 */
#define KUNWIND_MAX_SKIP	(1 << 20)

/*
 * Why a walk stopped: number, name, sentence. The numbers never change.
 * Only KUNWIND_STOP_COMPLETE means that the stack is whole. No walk ends with
 * KUNWIND_STOP_NONE, so a result that was never filled in does not look like one.
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
	X(8, NO_RULE, "no FDE has a rule for the address") \
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
 * struct kunwind_version - what this module supports
 * @size: in: sizeof(struct kunwind_version)
 * @abi: out: KUNWIND_ABI_VERSION of the module, which has all requests of that version
 * @max_frames: out: KUNWIND_MAX_FRAMES of the module
 * @max_skip: out: KUNWIND_MAX_SKIP of the module
 * @nr_stops: out: all stop reasons of the module are smaller than this
 * @stack_flags: out: the flags that the module accepts in struct kunwind_stack
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
 * The address is that of the next instruction that the frame executes: the frame made
 * a system call, or a signal interrupted it. Look up the address as it is. Without
 * this flag, it is a return address, which may be the first byte after the function:
 * look up the address minus 1.
 */
#define KUNWIND_FRAME_INTERRUPTED	(1U << 0)

/*
 * No unwind information proves this frame. The walk guessed, at this frame or at one
 * further in: it followed the code ahead to the function's return, it took a step by
 * frame pointer, or it assumed that the code had pushed nothing since it was called.
 */
#define KUNWIND_FRAME_GUESSED		(1U << 1)

/**
 * struct kunwind_frame - one frame of a stack
 * @address: the user address that the frame executes or returns to
 * @flags: KUNWIND_FRAME_. A later module may set more flags. No flag changes the
 *	meaning of @address or of another flag
 * @reserved: zero
 */
struct kunwind_frame {
	__u64 address;
	__u32 flags;
	__u32 reserved;
};

/**
 * struct kunwind_stack - the caller's own user call stack
 * @size: in: sizeof(struct kunwind_stack). The module writes the frames, an array of
 *	struct kunwind_frame, at the structure's address plus @size
 * @flags: in: must be zero
 * @capacity: in: the number of frames that the array has room for; 1 to 2^20, of
 *	which at most KUNWIND_MAX_FRAMES are used
 * @skip: in: how many innermost frames to leave out; 0 to KUNWIND_MAX_SKIP
 * @count: out: frames written, innermost first. The innermost frame of the whole
 *	stack is the one that made this request
 * @proven: out: how many of the @count frames follow from unwind information, or from what
 *	the kernel knows: its signal frames, and uretprobes. The frames after them have
 *	KUNWIND_FRAME_GUESSED
 * @stop: out: enum kunwind_stop
 * @reserved: in: must be zero; out: zero
 *
 * KUNWIND_STOP_CAPACITY and KUNWIND_STOP_MAX_FRAMES mean that the stack has more
 * frames. To get them, ask again with @skip raised by @count. Each walk starts at the
 * innermost frame.
 *
 * Errors in addition to the general ones:
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

/*
 * General registers of x86-64. A 32-bit caller has the first nine, and the lower half of
 * each. @ip is the address of the next instruction.
 */
struct kunwind_registers {
	__u64 ip;
	__u64 sp;
	__u64 bp;
	__u64 ax;
	__u64 bx;
	__u64 cx;
	__u64 dx;
	__u64 si;
	__u64 di;
	__u64 r8;
	__u64 r9;
	__u64 r10;
	__u64 r11;
	__u64 r12;
	__u64 r13;
	__u64 r14;
	__u64 r15;
};

/**
 * struct kunwind_stack_at - the caller's own user call stack, from given registers on
 * @stack: as for KUNWIND_IOC_STACK. Its @size is that of this structure, after which the
 *	frames follow. The innermost frame is the one of @registers
 * @mappings: out: a number that changes when code was mapped in the caller's address space
 *	since the device was opened. If it is that of an earlier request, all code of files
 *	lies where it lay then, except that some may have been unmapped. Anonymous memory that
 *	becomes executable changes it only where it takes the place of a file
 * @registers: in: those of the innermost frame, as the kernel tells a signal handler in
 *	its ucontext. Left alone
 *
 * A signal handler gets the stack that the signal interrupted, without the handler's own
 * frames and without the signal's. The kernel believes nothing that it is told: the walk reads
 * only memory that the caller can read, and any values are allowed. What the answer says of
 * frames, KUNWIND_STOP_COMPLETE and @proven among them, is true if the registers are.
 *
 * Since version 3. Errors are those of struct kunwind_stack.
 */
struct kunwind_stack_at {
	struct kunwind_stack stack;
	__u64 mappings;
	struct kunwind_registers registers;
};

/* Where the thread was when its stack was taken. */
enum kunwind_thread_state {
	KUNWIND_THREAD_OFF_CPU = 1,	/* it waited for something, or for a CPU */
	KUNWIND_THREAD_ON_CPU = 2,	/* it was running, in user mode or in the kernel */
};

/**
 * struct kunwind_thread - the user call stack of another thread
 * @size: in: sizeof(struct kunwind_thread). The frames follow, as for struct kunwind_stack
 * @flags: in: must be zero
 * @pid: in: the process, by its ID in the caller's PID namespace
 * @tid: in: the thread of that process, likewise
 * @capacity: in: as in struct kunwind_stack
 * @count: out: as in struct kunwind_stack. The innermost frame is the one where the
 *	thread entered the kernel, or where the request interrupted it
 * @proven: out: as in struct kunwind_stack
 * @stop: out: enum kunwind_stop
 * @state: out: enum kunwind_thread_state
 * @reserved: in: must be zero; out: zero
 *
 * The thread is not stopped, gets no signal, and its system calls are not interrupted. Its
 * stack is that of one moment. Pages of the stack that are not in memory are not read:
 * KUNWIND_STOP_STACK_FAULT.
 *
 * The first request for a process covers that process until a request names another one, a
 * request is refused, or the file is closed. What cannot be covered without waiting is missing
 * from the first stacks: KUNWIND_STOP_NOT_COVERED, KUNWIND_STOP_INCOMPLETE_MAP.
 *
 * Permission is that of /proc/PID/syscall: ptrace(2), PTRACE_MODE_ATTACH_FSCREDS.
 *
 * Since version 2. Errors in addition to the general ones:
 *   -EINVAL      capacity is 0 or more than 2^20
 *   -ESRCH       there is no such thread, it is the kernel's, it exits, or it has just
 *                started another program: ask again then
 *   -EACCES      the caller may not trace the thread
 *   -EAGAIN      the thread kept moving between CPUs, or is in execve(): ask again
 *   -ENOMEM      no memory for the answer, or to cover the process
 *   -EINTR       a fatal signal came
 */
struct kunwind_thread {
	__u32 size;
	__u32 flags;
	__s32 pid;
	__s32 tid;
	__u32 capacity;
	__u32 count;
	__u32 proven;
	__u32 stop;
	__u32 state;
	__u32 reserved;
};

/* The sizes of the first versions. */
#define KUNWIND_VERSION_SIZE_VER0	32
#define KUNWIND_STACK_SIZE_VER0		32
#define KUNWIND_THREAD_SIZE_VER0	40
#define KUNWIND_STACK_AT_SIZE_VER0	176

#define KUNWIND_IOC_MAGIC	0xbe

#define KUNWIND_IOC_VERSION	_IOC(_IOC_READ | _IOC_WRITE, KUNWIND_IOC_MAGIC, \
				     0x00, KUNWIND_VERSION_SIZE_VER0)
#define KUNWIND_IOC_STACK	_IOC(_IOC_READ | _IOC_WRITE, KUNWIND_IOC_MAGIC, \
				     0x01, KUNWIND_STACK_SIZE_VER0)
#define KUNWIND_IOC_THREAD	_IOC(_IOC_READ | _IOC_WRITE, KUNWIND_IOC_MAGIC, \
				     0x02, KUNWIND_THREAD_SIZE_VER0)
#define KUNWIND_IOC_STACK_AT	_IOC(_IOC_READ | _IOC_WRITE, KUNWIND_IOC_MAGIC, \
				     0x03, KUNWIND_STACK_AT_SIZE_VER0)

#endif /* _UAPI_LINUX_KUNWIND_H */
