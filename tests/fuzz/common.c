// SPDX-License-Identifier: GPL-2.0-only OR MIT
#include <stdlib.h>
#include "fuzz.h"
#include "budgets.h"
#include "step.h"

static u8 *copy_of(const u8 *bytes, u32 len)
{
	u8 *copy = malloc(len ? len : 1);

	must(copy);
	if (len)
		memcpy(copy, bytes, len);
	return copy;
}

int fuzz_compile(struct host_table *t, u32 word, const u8 *eh_frame, u32 len)
{
	memset(t, 0, sizeof(*t));
	t->elf.segments[0] = (struct kuw_segment){
		.off = 0x1000, .vaddr = FUZZ_TEXT, .filesz = FUZZ_TEXT_LEN,
	};
	t->elf.nr_segments = 1;
	t->elf.word = word;
	t->elf.eh_frame = (struct kuw_range){ 0x20000, FUZZ_EH, len };
	t->elf.eh_frame_exact = true;
	t->eh_frame = copy_of(eh_frame, len);
	return host_compile(t);
}

static void check_loc(const struct kuw_table *table, const struct kuw_loc *loc)
{
	u32 len;

	must(loc->how < KUW_NR_HOWS);
	if (loc->how == KUW_EXPR || loc->how == KUW_EXPR_MEM) {
		must((u64)(u32)loc->off + 2 <= table->expr_len);
		kuw_table_expr(table, loc, &len);
		must((u64)(u32)loc->off + 2 + len <= table->expr_len);
	}
	if (loc->how == KUW_REG || loc->how == KUW_MEM)
		must(loc->reg < KUW_NR_REGS);
}

/*
 * The table's file as processes map it: whole, in pieces, where it has no rows,
 * again at other addresses; and files without a table next to it.
 */
struct space {
	struct kuw_map *map;
	const struct kuw_table *table;
	u64 room[4 + 5 * 16];
	/* Return addresses: begins, ends and insides of all that. */
	u64 ra[96];
	u32 nr_ra;
};

static void add_ra(struct space *s, u64 addr)
{
	must(s->nr_ra < ARRAY_SIZE(s->ra));
	s->ra[s->nr_ra++] = addr;
}

/* Map what has the offsets from @from to @to in the table at @text. */
static void add_mapping(struct space *s, u32 kind, u64 text, u64 from, u64 to)
{
	struct kuw_mapping *m = &s->map->mappings[s->map->count++];

	must((u8 *)(m + 1) <= (u8 *)s->room + sizeof(s->room));
	must(s->map->count == 1 || m[-1].end <= text + from);
	*m = (struct kuw_mapping){
		.start = text + from, .end = text + to, .kind = kind,
	};
	if (kind == KUW_MAPPING_TABLE) {
		m->table = s->table;
		m->bias = text - s->table->base;
	}
	add_ra(s, m->start);
	add_ra(s, m->start + 1);
	add_ra(s, m->start + (to - from) / 2);
	add_ra(s, m->end);
	add_ra(s, m->end + 1);
}

/* Where the text is, of which the most is mapped. */
static u64 begin_of(const struct kuw_table *table)
{
	return table->word == KUW_WORD ? FUZZ_BIAS : 0x8048000;
}

/* @layout: whether the pieces leave holes, and which. */
static void make_space(struct space *s, const struct kuw_table *table, u32 layout)
{
	const u64 span = table->span, third = span / 3 + 1;
	u64 text = begin_of(table);

	memset(s, 0, sizeof(*s));
	s->map = (struct kuw_map *)s->room;
	s->map->number = layout + 1;
	s->table = table;
	/* Low addresses, so that the bias is often negative. */
	if (layout & 1) {
		add_mapping(s, KUW_MAPPING_NO_TABLE, 0x10000, 0, 0x1000);
		add_mapping(s, KUW_MAPPING_TABLE, 0x11000, 0, span + 3);
	}
	if (layout & 2) {
		/* From before the first row to behind the last. */
		add_mapping(s, KUW_MAPPING_TABLE, text, -0x1000, span + 0x1000);
	} else {
		add_mapping(s, KUW_MAPPING_TABLE, text, -0x1000, -0x800);
		add_mapping(s, KUW_MAPPING_TABLE, text, -0x800, third / 2 + 1);
		add_mapping(s, KUW_MAPPING_TABLE, text, third / 2 + 1, third);
		/* A hole; or what an uprobe or another file put there. */
		if (layout & 1)
			add_mapping(s, KUW_MAPPING_NO_TABLE, text, third,
				    third + third / 2 + 1);
		add_mapping(s, KUW_MAPPING_TABLE, text, third + third / 2 + 1,
			    third * 3);
	}
	/* Rows are none, but the mapping is of the file; near and far. */
	text += span;
	add_mapping(s, KUW_MAPPING_TABLE, text, 0x1000, 0x2000);
	s->map->mappings[s->map->count - 1].bias -= span;
	add_mapping(s, KUW_MAPPING_NO_TABLE, text, 0x2000, 0x3000);
	add_mapping(s, KUW_MAPPING_URETPROBE, text, 0x3000, 0x4000);
	add_mapping(s, KUW_MAPPING_TABLE, text, 1u << 30, (1u << 30) + 0x1000);
	s->map->mappings[s->map->count - 1].bias -= span;
	/* Once more, in the middle of it, and to its end. */
	text += 1u << 31;
	add_mapping(s, KUW_MAPPING_TABLE, text, third, span);
	add_mapping(s, KUW_MAPPING_URETPROBE, text, span, span + 1);
	add_ra(s, 0);
	add_ra(s, FUZZ_STACK);
	add_ra(s, ~0ULL);
}

