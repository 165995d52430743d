// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * Steps from code for which no FDE has a rule. Nothing proves its caller. So each such step is a
 * guess and is marked as one, except from a signal frame, where the kernel knows the
 * return address, and where the code's bytes say where it is.
 */
#include "step.h"
#include "budgets.h"

/*
 * Return: whether @ra is in known code, and a table, if there is one, has a rule for it; or the
 * kernel has put it in the place of a return address.
 */
static bool plausible_ra(const struct kuw_state *w, u64 ra)
{
	const struct kuw_mapping *m = kuw_map_find(w->map, ra - 1);

	return kuw_is_trampoline(w, ra) ||
	       (m && (!kuw_has_table(w, m) ||
		      kuw_rule_kind(kuw_rule_at(m, ra - 1)) != KUW_KIND_NONE));
}

/* Step to a caller, of which @known is known. Return: KUW_STEPPED; 0 if @ip is no user's. */
static u32 step_to(struct kuw_state *w, u64 ip, u64 sp, u64 bp, u32 known)
{
	if (!kuw_is_ra(w, ip))
		return 0;
	w->regs.r[KUW_RA] = ip;
	w->regs.r[KUW_RSP] = sp;
	w->regs.r[KUW_RBP] = bp;
	w->regs.known = known;
	w->inner = false;
	return KUW_STEPPED;
}

/* The caller was found without a rule. All other registers are lost. */
static u32 guess(struct kuw_state *w, u64 ip, u64 sp, u64 bp, bool bp_known)
{
	u32 known = 1u << KUW_RSP | 1u << KUW_RA | (u32)bp_known << KUW_RBP;
	u32 ret = step_to(w, ip, sp, bp, known);

	w->guessed |= ret == KUW_STEPPED;
	return ret;
}

/*
 * In code with frame pointers, {rbp, return address} is at rbp (psABI 3.2.2). Believe it if
 * the return address is in known code; or, as between the frames of a JIT compiler, if the
 * next frame pointer is above this one. No frame is behind the process's first word: the arguments
 * and the environment are there, pointers to what is above them.
 */
static u32 guess_by_frame_pointer(struct kuw_state *w)
{
	u64 bp = w->regs.r[KUW_RBP], first = kuw_port_stack_start(), next, ra;
	u32 word = w->regs.word;

	if (!(w->regs.known & 1u << KUW_RBP) ||
	    !kuw_may_be_cfa(bp + 2 * word, w->regs.r[KUW_RSP], word) ||
	    bp < w->regs.r[KUW_RSP] || (first && bp >= first))
		return 0;
	if (!kuw_try_word(w, bp, &next) || !kuw_try_word(w, bp + word, &ra))
		return 0;
	if (!plausible_ra(w, ra) && !kuw_may_be_cfa(next, bp, word))
		return 0;
	return guess(w, ra, bp + 2 * word, next, true);
}

/* The code ahead says where the return address is. */
static u32 guess_ahead(struct kuw_state *w)
{
	struct kuw_expr_regs regs;

	if (!kuw_run_ahead(w, &regs) ||
	    !kuw_may_move(w, regs.r[KUW_RSP], KUW_BY_OTHER))
		return 0;
	w->regs = regs;
	w->regs.known &= KUW_CALLEE_SAVED | KUW_KNOWN_FAST;
	w->guessed = true;
	w->inner = false;
	return KUW_STEPPED;
}

/*
 * The frame is at an address without code, or in a function that has pushed nothing: assume
 * that only the call has happened, from known code, or from a JIT compiler's, which no map has.
 */
static u32 guess_call(struct kuw_state *w)
{
	u64 sp = w->regs.r[KUW_RSP], ra;
	u32 word = w->regs.word;

	if (!kuw_may_be_cfa(sp + word, sp, word) || !kuw_try_word(w, sp, &ra) ||
	    (!plausible_ra(w, ra) && kuw_map_find(w->map, ra - 1)) || !kuw_follows_call(w, ra))
		return guess_by_frame_pointer(w);
	return guess(w, ra, sp + word, w->regs.r[KUW_RBP], w->regs.known & 1u << KUW_RBP);
}

/*
 * The functions below prove that a frame is the outermost where CFI does not say so. The
 * psABI's mark, rbp = 0 (3.4.1), proves nothing: without frame pointers, rbp is a register
 * like any other.
 */

/* Return: whether the frame's stack pointer is near the first word of the process's stack. */
static bool is_near_start(const struct kuw_state *w)
{
	u64 first = kuw_port_stack_start(), sp = w->regs.r[KUW_RSP];

	return !(sp & (w->regs.word - 1)) && !w->map->incomplete &&
	       sp - (first - KUW_START_BYTES) < 2 * KUW_START_BYTES;
}

