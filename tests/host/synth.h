/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* Tables and stacks that a test makes up. */
#ifndef HOST_SYNTH_H
#define HOST_SYNTH_H

#include "build_eh_frame.h"
#include "load.h"
#include "walk.h"

/* The text of a synthetic file is mapped here, its stack lies there. */
#define SYNTH_BIAS	0x555555554000ULL
#define SYNTH_STACK	0x7ffffff00000ULL
/* Two frames of 512 KiB, and what else a test needs. */
#define SYNTH_WORDS	131200

/* An address in memory of an offset in the text. */
#define SYNTH_IP(off)	(SYNTH_BIAS + BUILD_TEXT + (off))
#define SYNTH_SP(word)	(SYNTH_STACK + 8 * (u64)(word))

/* Compile @eh_frame as if a file had it. Return: as host_compile(). */
int synth_compile(struct host_table *t, const struct buf *eh_frame);

/* The same as a file whose words have 8 bytes, or 4. */
int synth_compile_word(struct host_table *t, const struct buf *eh_frame, u32 word);

/* The same for a section of one FDE over all of the text. */
int synth_compile_one(struct host_table *t, struct prog instrs);

/* Check that such an FDE is left out, and counted. */
void synth_refused(struct prog instrs);

/* Return: the rules at an offset in the text; .kind is KUW_RULES_NONE for none. */
struct kuw_rules synth_rules(const struct host_table *t, u64 off);

/**
 * struct synth - a process
 * @table: of its one file
 * @map: its address map
 * @regs: the innermost frame
 * @stack: its words
 * @frames: the walk's answer
 * @result: the walk's answer
 */
struct synth {
	struct host_table table;
	struct kuw_map *map;
	struct host_cache cache;
	struct kuw_port_regs regs;
	u64 stack[SYNTH_WORDS];
	u64 frames[KUNWIND_MAX_FRAMES + 8];
	struct kuw_result result;
};

/* A process with a mapping of @eh_frame's file; fails the test if it cannot. */
struct synth *synth_new(const struct buf *eh_frame);
void synth_free(struct synth *s);

/* Walk with room for @capacity frames; checks that nothing behind it is written. */
void synth_walk(struct synth *s, u32 capacity);

#endif /* HOST_SYNTH_H */