/*
 * The walk as it would be without a cache and without a loop for frequent rules. Return: how many
 * reads failed.
 */
static u32 walk_by_step(const struct kuw_map *map,
			 const struct kuw_port_regs *regs, u64 *frames,
			 u32 capacity, struct kuw_result *result)
{
	struct kuw_state w = {
		.map = map, .inner = true, .syscall = regs->in_syscall, .switches = KUW_MAX_STACK_SWITCHES,
		.insns = KUW_MAX_INSNS,
		.regs = {
			.known = KUW_KNOWN_ALL, .steps = KUW_MAX_EXPR_STEPS,
			.word = KUW_WORD,
		},
	};
	u32 n = 0, stop;

	memcpy(w.regs.r, regs->r, sizeof(regs->r));
	w.regs.r[KUW_RA] = regs->ip;
	frames[n++] = regs->ip;
	result->proven = n;
	result->nr_interrupted = 0;
	for (;;) {
		stop = kuw_step(&w);
		w.syscall = false;
		if (stop != KUW_STEPPED)
			break;
		if (n == capacity) {
			stop = KUNWIND_STOP_CAPACITY;
			break;
		}
		kuw_restore_ra(&w);
		frames[n++] = w.regs.r[KUW_RA];
		if (!w.guessed)
			result->proven = n;
		if (w.inner)
			result->interrupted[result->nr_interrupted++] = n - 1;
	}
	result->count = n;
	result->stop = stop;
	return w.faults;
}

/* In pieces it is the same walk, as long as no budget of time ends it. */
static void walk_pieces(struct kuw_state *w, const struct kuw_map *map, u64 seed,
			const u64 *want, const struct kuw_result *whole)
{
	struct kuw_result piece = { .stop = KUNWIND_STOP_CAPACITY };
	u32 n = 0, proven = 0, size = seed % 5 + 1;
	u64 frames[5];

	if (whole->stop == KUNWIND_STOP_FAULT_BUDGET)
		return;
	while (n < whole->count && piece.stop == KUNWIND_STOP_CAPACITY) {
		size = min_t(u32, size, whole->count - n);
		kuw_walk_more(w, map, frames, size, &piece);
		must(piece.count <= size && piece.proven <= piece.count);
		must(!memcmp(frames, want + n, 8 * piece.count));
		proven += piece.proven;
		n += piece.count;
	}
	must(n == whole->count && proven == whole->proven);
}

static void walk_from_x86_64(const struct space *s, struct kuw_rule_cache *cache, u64 ip,
			     u64 seed)
{
	static u64 stack[FUZZ_WORDS], frames[24], want[ARRAY_SIZE(frames)];
	struct kuw_port_regs regs;
	struct kuw_result result, expected;
	struct kuw_state w;
	u32 i, failed;

	/* Every word is a stack address or a return address. */
	for (i = 0; i < FUZZ_WORDS; i++)
		stack[i] = i & 1 ? s->ra[(i * 37 + seed) % s->nr_ra] + (i & 6) :
			FUZZ_STACK + 8 * (i + 2);
	for (i = 0; i < 16; i++)
		regs.r[i] = FUZZ_STACK + 16 * i;
	regs.r[7] = FUZZ_STACK;
	regs.ip = ip;
	regs.in_syscall = seed & 1;
	kuw_port_set_window(FUZZ_STACK, sizeof(stack), (u64)stack - FUZZ_STACK);
	/* Uretprobes took the place of one return address. */
	kuw_port_uretprobe_slot = FUZZ_STACK + 8 * (seed % 16 | 1);
	kuw_port_uretprobe_ra = s->ra[seed % s->nr_ra];
	kuw_walk(s->map, cache, &regs, frames, ARRAY_SIZE(frames), &result);
	must(result.count >= 1 && result.count <= ARRAY_SIZE(frames));
	must(result.proven <= result.count);
	must(result.stop < KUNWIND_NR_STOPS);
	must(frames[0] == regs.ip);
	failed = walk_by_step(s->map, &regs, want, ARRAY_SIZE(want), &expected);
	/*
	 * A walk that begins again, or asks once for the cache, has failed more often. If it ended
	 * sooner then, it is what it was before.
	 */
	if (result.stop == KUNWIND_STOP_FAULT_BUDGET ||
	    (result.stop == KUNWIND_STOP_REG_UNKNOWN && 3 * failed > KUW_MAX_FAULTS)) {
		must(result.count <= expected.count);
		must(!memcmp(frames, want, 8 * result.count));
		return;
	}
	must(!memcmp(&result, &expected, offsetof(struct kuw_result, interrupted)));
	must(!memcmp(result.interrupted, expected.interrupted,
		     result.nr_interrupted * sizeof(result.interrupted[0])));
	must(!memcmp(frames, want, 8 * result.count));
	kuw_state_start(&w, &regs, KUW_WORD);
	walk_pieces(&w, s->map, seed, frames, &result);
}

