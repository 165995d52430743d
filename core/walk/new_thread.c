// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* Code that starts a thread or a fiber: see step.h. */
#include "step.h"
#include "budgets.h"

bool kuw_begins_thread(struct kuw_state *w, u64 ip)
{
	u64 before, behind;

	return w->regs.word == KUW_WORD && kuw_try_user(w, ip, 8, &behind) &&
	       behind == KUW_THREAD_EXIT &&
	       kuw_try_user(w, ip - KUW_THREAD_CALL_LEN, KUW_THREAD_CALL_LEN, &before) &&
	       before == KUW_THREAD_CALL;
}

bool kuw_begins_fiber(struct kuw_state *w, u64 ip)
{
	u64 code;

	if (!kuw_try_user(w, ip - KUW_FIBER_JUMP_LEN, KUW_FIBER_JUMP_LEN, &code) ||
	    code != KUW_FIBER_JUMP || !kuw_try_user(w, ip, 4, &code))
		return false;
	if (code == KUW_ENDBR64)
		ip += 4;
	return kuw_try_user(w, ip, 4, &code) && code == KUW_FIBER_EXIT &&
	       kuw_try_user(w, ip + KUW_FIBER_HLT_AT, 1, &code) && code == KUW_HLT;
}

/*
 * Find where a child continues after the system call that made it. That has returned 0 to
 * the child; the code of libc's clone() at @ip tests for that, and branches.
 * Return: 0 if the code at @ip does something else.
 */
static u64 child_path(struct kuw_state *w, u64 ip)
{
	struct kuw_insn insn;
	bool tested = false;
	int len;
	u32 i;

	for (i = 0; i < KUW_CHILD_INSNS; i++, ip += len) {
		len = kuw_read_insn(w, ip, &insn);
		if (len <= 0)
			return 0;
		if (insn.op == 0x85)				/* test %eax,%eax */
			tested = !insn.memory && insn.reg == KUW_RAX && insn.base == KUW_RAX;
		else if (!tested && (insn.op < 0x58 || insn.op > 0x5f))	/* pop */
			return 0;
		else if (insn.op == 0x74 || insn.op == 0x0f84)	/* je */
			return ip + len + insn.imm;
		/* jl and jne are not taken. */
		else if (tested && insn.op != 0x7c && insn.op != 0x0f8c && insn.op != 0x75 &&
			 insn.op != 0x0f85)
			return ip;
	}
	return 0;
}

bool kuw_is_new_thread(struct kuw_state *w, const struct kuw_mapping *m, u64 ip)
{
	ip = child_path(w, ip);
	return ip && (kuw_rule_kind(kuw_rule_at(m, ip)) == KUW_KIND_END ||
		      kuw_begins_thread(w, ip + KUW_THREAD_CALL_LEN));
}
