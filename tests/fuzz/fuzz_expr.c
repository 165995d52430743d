// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * Expressions, next to an evaluator that was written without a look at core/: each
 * as one of x86-64 and as one of i386.
 */
#include "equation.h"
#include "expr.h"
#include "fuzz.h"
#include "budgets.h"

/* Where the stack of an i386 program may be. */
#define STACK_32	0xffffd000ULL

static void evaluate(const u8 *data, size_t size, u32 word, u64 base)
{
	static u64 memory[FUZZ_WORDS];
	struct kuw_expr_regs regs = {
		.known = (1u << KUW_NR_REGS) - 1, .steps = KUW_MAX_EXPR_STEPS,
		.word = word,
	};
	struct eq_state s = { .seed = 1, .word = word };
	struct kuw_loc loc = { .how = KUW_SAME };
	const u64 cfa = base + 64;
	const uint64_t initial = cfa;
	uint64_t want;
	u64 value;
	u32 i, stop;
	bool good;

	for (i = 0; i < FUZZ_WORDS; i++)
		memory[i] = eq_memory(&s, base + 8 * i, 8);
	for (i = 0; i < KUW_NR_REGS; i++)
		s.regs[i] = regs.r[i] = base + 24 * i + (i == 16 ? 3 : 0);
	kuw_port_set_window(base, sizeof(memory), (u64)memory - base);
	if (!kuw_expr_check(data, (u32)size, word))
		return;
	stop = kuw_expr_eval(data, (u32)size, &regs, &cfa, &value);
	if (!stop) {
		good = eq_expr(&s, data, size, &initial, &want);
		must(good && value == want);
	}
	if (kuw_expr_simplify(data, (u32)size, word, &loc) && loc.how == KUW_REG) {
		value = regs.r[loc.reg] + (u64)(s64)loc.off;
		good = eq_expr(&s, data, size, NULL, &want);
		must(good && want == (word == KUW_WORD ? value : (u32)value));
	}
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
	evaluate(data, size, KUW_WORD, FUZZ_STACK);
	evaluate(data, size, 4, STACK_32);
	return 0;
}
