// SPDX-License-Identifier: GPL-2.0-only OR MIT
#include <sys/mman.h>
#include "proc_maps.h"
#include "view.h"

/* The red zone, and what a function popped just now. */
#define BELOW		256
/* Frames of more bytes than this are rare. */
#define NEAR		4096
/* What the program left above where it entered a stack of its own. */
#define ABOVE		(4 * 4096)
/* A stack of its own that grows gets room for more at once. */
#define ROOM		(16 * 4096)

/* Pages of code that are kept. A walk can read hundreds of instructions. */
#define PAGES		256

/* A page of a file with a table, which nobody writes, as long as the map is that of @number. */
struct page {
	u64 at;
	u64 number;
	u8 bytes[4096];
};

/* All else is read where it is: other stacks, a JIT compiler's code, what a register points at. */
static const struct tracee *tracee;
static const struct maps *maps;
static struct page pages[PAGES];

static bool is_code(u64 addr)
{
	const struct kuw_mapping *m = kuw_map_find(maps->space.map, addr);

	return m && m->kind == KUW_MAPPING_TABLE;
}

static int read_code(u64 addr, u64 *word)
{
	u64 at = addr & -4096ULL;
	struct page *page = &pages[at / 4096 % PAGES];

	if (page->at != at || page->number != maps->number) {
		page->at = 0;
		if (tracee_read(tracee, at, page->bytes, 4096) != 4096)
			return -EFAULT;
		page->at = at;
		page->number = maps->number;
	}
	memcpy(word, page->bytes + (addr - at), sizeof(*word));
	return 0;
}

/* The port asks for aligned words. */
static int read_elsewhere(u64 addr, u64 *word)
{
	if (is_code(addr))
		return read_code(addr, word);
	return tracee_read(tracee, addr, word, sizeof(*word)) == sizeof(*word) ?
		0 : -EFAULT;
}

/* Room for the addresses from @lo to @hi: nearly all of it stays untouched. */
static bool make_room(struct view *v, u64 lo, u64 hi)
{
	view_free(v);
	lo &= ~(ROOM - 1ULL);
	hi = ALIGN(hi, 4096);
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

static u64 stack_lo(const struct shadow_stack *stack)
{
	return stack->own ? (stack->lo - BELOW) & ~7ULL : stack->lo;
}

static u64 stack_hi(const struct shadow_stack *stack)
{
	return stack->own ? stack->hi + ABOVE : stack->hi;
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

/* Present the stack that rsp is on, from a little below rsp, up to @hi of it anew. */
static bool present(struct view *v, const struct tracee *t,
		    const struct shadow *s, u64 hi)
{
	const struct shadow_stack *in = &s->stacks[s->stack];
	u64 lo = max_t(u64, stack_lo(in), (t->regs.rsp - BELOW) & ~7ULL);
	u64 end = stack_hi(in);

	tracee = t;
	maps = v->maps;
	kuw_port_elsewhere = read_elsewhere;
	if (!v->mirror || stack_lo(in) < v->lo || end > v->hi) {
		if (!make_room(v, stack_lo(in), end))
			return false;
		hi = end;
	}
	kuw_port_set_window(lo, end - lo, (u64)v->mirror - v->lo);
	copy(v, t, lo, min_t(u64, hi, end));
	return true;
}

bool view_near(struct view *v, const struct tracee *t, const struct shadow *s)
{
	/* Others use the program's own stacks, too: threads, collectors of garbage. */
	if (s->stacks[s->stack].own)
		return view_all(v, t, s);
	return present(v, t, s, t->regs.rsp + NEAR);
}

bool view_all(struct view *v, const struct tracee *t, const struct shadow *s)
{
	return present(v, t, s, U64_MAX);
}

void view_free(struct view *v)
{
	if (v->mirror)
		munmap(v->mirror, v->hi - v->lo);
	v->mirror = NULL;
}
