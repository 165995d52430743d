// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * Walks that are made to take long: each shape goes to a limit of budgets.h. Under
 * callgrind, worst.test counts the instructions of kuw_walk().
 */
#include <dwarf.h>
#include <stdio.h>
#include <stdlib.h>
#include "test.h"
#include "budgets.h"
#include "synth.h"

#define FRAME_WORDS	2
/* A bucket that has a row at each byte. */
#define DENSE		0x7e00u
/* Frames for the loop, which loses registers; and the outermost ones, which need one of these. */
#define PLAIN		(DENSE + (1u << KUW_BUCKET_SHIFT))
#define LAST		0x8000u
#define NR_LAST		6
/* So many rules that those of the bucket have the longest codes. */
#define RULES		8000

static void put_expr(struct buf *p, u8 op, u32 reg, const struct buf *e)
{
	buf_uint(p, op, 1);
	if (op != DW_CFA_def_cfa_expression)
		buf_uleb(p, reg);
	buf_uleb(p, e->len);
	buf_put(p, e->bytes, e->len);
}

/* The CFA, rsp+16, by an expression of @steps operators. */
static void put_cfa(struct buf *p, u32 steps)
{
	struct buf e = { 0 };

	buf_put(&e, (const u8[]){ DW_OP_breg7, 0 }, 2);
	for (; steps > 3; steps -= 2)
		buf_put(&e, (const u8[]){ DW_OP_dup, DW_OP_drop }, 2);
	buf_put(&e, (const u8[]){ DW_OP_lit16, DW_OP_plus }, 2);
	put_expr(p, DW_CFA_def_cfa_expression, 0, &e);
	buf_free(&e);
}

/* All registers are saved, each across two words of the stack. */
static void put_saves(struct buf *p)
{
	u32 reg;

	for (reg = 0; reg < 16; reg++) {
		if (reg == 7)
			continue;
		buf_uint(p, DW_CFA_offset_extended_sf, 1);
		buf_uleb(p, reg);
		buf_sleb(p, -13);
	}
	buf_uint(p, DW_CFA_offset_extended_sf, 1);
	buf_uleb(p, 16);
	buf_sleb(p, -8);
}

static void shape_usual(struct buf *p)
{
	buf_put(p, (const u8[]){ DW_CFA_def_cfa_offset, 16 }, 2);
	buf_put(p, (const u8[]){ DW_CFA_offset_extended_sf, 16, 0x78 }, 3);
}

static void shape_saves(struct buf *p)
{
	buf_put(p, (const u8[]){ DW_CFA_def_cfa_offset, 16 }, 2);
	put_saves(p);
}

/* The same, far below the stack: nothing is there. */
static void shape_faults(struct buf *p)
{
	u32 reg;

	buf_put(p, (const u8[]){ DW_CFA_def_cfa_offset, 16 }, 2);
	for (reg = 0; reg < 16; reg++) {
		if (reg == 7)
			continue;
		buf_uint(p, DW_CFA_offset_extended_sf, 1);
		buf_uleb(p, reg);
		buf_sleb(p, -(1 << 30) - 8 * (s64)reg);
	}
	buf_put(p, (const u8[]){ DW_CFA_offset_extended_sf, 16, 0x78 }, 3);
}

static void shape_expressions(struct buf *p)
{
	put_cfa(p, KUW_MAX_EXPR_STEPS / KUNWIND_MAX_FRAMES - 1);
	put_saves(p);
}

/* A row at each byte, each with a rule of its own. */
static void shape_dense(struct buf *p)
{
	u32 i;

	shape_saves(p);
	for (i = 1; i < PLAIN - DENSE; i++) {
		buf_uint(p, DW_CFA_advance_loc | 1, 1);
		buf_uint(p, DW_CFA_offset_extended_sf, 1);
		buf_uleb(p, 3);
		buf_sleb(p, 8 * (s64)i - 13);
	}
}

/* Rules that are met before those of the shape. */
static void put_rules(struct buf *b, const struct cie_spec *spec, u32 cie)
{
	struct buf p = { 0 };
	u32 i;

	for (i = 0; i < RULES; i++) {
		buf_uint(&p, DW_CFA_offset_extended_sf, 1);
		buf_uleb(&p, 3);
		buf_sleb(&p, -100000 - (s64)i);
		buf_uint(&p, DW_CFA_advance_loc | 1, 1);
	}
	build_fde(b, spec, cie, BUILD_TEXT, DENSE, (struct prog){ p.bytes, p.len });
	buf_free(&p);
}

/* mem[rsp], over and over, across two words. */
static void shape_loop(struct buf *p)
{
	struct buf e = { 0 };

	buf_put(&e, (const u8[]){ DW_OP_breg7, 1, DW_OP_deref, DW_OP_drop,
				  DW_OP_skip, 0xf9, 0xff }, 7);
	put_expr(p, DW_CFA_def_cfa_expression, 0, &e);
	buf_free(&e);
	put_saves(p);
}

/* Four registers, each the CFA and a number that takes as many bytes as a number may. */
static void shape_padded(struct buf *p)
{
	static const u8 regs[] = { 3, 12, 13, 14 };
	struct buf e = { 0 };
	u32 i;

	buf_uint(&e, DW_OP_plus_uconst, 1);
	for (i = 0; i < 9; i++)
		buf_uint(&e, 0x80, 1);
	buf_uint(&e, 0, 1);
	shape_usual(p);
	for (i = 0; i < ARRAY_SIZE(regs); i++)
		put_expr(p, DW_CFA_val_expression, regs[i], &e);
	buf_free(&e);
}