/*
 * Whether @word may be the current frame's return address: it is in code, and behind what may be
 * a call. On i386, a direct call of a function that only copies its return address, as ld.so makes
 * it, has returned: kuw_step_pc_thunk() leaves that function. Any other may have jumped to the
 * frame's.
 * Return: 1 if it may, 0 if not, -EFAULT if the code cannot be read.
 */
static int may_be_caller(struct kuw_state *w, u64 word)
{
	u64 before, callee, code;

	if (kuw_is_trampoline(w, word))
		return 1;
	if (!kuw_map_find(w->map, word - 1))
		return 0;
	if (!kuw_try_user(w, word - sizeof(before), sizeof(before), &before))
		return -EFAULT;
	if (!kuw_may_end_with_call(before))
		return 0;
	if (w->regs.word == KUW_WORD || !kuw_is_direct_call(before))
		return 1;
	callee = word + (s64)(s32)(before >> 32);
	if (!kuw_try_user(w, callee, KUW_PC_THUNK_LEN, &code))
		return -EFAULT;
	return !kuw_is_pc_thunk(code);
}

/* Return: whether a register may have the frame's return address, as in vfork(). */
static bool may_have_popped(struct kuw_state *w)
{
	u32 i;

	for (i = 0; i < KUW_NR_REGS; i++)
		if (i != KUW_RA && w->regs.known & 1u << i && may_be_caller(w, w->regs.r[i]))
			return true;
	return false;
}

/*
 * As may_be_caller(), for code that the map does not have: a JIT compiler's. Most words behind the
 * first one are the addresses of arguments and of the environment, whose text can look like a call.
 */
static bool may_be_unmapped_caller(struct kuw_state *w, u64 word)
{
	return word - kuw_port_stack_start() >= KUW_MAX_ARGUMENTS &&
	       !kuw_map_find(w->map, word - 1) && kuw_follows_call(w, word);
}

bool kuw_begins_stack(struct kuw_state *w)
{
	u64 at = w->regs.r[KUW_RSP], word;
	u64 end = max_t(u64, at, kuw_port_stack_start()) + KUW_START_WORDS * w->regs.word;

	if (!is_near_start(w) || (w->inner && may_have_popped(w)))
		return false;
	do {
		if (!kuw_try_word(w, at, &word) || may_be_caller(w, word) ||
		    may_be_unmapped_caller(w, word))
			return false;
		at += w->regs.word;
	} while (at < end);
	return true;
}

/*
 * Between the stack pointer and that first word, take the first word that is an address
 * after a call as the return address. musl's code before main() needs this, as it has
 * neither FDEs nor frame pointers. A function may have made room for variables, with old values
 * in it; one that has made a call has mostly filled it. So in an interrupted frame, the word must
 * be the only one.
 */
static u32 guess_near_start(struct kuw_state *w)
{
	u64 first = kuw_port_stack_start(), at = w->regs.r[KUW_RSP], word;

	if (!is_near_start(w) || (w->inner && first - at != w->regs.word))
		return 0;
	for (; at < first; at += w->regs.word)
		if (kuw_try_word(w, at, &word) && may_be_caller(w, word) == 1)
			return guess(w, word, at + w->regs.word, 0, false);
	return 0;
}

/*
 * Step from libc's clone() or clone3(). Their FDE ends before the syscall instruction, as
 * the child has another stack. In the parent, the last row still holds.
 */
static u32 step_clone(struct kuw_state *w, const struct kuw_mapping *m)
{
	u64 ip = w->regs.r[KUW_RA], insn;
	struct kuw_rule rule;
	u32 ret;

	if (!kuw_try_user(w, ip - KUW_SYSCALL_LEN, KUW_SYSCALL_LEN, &insn) ||
	    insn != (w->regs.word == KUW_WORD ? KUW_SYSCALL_INSN :
						KUW_I386_SYSCALL_INSN))
		return 0;
	if (!(w->regs.known & 1u << KUW_RAX)) {
		w->regs.unknown = true;
		return KUNWIND_STOP_REG_UNKNOWN;
	}
	if (!w->regs.r[KUW_RAX] && kuw_is_new_thread(w, m, ip))
		return KUNWIND_STOP_COMPLETE;
	rule = kuw_rule_at(m, ip - KUW_SYSCALL_LEN - 1);
	if (!kuw_rule_is_plain(rule))
		return 0;
	ret = kuw_apply(w, m->table, rule);
	w->guessed |= ret == KUW_STEPPED;
	/* That the rule holds here proves nothing, and kuw_begins_stack() has said no. */
	return ret == KUNWIND_STOP_COMPLETE ? KUNWIND_STOP_UNPROVEN : ret;
}

/* Step from the trampoline of uretprobes: the kernel knows the return address. */
static u32 step_trampoline(struct kuw_state *w)
{
	u64 slot = w->regs.r[KUW_RSP] - w->regs.word, ra;
	u32 i;

	for (i = 0; i <= KUW_TRAMPOLINE_WORDS; i++, slot += w->regs.word)
		if (kuw_port_uretprobe(slot, &ra))
			return step_to(w, ra, slot + w->regs.word, w->regs.r[KUW_RBP],
				       w->regs.known & (KUW_CALLEE_SAVED | KUW_KNOWN_FAST));
	return 0;
}

