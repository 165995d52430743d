// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * Code without an FDE, and a stack: the walk follows the code, whatever it is. The input's
 * first byte says where in its code the frame is, and whether it was interrupted; a third of the
 * rest is the stack.
 */
#include "budgets.h"
#include "fuzz.h"
#include "step.h"

#define CODE	0x110000ULL
/* The corpus has addresses in code that was here: they count as those above. */
#define OLD_CODE	0x10000ULL
#define STACK	0x700000ULL

static const u8 *bytes;
static u64 code_len, stack_len;

/* What is not there can be read in none of its parts. */
static int read_word(u64 addr, u64 *word)
{
	const u8 *at;
	u64 left;

	/* The port is asked for aligned words. */
	must(addr % sizeof(*word) == 0);
	if (addr - CODE < code_len) {
		at = bytes + (addr - CODE);
		left = code_len - (addr - CODE);
	} else if (addr - STACK < stack_len) {
		at = bytes + code_len + (addr - STACK);
		left = stack_len - (addr - STACK);
	} else {
		return -EFAULT;
	}
	*word = 0;
	memcpy(word, at, left < sizeof(*word) ? left : sizeof(*word));
	if (addr - STACK < stack_len && *word - OLD_CODE <= code_len)
		*word += CODE - OLD_CODE;
	return 0;
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
	static const struct kuw_map none;
	struct kuw_state w = { .map = &none, .faults = 0, .insns = KUW_MAX_INSNS };
	struct kuw_expr_regs regs;
	u32 i;

	if (size < 2)
		return 0;
	bytes = data + 1;
	stack_len = (size - 1) / 3;
	code_len = size - 1 - stack_len;
	kuw_port_set_window(0, 0, 0);
	kuw_port_elsewhere = read_word;
	w.inner = data[0] & 1;
	w.regs.word = KUW_WORD;
	w.regs.known = (1u << KUW_NR_REGS) - 1;
	for (i = 0; i < KUW_NR_REGS; i++)
		w.regs.r[i] = STACK + 8 * i;
	w.regs.r[KUW_RSP] = STACK;
	w.regs.r[KUW_RA] = CODE + data[0];
	if (kuw_run_ahead(&w, &regs)) {
		must(kuw_may_be_ra(regs.r[KUW_RA], KUW_PORT_USER_END));
		must(regs.known & 1u << KUW_RSP && regs.r[KUW_RSP] % KUW_WORD == 0);
		/* Only behind a call can the caller be on another stack. */
		must(!w.inner || regs.r[KUW_RSP] > STACK);
		must(!(regs.known >> KUW_NR_REGS));
	}
	must(w.insns <= KUW_MAX_INSNS && KUW_MAX_INSNS - w.insns <= KUW_MAX_AHEAD);
	must(w.regs.r[KUW_RSP] == STACK);
	return 0;
}
