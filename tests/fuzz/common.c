// SPDX-License-Identifier: GPL-2.0-only OR MIT
#include <stdlib.h>
#include "fuzz.h"
#include "memo.h"

static u8 *copy_of(const u8 *bytes, u32 len)
{
	u8 *copy = malloc(len ? len : 1);

	must(copy);
	if (len)
		memcpy(copy, bytes, len);
	return copy;
}

int fuzz_compile(struct host_table *t, const u8 *eh_frame, u32 len,
		 const u8 *hdr, u32 hdr_len)
{
	memset(t, 0, sizeof(*t));
	t->elf.file_size = 1 << 20;
	t->elf.segments[0] = (struct kuw_segment){
		.off = 0x1000, .vaddr = FUZZ_TEXT, .filesz = FUZZ_TEXT_LEN,
	};
	t->elf.nr_segments = 1;
	t->elf.eh_frame = (struct kuw_range){ 0x20000, FUZZ_EH, len };
	t->elf.eh_frame_exact = true;
	t->eh_frame = copy_of(eh_frame, len);
	if (hdr_len) {
		t->elf.eh_frame_hdr = (struct kuw_range){
			0x40000, FUZZ_EH + 0x20000, hdr_len,
		};
		t->eh_frame_hdr = copy_of(hdr, hdr_len);
	}
	return host_compile(t, HOST_EXACT);
}

static void check_loc(const struct kuw_table *table, const struct kuw_loc *loc)
{
	u32 len;

	must(loc->how < KUW_NR_HOWS);
	if (loc->how == KUW_EXPR || loc->how == KUW_EXPR_MEM)
		must(kuw_table_expr(table, loc, &len));
	if (loc->how == KUW_REG || loc->how == KUW_MEM || loc->how == KUW_PLT)
		must(loc->reg < KUW_NR_REGS);
}

static void walk_from(const struct host_table *t, u64 vaddr)
{
	static u64 room[16];
	struct kuw_map *map = (struct kuw_map *)room;
	static u64 stack[FUZZ_WORDS], frames[64];
	static struct kuw_memo memo;
	static u64 number;
	struct kuw_port_regs regs;
	struct kuw_result result;
	u64 bias = FUZZ_BIAS;
	u32 i;

	map->number = ++number;
	map->count = 1;
	map->mappings[0] = (struct kuw_mapping){
		.start = t->table->base + bias,
		.end = t->table->base + bias + t->table->span + 0x1000,
		.bias = bias, .table = t->table, .kind = KUW_MAPPING_TABLE,
	};
	/* Every word is a stack address or a return address. */
	for (i = 0; i < FUZZ_WORDS; i++)
		stack[i] = i & 1 ? vaddr + bias + i * 37 % 0x1000 :
			FUZZ_STACK + 8 * (i + 2);
	for (i = 0; i < 16; i++)
		regs.r[i] = FUZZ_STACK + 16 * i;
	regs.r[7] = FUZZ_STACK;
	regs.ip = vaddr + bias;
	kuw_port_set_window(FUZZ_STACK, sizeof(stack), (u64)stack - FUZZ_STACK);
	kuw_walk(map, &memo, &regs, frames, ARRAY_SIZE(frames), &result);
	must(result.count >= 1 && result.count <= ARRAY_SIZE(frames));
	must(result.proven <= result.count);
	must(result.stop < KUNWIND_NR_STOPS);
	must(frames[0] == regs.ip);
}

void fuzz_table(const struct host_table *t)
{
	const struct kuw_table *table = t->table;
	u64 step = table->span / 64 + 1, off;
	struct kuw_rules rules;
	u32 i;

	must(table->bytes == t->bytes);
	for (off = 0; off < table->span; off += step) {
		kuw_table_rules(table, table->base + off, &rules);
		if (rules.kind == KUW_RULES_NONE)
			continue;
		check_loc(table, &rules.cfa);
		for (i = 0; i < KUW_NR_REGS; i++)
			check_loc(table, &rules.reg[i]);
		walk_from(t, table->base + off);
	}
	kuw_table_rules(table, table->base + table->span, &rules);
	must(rules.kind == KUW_RULES_NONE);
	kuw_table_rules(table, table->base - 1, &rules);
	must(rules.kind == KUW_RULES_NONE);
}
