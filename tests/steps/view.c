// SPDX-License-Identifier: GPL-2.0-only OR MIT
#include <sys/mman.h>
#include "view.h"

/* The red zone, and what a function popped just now. */
#define BELOW		256
/* Frames of more bytes than this are rare. */
#define NEAR		4096

/* Room for the addresses from @lo to @hi: nearly all of it stays untouched. */
static bool make_room(struct view *v, u64 lo, u64 hi)
{
	if (v->mirror && lo >= v->lo && hi <= v->hi)
		return true;
	lo = min_t(u64, lo, v->mirror ? v->lo : lo) & ~4095ULL;
	hi = ALIGN(max_t(u64, hi, v->hi), 4096);
	view_free(v);
	v->mirror = mmap(NULL, hi - lo, PROT_READ | PROT_WRITE, MAP_PRIVATE |
			 MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (v->mirror == MAP_FAILED) {
		v->mirror = NULL;
		return false;
	}
	v->lo = lo;
	v->hi = hi;
	return true;
}

/* Return: the lowest address of all stacks. */
static u64 lowest(const struct shadow *s)
{
	u64 lo = s->stacks[0].lo;
	u32 i;

	for (i = 1; i < s->nr_stacks; i++)
		lo = min_t(u64, lo, s->stacks[i].lo);
	return lo;
}

/* Code: the walk looks at some where there is no rule, and for calls. */
static const struct tracee *tracee;

static int read_code(u64 addr, u64 *word)
{
	return tracee_read(tracee, addr, word, sizeof(*word)) == sizeof(*word) ?
		0 : -EFAULT;
}

/* Present the addresses from @lo up to the end of the main stack. */
static bool present(struct view *v, const struct shadow *s, u64 lo)
{
	if (!make_room(v, lo, s->stacks[0].hi))
		return false;
	kuw_port_set_window(lo, s->stacks[0].hi - lo, (u64)v->mirror - v->lo);
	return true;
}

static bool present_stacks(struct view *v, const struct tracee *t, const struct shadow *s)
{
	u64 lo = lowest(s), sp = t->regs.rsp;

	tracee = t;
	kuw_port_elsewhere = read_code;

	/* Make room for all of it at once. */
	return make_room(v, lo, s->stacks[0].hi) &&
	       present(v, s, s->nr_stacks == 1 ?
		       max_t(u64, lo, (sp - BELOW) & ~7ULL) : lo);
}

static void copy(struct view *v, const struct tracee *t, u64 lo, u64 hi)
{
	u64 next;

	/* Pages that are not there end a copy: begin again behind them. */
	while (lo < hi) {
		next = tracee_read(t, lo, v->mirror + (lo - v->lo), hi - lo);
		lo = next ? lo + next : (lo | 4095) + 1;
	}
}

bool view_near(struct view *v, const struct tracee *t, const struct shadow *s)
{
	const struct shadow_stack *in = &s->stacks[s->stack];
	u64 sp = t->regs.rsp;

	if (!present_stacks(v, t, s))
		return false;
	copy(v, t, max_t(u64, sp - BELOW, in->lo), min_t(u64, sp + NEAR, in->hi));
	return true;
}

bool view_all(struct view *v, const struct tracee *t, const struct shadow *s)
{
	const struct shadow_stack *in;
	u64 sp;
	u32 i;

	if (!present_stacks(v, t, s))
		return false;
	for (i = 0; i <= s->stack; i++) {
		in = &s->stacks[i];
		sp = i < s->stack ? in->sp : t->regs.rsp;
		copy(v, t, max_t(u64, sp - BELOW, in->lo), in->hi);
	}
	return true;
}

void view_free(struct view *v)
{
	if (v->mirror)
		munmap(v->mirror, v->hi - v->lo);
	v->mirror = NULL;
}
