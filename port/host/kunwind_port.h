/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * What core/ needs, for a host program. port/kernel/kunwind_port.h has the same for the
 * kernel.
 *
 * "User memory" is a window of this program's own memory: its own stack, a copy of another
 * process's stack, or words that a test has made up.
 */
#ifndef KUNWIND_PORT_H
#define KUNWIND_PORT_H

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>
#include "../../include/uapi/linux/kunwind.h"

typedef __u8 u8;
typedef __u16 u16;
typedef __u32 u32;
typedef __u64 u64;
typedef __s8 s8;
typedef __s16 s16;
typedef __s32 s32;
typedef __s64 s64;

#define U8_MAX		((u8)~0U)
#define U16_MAX		((u16)~0U)
#define U32_MAX		((u32)~0U)
#define S32_MAX		((s32)(U32_MAX >> 1))
#define U64_MAX		((u64)~0ULL)
#define S64_MAX		((s64)(U64_MAX >> 1))
#define S64_MIN		((s64)(-S64_MAX - 1))

#define unlikely(x)	__builtin_expect(!!(x), 0)
#define fallthrough	__attribute__((__fallthrough__))
#define noinline	__attribute__((__noinline__))
#ifndef __always_inline
#define __always_inline	inline __attribute__((__always_inline__))
#endif
#define kuw_port_uninitialized
#define __maybe_unused	__attribute__((__unused__))
#define ARRAY_SIZE(a)	(sizeof(a) / sizeof((a)[0]))
#define ALIGN(x, a)	(((x) + ((a) - 1)) & ~((__typeof__(x))(a) - 1))
#define min_t(t, a, b)	((t)(a) < (t)(b) ? (t)(a) : (t)(b))
#define max_t(t, a, b)	((t)(a) > (t)(b) ? (t)(a) : (t)(b))

/* A program attacks nobody but itself. */
#define kuw_port_index(index, size)	((void)(size), (index))

static inline u16 get_unaligned_le16(const void *p)
{
	u16 v;

	memcpy(&v, p, sizeof(v));
	return v;
}

static inline u32 get_unaligned_le32(const void *p)
{
	u32 v;

	memcpy(&v, p, sizeof(v));
	return v;
}

static inline u64 get_unaligned_le64(const void *p)
{
	u64 v;

	memcpy(&v, p, sizeof(v));
	return v;
}

static inline void put_unaligned_le16(u16 v, void *p)
{
	memcpy(p, &v, sizeof(v));
}

static inline void put_unaligned_le32(u32 v, void *p)
{
	memcpy(p, &v, sizeof(v));
}

/* The first address that no user frame can have: TASK_SIZE_MAX of the kernel. */
#define KUW_PORT_USER_END	((1ULL << 47) - 4096)

/* The registers of the innermost frame, in DWARF's order. */
struct kuw_port_regs {
	u64 r[16];
	u64 ip;
	bool in_syscall;
};

static inline u64 kuw_port_ip(const struct kuw_port_regs *regs)
{
	return regs->ip;
}

static inline u64 kuw_port_sp(const struct kuw_port_regs *regs)
{
	return regs->r[7];
}

static inline u64 kuw_port_bp(const struct kuw_port_regs *regs)
{
	return regs->r[6];
}

static inline bool kuw_port_in_syscall(const struct kuw_port_regs *regs)
{
	return regs->in_syscall;
}

/* All general registers, in DWARF's order (psABI x86-64, figure 3.36). */
static inline void kuw_port_fill_regs(const struct kuw_port_regs *regs,
				      u64 r[16])
{
	memcpy(r, regs->r, sizeof(regs->r));
}

/**
 * struct kuw_port_window - the part of "user memory" that can be read
 * @lo: first address
 * @starts: at how many addresses, from @lo on, a whole word can start
 * @bias: the place of a byte in this program minus its address, modulo 2^64; 0 for the
 *	program's own memory
 *
 * kuw_port_elsewhere() reads everything else; without that, the read fails. Each thread has
 * one window.
 */
