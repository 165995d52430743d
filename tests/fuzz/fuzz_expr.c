// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* Expressions, beside an evaluator that was written without a look at core/. */
#include "equation.h"
#include "expr.h"
#include "fuzz.h"
#include "limits.h"

int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
	static u64 memory[FUZZ_WORDS];
	struct kuw_expr_regs regs = {
		.known = (1u << KUW_NR_REGS) - 1, .steps = KUW_MAX_EXPR_STEPS,
	};
	struct eq_state s = { .seed = 1 };
	struct kuw_loc loc = { .how = KUW_SAME };
	const u64 cfa = FUZZ_STACK + 64;
	const uint64_t initial = cfa;
	uint64_t want;
	u64 value;
	u32 i, stop;
	bool good;

	for (i = 0; i < FUZZ_WORDS; i++)
		memory[i] = eq_memory(&s, FUZZ_STACK + 8 * i, 8);
	for (i = 0; i < KUW_NR_REGS; i++)
		s.regs[i] = regs.r[i] = FUZZ_STACK + 24 * i + (i == 16 ? 3 : 0);
	kuw_port_set_window(FUZZ_STACK, sizeof(memory),
			    (u64)memory - FUZZ_STACK);
	if (!kuw_expr_check(data, (u32)size))
		return 0;
	stop = kuw_expr_eval(data, (u32)size, &regs, &cfa, &value);
	if (stop == KUNWIND_STOP_COMPLETE) {
		good = eq_expr(&s, data, size, &initial, &want);
		must(good && value == want);
	}
	if (kuw_expr_simplify(data, (u32)size, &loc) && loc.how == KUW_REG) {
		good = eq_expr(&s, data, size, NULL, &want);
		must(good && want == regs.r[loc.reg] + (u64)(s64)loc.off);
	}
	return 0;
}
