// SPDX-License-Identifier: GPL-2.0-only OR MIT
#include <stdlib.h>
#include "test.h"
#include "synth.h"

#define CANARY	0xdeadbeefdeadbeefULL

const char *stop_name(u32 stop)
{
	static const char *const names[] = {
#define STOP_NAME(number, name, sentence) [number] = #name,
		KUNWIND_STOPS(STOP_NAME)
#undef STOP_NAME
	};

	return stop < ARRAY_SIZE(names) ? names[stop] : "?";
}

int synth_compile(struct host_table *t, const struct buf *eh_frame)
{
	return synth_compile_word(t, eh_frame, KUW_WORD);
}

int synth_compile_word(struct host_table *t, const struct buf *eh_frame, u32 word)
{
	memset(t, 0, sizeof(*t));
	t->elf.segments[0] = (struct kuw_segment){
		.off = 0x1000, .vaddr = BUILD_TEXT, .filesz = BUILD_TEXT_LEN,
	};
	t->elf.nr_segments = 1;
	t->elf.word = word;
	t->elf.eh_frame = (struct kuw_range){
		.off = 0x20000, .vaddr = BUILD_EH, .len = eh_frame->len,
	};
	t->elf.eh_frame_exact = true;
	t->eh_frame = malloc(eh_frame->len ? eh_frame->len : 1);
	if (!t->eh_frame)
		return -ENOMEM;
	if (eh_frame->len)
		memcpy(t->eh_frame, eh_frame->bytes, eh_frame->len);
	return host_compile(t);
}

int synth_compile_one(struct host_table *t, struct prog instrs)
{
	struct buf b = { 0 };
	int ret;

	build_one(&b, BUILD_TEXT, BUILD_TEXT_LEN, instrs);
	ret = synth_compile(t, &b);
	buf_free(&b);
	return ret;
}

void synth_refused(struct prog instrs)
{
	struct host_table t;

	if (synth_compile_one(&t, instrs) == 0) {
		assert_int_equal(synth_rules(&t, 0x100).kind, KUW_RULES_NONE);
		assert_int_equal(t.table->nr_bad, 1);
	}
	host_table_free(&t);
}

struct kuw_rules synth_rules(const struct host_table *t, u64 off)
{
	struct kuw_rules rules;

	host_rules(t->table, BUILD_TEXT + off, &rules);
	return rules;
}

struct synth *synth_new(const struct buf *eh_frame)
{
	struct synth *s = calloc(1, sizeof(*s));

	assert_non_null(s);
	assert_int_equal(synth_compile(&s->table, eh_frame), 0);
	/* Room for one more. */
	s->map = calloc(1, sizeof(*s->map) + 2 * sizeof(s->map->mappings[0]));
	assert_non_null(s->map);
	s->map->count = 1;
	s->map->mappings[0] = (struct kuw_mapping){
		.start = SYNTH_IP(0), .end = SYNTH_IP(BUILD_TEXT_LEN),
		.bias = SYNTH_BIAS, .table = s->table.table,
		.kind = KUW_MAPPING_TABLE,
	};
	s->regs.ip = SYNTH_IP(0x10);
	s->regs.r[7] = SYNTH_SP(0);
	return s;
}

void synth_free(struct synth *s)
{
	host_table_free(&s->table);
	free(s->map);
	free(s);
}

/* What the cache knows changes nothing. */
static void walk_again(struct synth *s, u32 capacity)
{
	static u64 frames[KUNWIND_MAX_FRAMES];
	struct kuw_result result;

	kuw_walk(s->map, host_cache(&s->cache), &s->regs, frames, capacity, &result);
	assert_memory_equal(&result, &s->result, offsetof(struct kuw_result, interrupted));
	assert_memory_equal(result.interrupted, s->result.interrupted,
			    result.nr_interrupted * sizeof(result.interrupted[0]));
	assert_memory_equal(frames, s->frames, 8 * result.count);
}

void synth_walk(struct synth *s, u32 capacity)
{
	u32 i;

	kuw_port_set_window(SYNTH_STACK, sizeof(s->stack),
			    (u64)s->stack - SYNTH_STACK);
	for (i = 0; i < ARRAY_SIZE(s->frames); i++)
		s->frames[i] = CANARY;
	memset(&s->result, 0xff, sizeof(s->result));
	/* Tests change the map as they like: it is another one each time. */
	s->map->number++;
	kuw_walk(s->map, host_cache(&s->cache), &s->regs, s->frames, capacity, &s->result);
	assert_true(s->result.count <= capacity);
	assert_true(s->result.count <= KUNWIND_MAX_FRAMES);
	assert_true(s->result.proven <= s->result.count);
	assert_true(s->result.nr_interrupted <= KUW_MAX_INTERRUPTED);
	assert_true(s->result.stop < KUNWIND_NR_STOPS);
	for (i = min_t(u32, capacity, KUNWIND_MAX_FRAMES);
	     i < ARRAY_SIZE(s->frames); i++)
		assert_true(s->frames[i] == CANARY);
#ifdef KUW_PORT_INJECT
	if (kuw_port_fail_nth)
		return;
#endif
	walk_again(s, capacity);
}