/* The same for an i386 program, whose words have half of the bytes. */
static void walk_from_i386(const struct space *s, u64 ip, u64 seed)
{
	static u32 stack[FUZZ_WORDS];
	const u64 base = 0xffffd000;
	struct kuw_port_regs regs;
	struct kuw_result result;
	struct kuw_state w;
	u64 frames[24];
	u32 i;

	for (i = 0; i < FUZZ_WORDS; i++)
		stack[i] = i & 1 ? s->ra[(i * 37 + seed) % s->nr_ra] + (i & 6) :
			base + 4 * (i + 2);
	for (i = 0; i < 16; i++)
		regs.r[i] = base + 8 * i;
	regs.r[7] = base;
	regs.ip = ip;
	regs.in_syscall = false;
	kuw_port_set_window(base, sizeof(stack), (u64)stack - base);
	kuw_port_uretprobe_slot = base + 4 * (seed % 16 | 1);
	kuw_port_uretprobe_ra = s->ra[seed % s->nr_ra];
	kuw_walk_i386(s->map, &regs, frames, ARRAY_SIZE(frames), &result);
	must(result.count >= 1 && result.count <= ARRAY_SIZE(frames));
	must(result.proven <= result.count);
	must(result.stop < KUNWIND_NR_STOPS);
	must(frames[0] == (u32)regs.ip);
	for (i = 0; i < result.count; i++)
		must(frames[i] <= U32_MAX);
	kuw_state_start(&w, &regs, KUW_I386_WORD);
	walk_pieces(&w, s->map, seed, frames, &result);
}

static void walk_from(const struct space *s, struct kuw_rule_cache *cache, u64 ip, u64 seed)
{
	/* Either program may map a file that is for the other. */
	if (s->table->word == KUW_WORD || seed % 4 == 0)
		walk_from_x86_64(s, cache, ip, seed);
	if (s->table->word != KUW_WORD || seed % 4 == 0)
		walk_from_i386(s, ip, seed);
}

void fuzz_table(const struct host_table *t)
{
	static struct space spaces[4];
	static struct host_cache cache;
	const struct kuw_table *table = t->table;
	const u32 nr_layouts = ARRAY_SIZE(spaces);
	u64 step = table->span / 64 + 1, off;
	struct kuw_rules rules;
	u32 i, k;

	must(table->bytes == t->bytes);
	/* One cache for all address spaces. */
	memset(&cache, 0, sizeof(cache));
	for (k = 0; k < nr_layouts; k++)
		make_space(&spaces[k], table, k);
	for (off = 0; off < table->span; off += step) {
		host_rules(table, table->base + off, &rules);
		if (rules.kind == KUW_RULES_NONE)
			continue;
		check_loc(table, &rules.cfa);
		for (i = 0; i < KUW_NR_REGS; i++)
			check_loc(table, &rules.reg[i]);
		k = off / step;
		walk_from(&spaces[k % nr_layouts], host_cache(&cache),
			  begin_of(table) + off, k);
	}
	for (i = 0; i < ARRAY_SIZE(spaces[0].ra); i++)
		for (k = i & 1; k < nr_layouts; k += 2)
			walk_from(&spaces[k], host_cache(&cache),
				  spaces[k].ra[i % spaces[k].nr_ra], i);
	host_rules(table, table->base + table->span, &rules);
	must(rules.kind == KUW_RULES_NONE);
	host_rules(table, table->base - 1, &rules);
	must(rules.kind == KUW_RULES_NONE);
}