/*
 * The return address is a function's first byte, and no call is before it: a program made
 * this stack by hand, and it starts here. rbp has what the program that made it had there.
 * glibc's makecontext() also sets rbx to where the context's stack ends. A function that can return
 * to a handler has that handler's address in the place of its own, and its rbx, which may be equal.
 */
static u32 step_uncalled(struct kuw_state *w)
{
	if (!(w->regs.known & 1u << KUW_RBX))
		w->regs.unknown = true;
	else if (w->regs.r[KUW_RBX] == w->regs.r[KUW_RSP] && !w->eh_return)
		return KUNWIND_STOP_COMPLETE;
	return KUNWIND_STOP_UNPROVEN;
}

static bool is_pc_thunk(struct kuw_state *w, u64 at)
{
	u64 code;

	return kuw_try_user(w, at, KUW_PC_THUNK_LEN, &code) && kuw_is_pc_thunk(code);
}

u32 kuw_step_pc_thunk(struct kuw_state *w)
{
	u64 ip = w->regs.r[KUW_RA], sp = w->regs.r[KUW_RSP], ra;

	if (!w->inner || w->regs.word == KUW_WORD)
		return 0;
	/* Before its mov, or before its ret. */
	if (!is_pc_thunk(w, ip) && !is_pc_thunk(w, ip - (KUW_PC_THUNK_LEN - 1)))
		return 0;
	if (!kuw_try_word(w, sp, &ra))
		return KUNWIND_STOP_STACK_FAULT;
	return step_to(w, ra, sp + w->regs.word, w->regs.r[KUW_RBP], w->regs.known) ?:
	       KUNWIND_STOP_RA_BAD;
}

/*
 * Return: whether the frame's return address may be below what rbp points at, which then is an
 * outer frame's. Callers are in known code, or near, as code that a JIT compiler made.
 */
static bool may_skip_caller(struct kuw_state *w)
{
	u64 at = w->regs.r[KUW_RSP], bp = w->regs.r[KUW_RBP], word;
	u32 i;

	/* Of i386, no code ahead is followed. */
	if (w->regs.word != KUW_WORD || !(w->regs.known & 1u << KUW_RBP))
		return false;
	for (i = 0; at < bp; i++, at += w->regs.word) {
		if (i == KUW_MAX_LOCALS || !w->insns || w->faults > KUW_MAX_FAULTS)
			return true;
		/* It takes about as long as to follow an instruction. */
		w->insns--;
		if (kuw_try_word(w, at, &word) &&
		    (word - w->regs.r[KUW_RA] + KUW_JIT_REACH < 2 * KUW_JIT_REACH ||
		     kuw_map_find(w->map, word - 1) || kuw_is_trampoline(w, word)) &&
		    kuw_follows_call(w, word))
			return true;
	}
	return false;
}

/*
 * Step from memory that no file is in: a JIT compiler's code, or an address that a program has
 * called by mistake. Most such code has frame pointers, which are found sooner than the end of a
 * function.
 */
static u32 step_unmapped(struct kuw_state *w)
{
	if (w->inner)
		return guess_ahead(w) ?: guess_call(w);
	if (may_skip_caller(w))
		return guess_ahead(w) ?: guess_by_frame_pointer(w);
	return guess_by_frame_pointer(w) ?: guess_ahead(w);
}

u32 kuw_step_without_rule(struct kuw_state *w, const struct kuw_mapping *m, bool called)
{
	u32 ret;

	if (!m)
		return step_unmapped(w);
	if (m->kind == KUW_MAPPING_URETPROBE && w->inner &&
	    w->regs.r[KUW_RA] - m->start < KUW_TRAMPOLINE_BYTES)
		return step_trampoline(w);
	ret = kuw_step_sigframe(w);
	if (ret)
		return ret;
	if (kuw_begins_stack(w) || kuw_begins_thread(w, w->regs.r[KUW_RA]) ||
	    (!w->inner && kuw_begins_fiber(w, w->regs.r[KUW_RA])))
		return KUNWIND_STOP_COMPLETE;
	if (!called)
		return step_uncalled(w);
	/* The code is in start files, PLTs and assembly, which mostly push nothing. */
	if (w->inner && kuw_has_table(w, m))
		return step_clone(w, m) ?: guess_ahead(w) ?: guess_call(w) ?: guess_near_start(w);
	ret = guess_ahead(w);
	if (ret)
		return ret;
	if (w->inner)
		return guess_by_frame_pointer(w);
	if (w->regs.known & 1u << KUW_RBP && !w->regs.r[KUW_RBP])
		return guess_near_start(w) ?: KUNWIND_STOP_UNPROVEN;
	return guess_by_frame_pointer(w) ?: guess_near_start(w);
}
