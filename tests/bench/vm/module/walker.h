/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* What tests/bench/vm/subject.c asks of kunwind-bench.ko. */
#ifndef KUNWIND_BENCH_H
#define KUNWIND_BENCH_H

#include <linux/ioctl.h>
#include <linux/types.h>

enum bench_walker {
	BENCH_KUNWIND,		/* kunwind_walk() */
	BENCH_FRAME_POINTERS,	/* stack_trace_save_user() */
};

/**
 * struct bench_walks - walks of the caller's own stack
 * @walker: in: enum bench_walker
 * @count: in: how many
 * @frames: out: how many frames the last one found
 * @stop: out: why it ended; always KUNWIND_STOP_COMPLETE of other walkers
 * @ns: out: how long all of them took
 */
struct bench_walks {
	__u32 walker;
	__u32 count;
	__u32 frames;
	__u32 stop;
	__u64 ns;
};

#define BENCH_WALK	_IOWR('B', 0, struct bench_walks)
/* Consume stacks of the whole system until the file is closed. */
#define BENCH_ATTACH	_IO('B', 1)

#endif /* KUNWIND_BENCH_H */