struct kuw_port_window {
	u64 lo;
	u64 starts;
	u64 bias;
};

extern __thread struct kuw_port_window kuw_port_window
	__attribute__((tls_model("initial-exec")));
/* NULL, or a function that reads a word outside the window. Return: 0, or -EFAULT. */
extern __thread int (*kuw_port_elsewhere)(u64 addr, u64 *word);

static inline void kuw_port_set_window(u64 lo, u64 len, u64 bias)
{
	kuw_port_window.lo = lo;
	kuw_port_window.starts = len < 8 ? 0 : len - 7;
	kuw_port_window.bias = bias;
}

/*
 * With KUW_PORT_INJECT, every read is counted, and a test can make one of them fail.
 * Benchmarks are built without it.
 */
#ifdef KUW_PORT_INJECT
extern __thread u64 kuw_port_reads;	/* reads so far */
extern __thread u64 kuw_port_fail_nth;	/* this one fails; 0: none */

/* Return: whether this read must fail. Ends the program if @addr is misaligned. */
bool kuw_port_inject(u64 addr);
#else
#define kuw_port_inject(addr)	false
#endif

/*
 * A walk over the program's own stack reads all of its words, as a debugger would. The
 * address sanitizer must not check these reads.
 */
#if defined(__SANITIZE_ADDRESS__)
#define kuw_port_reader	noinline __attribute__((__no_sanitize__("address"), \
						__unused__))
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define kuw_port_reader	noinline __attribute__((__no_sanitize__("address"), \
						__unused__))
#endif
#endif
#ifndef kuw_port_reader
#define kuw_port_reader	inline
#endif

/*
 * Read one aligned word of user memory.
 *
 * Return: 0, or -EFAULT.
 */
static kuw_port_reader int kuw_port_read(u64 addr, u64 *word)
{
	if (kuw_port_inject(addr))
		return -EFAULT;
	if (unlikely(addr - kuw_port_window.lo >= kuw_port_window.starts))
		return kuw_port_elsewhere ? kuw_port_elsewhere(addr, word) : -EFAULT;
	*word = *(const u64 *)(addr + kuw_port_window.bias);
	return 0;
}

/* The same for the walk's loop, only in the window: a call there would cost registers. */
static kuw_port_reader int kuw_port_read_stack(u64 addr, u64 *word)
{
	if (kuw_port_inject(addr))
		return -EFAULT;
	if (unlikely(addr - kuw_port_window.lo >= kuw_port_window.starts))
		return -EFAULT;
	*word = *(const u64 *)(addr + kuw_port_window.bias);
	return 0;
}

/* In the kernel, several reads between these two are cheaper than single ones. */
static inline void kuw_port_open(void)
{
}

static inline void kuw_port_reopen(void)
{
}

static inline void kuw_port_barrier(void)
{
}

static inline void kuw_port_close(void)
{
}

#define kuw_port_read_open(addr, user_end, word) \
	((void)(user_end), kuw_port_read_stack(addr, word))

/* The first word of the process's stack, where the kernel put argc. Host programs set it. */
extern __thread u64 kuw_port_stack_first;	/* 0: nowhere */

static inline u64 kuw_port_stack_start(void)
{
	return kuw_port_stack_first;
}

/*
 * Find the return address that a uretprobe replaced at @slot. Tests set both. Return: whether
 * one did.
 */
extern __thread u64 kuw_port_uretprobe_slot;	/* 0: nowhere */
extern __thread u64 kuw_port_uretprobe_ra;

static inline bool kuw_port_uretprobe(u64 slot, u64 *ra)
{
	if (!kuw_port_uretprobe_slot || slot != kuw_port_uretprobe_slot)
		return false;
	*ra = kuw_port_uretprobe_ra;
	return true;
}

/* Where the thread's fs leads. Host programs set it. */
extern __thread u64 kuw_port_fs_base;

static inline u64 kuw_port_fs(void)
{
	return kuw_port_fs_base;
}

#endif /* KUNWIND_PORT_H */