static const struct shape {
	const char *name;
	void (*put)(struct buf *p);
	const char *what;
} shapes[] = {
	{ "usual", shape_usual, "rsp+16, as ordinary functions have it" },
	{ "no-text", shape_usual, "the same, and no page of text is there" },
	{ "saves", shape_saves, "15 registers saved, none aligned" },
	{ "faults", shape_faults, "15 registers saved where nothing can be read" },
	{ "expressions", shape_expressions, "the same, the CFA by an expression" },
	{ "padded", shape_padded, "four registers by expressions of padded numbers" },
	{ "restart", shape_expressions, "expressions, and the last frames need another register" },
	{ "restart-saves", shape_saves, "15 registers saved, and the last frames need one" },
	{ "restart-dense", shape_dense, "the same, a row at each byte, and 8,000 other rules" },
	{ "loop", shape_loop, "an expression that reads for ever" },
	{ "ahead", shape_usual, "code without a rule that branches, and does not return" },
	{ "ahead-faults", shape_usual, "code without a rule that loads what cannot be read" },
};

static u32 faults;
static bool has_text;
/* What code without a rule consists of, if there is any; it has neither pages nor an end. */
static u64 code;

/*
 * Of the text calls are there, or what would have to be one: before aligned addresses.
 * Elsewhere, a read is a page fault.
 */
static int read_text(u64 addr, u64 *word)
{
	*word = code ? code : 0x90e8909090;
	if (code && addr < SYNTH_STACK)
		return 0;
	if (has_text && addr - SYNTH_IP(0) < BUILD_TEXT_LEN)
		return 0;
	faults++;
	return -EFAULT;
}

/* Return: where the @i-th caller of a walk is that starts again, as late as it may. */
static u32 restarting(u32 i, bool dense)
{
	if (i + 1 < KUW_MAX_REDONE)
		return dense ? PLAIN - 6 + i % 5 : 16 + 16 * i;
	return i < KUNWIND_MAX_FRAMES - NR_LAST ? PLAIN + 16 : LAST + 16;
}

static void walk(const struct shape *shape)
{
	const struct cie_spec spec = { .data_align = 1 };
	const bool dense = shape->put == shape_dense;
	const bool restarts = !strncmp(shape->name, "restart", strlen("restart"));
	const u32 start = dense ? DENSE : 0, end = restarts ? PLAIN : BUILD_TEXT_LEN;
	struct buf b = { 0 }, p = { 0 };
	struct synth *s;
	u32 word, cie;

	shape->put(&p);
	cie = build_cie(&b, &spec);
	if (dense)
		put_rules(&b, &spec, cie);
	build_fde(&b, &spec, cie, BUILD_TEXT + start, end - start, (struct prog){ p.bytes, p.len });
	/* The walk has not followed rbx, and starts again. */
	if (restarts) {
		build_fde(&b, &spec, cie, BUILD_TEXT + PLAIN, LAST - PLAIN,
			  PROG(DW_CFA_def_cfa_offset, 16, DW_CFA_offset_extended_sf, 16, 0x78));
		build_fde(&b, &spec, cie, BUILD_TEXT + LAST, BUILD_TEXT_LEN - LAST,
			  PROG(DW_CFA_def_cfa, KUW_RBX, 16));
	}
	s = synth_new(&b);
	/* Return addresses all differ: nothing is known of them. Each is 16-aligned,
	 * which costs a look at the text.
	 */
	for (word = 0; word + 1 < SYNTH_WORDS; word += FRAME_WORDS)
		s->stack[word + 1] = SYNTH_IP(16 + 16 * word);
	for (word = 0; restarts && word + 1 < SYNTH_WORDS; word += FRAME_WORDS)
		s->stack[word + 1] = SYNTH_IP(restarting(word / FRAME_WORDS, dense));
	/* Each frame pointer leads to the next, and no return address to known code. */
	if (!strcmp(shape->name, "ahead"))
		code = 0x0074007400740074;	/* je, of what follows it */
	else if (!strcmp(shape->name, "ahead-faults"))
		code = 0x40000000249c8b48;	/* mov 0x40000000(%rsp),%rbx */
	for (word = 0; code && word + 1 < SYNTH_WORDS; word += FRAME_WORDS) {
		s->stack[word] = SYNTH_SP(word + FRAME_WORDS);
		s->stack[word + 1] = SYNTH_IP(BUILD_TEXT_LEN + 16 + 16 * word);
	}
	/* Without a frame pointer, all of the way is followed. */
	s->regs.r[6] = strcmp(shape->name, "ahead-faults") ? SYNTH_SP(FRAME_WORDS) : 0;
	kuw_port_set_window(SYNTH_STACK, sizeof(s->stack), (u64)s->stack - SYNTH_STACK);
	kuw_port_elsewhere = read_text;
	has_text = strcmp(shape->name, "no-text");
	kuw_walk(s->map, host_cache(&s->cache), &s->regs, s->frames, KUNWIND_MAX_FRAMES, &s->result);
	printf("%-14s %5u frames, %s, %u faults\n", shape->name, s->result.count,
	       stop_name(s->result.stop), faults);
	synth_free(s);
	buf_free(&p);
	buf_free(&b);
}

int main(int argc, char **argv)
{
	u32 i;

	for (i = 0; i < ARRAY_SIZE(shapes); i++) {
		if (argc == 2 && !strcmp(argv[1], shapes[i].name)) {
			walk(&shapes[i]);
			return 0;
		}
	}
	printf("usage: worst SHAPE\n\nWalks a stack that is made to take long.\n\n");
	for (i = 0; i < ARRAY_SIZE(shapes); i++)
		printf("  %-14s %s\n", shapes[i].name, shapes[i].what);
	return argc == 2 ? 2 : 0;
}
