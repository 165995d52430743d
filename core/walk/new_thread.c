// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* Code that starts a thread or a fiber: see new_thread.h. */
#include "new_thread.h"
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
	bool tested = false;
	u64 code;
	u32 i;

	for (i = 0; i < KUW_CHILD_INSNS; i++) {
		if (!kuw_try_user(w, ip, 8, &code))
			return 0;
		if ((code & 0xffffff) == 0xc08548) {		/* test %rax,%rax */
			tested = true;
			ip += 3;
		} else if ((code & 0xffff) == 0xc085) {		/* test %eax,%eax */
			tested = true;
			ip += 2;
		} else if (!tested) {
			if ((code & 0xf8) != 0x58)		/* pop */
				return 0;
			ip++;
		} else if ((code & 0xffff) == 0x8c0f) {	/* jl, near */
			ip += 6;
		} else if ((code & 0xff) == 0x7c || (code & 0xff) == 0x75) {
			ip += 2;				/* jl, jne */
		} else if ((code & 0xff) == 0x74) {		/* je */
			return ip + 2 + (s8)(code >> 8);
		} else {
			return ip;
		}
	}
	return 0;
}

bool kuw_is_new_thread(struct kuw_state *w, const struct kuw_mapping *m, u64 ip)
{
	ip = child_path(w, ip);
	return ip && (kuw_rule_kind(kuw_rule_at(m, ip)) == KUW_KIND_END ||
		      kuw_begins_thread(w, ip + KUW_THREAD_CALL_LEN));
}
