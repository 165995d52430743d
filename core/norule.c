// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * Code that no FDE covers. Nothing proves its caller, so that all but a signal
 * frame, the outermost frame and what the kernel itself knows is a guess, and
 * marked as one.
 */
#include "step.h"
#include "limits.h"

bool kuw_rule_holds(u64 pc)
{
	u64 ip = pc + 1, before;

	return ip & (KUW_FDE_ALIGN - 1) ||
	       !kuw_read_user(ip - sizeof(before), sizeof(before), &before) ||
	       kuw_may_end_with_call(before);
}

/* Return: whether a return address lies in code that is known to be there. */
static bool plausible_ra(const struct kuw_state *w, u64 ra)
{
	const struct kuw_mapping *m = kuw_map_find(w->map, ra - 1);
	u64 off;

	if (!m)
		return false;
	if (m->kind != KUW_MAPPING_TABLE || m->table->word != w->regs.word)
		return true;
	off = ra - 1 - m->bias - m->table->base;
	return off < m->table->span &&
	       kuw_rule_kind(kuw_table_find(m->table, off)) != KUW_KIND_NONE;
}

/* A caller found without a rule: marked as a guess, and nothing else is known. */
static u32 guess(struct kuw_state *w, u64 ip, u64 sp, u64 bp, bool bp_known)
{
	struct kuw_frame f;
	u32 ret = kuw_commit(&f, ip, sp, bp, KUW_PORT_USER_END);

	if (ret != KUW_STEPPED)
		return ret;
	kuw_store_frame(w, &f);
	w->regs.known = 1u << KUW_RSP | 1u << KUW_RA | (u32)bp_known << KUW_RBP;
	w->guessed = true;
	w->inner = false;
	return KUW_STEPPED;
}

/*
 * Without an FDE: {rbp, return address} may lie at rbp, as psABI 3.2.2 has it for
 * code with frame pointers. Believed if the return address is known code, or,
 * as between the frames of a JIT compiler, if the next frame pointer lies above.
 */
static u32 guess_by_frame_pointer(struct kuw_state *w, u32 why)
{
	u64 bp = w->regs.r[KUW_RBP], next, ra;
	u32 word = w->regs.word;

	if (!(w->regs.known & 1u << KUW_RBP) ||
	    kuw_check_cfa(bp + 2 * word, w->regs.r[KUW_RSP], word) ||
	    bp < w->regs.r[KUW_RSP])
		return why;
	if (kuw_read_word(bp, word, &next) || kuw_read_word(bp + word, word, &ra))
		return why;
	if (!plausible_ra(w, ra) && (next <= bp || kuw_check_cfa(next, bp, word)))
		return why;
	if (guess(w, ra, bp + 2 * word, next, true) != KUW_STEPPED)
		return why;
	return KUW_STEPPED;
}

/*
 * A call of an address where there is no code, or a function that has pushed
 * nothing: only the call has happened.
 */
static u32 guess_call(struct kuw_state *w, u32 why)
{
	u64 sp = w->regs.r[KUW_RSP], ra;
	u32 word = w->regs.word;

	if (kuw_check_cfa(sp + word, sp, word) || kuw_read_word(sp, word, &ra) ||
	    !plausible_ra(w, ra))
		return guess_by_frame_pointer(w, why);
	return guess(w, ra, sp + word, w->regs.r[KUW_RBP],
		     w->regs.known & 1u << KUW_RBP);
}

/* Where the kernel stored the interrupted registers, if the frame is a restorer. */
enum restorer {
	RESTORER_NONE,
	RESTORER_X86_64,	/* rsp points at struct ucontext */
	RESTORER_I386,		/* esp points at the signal's number */
	RESTORER_I386_RT,	/* the same, and two pointers follow */
};

static enum restorer restorer_at(const struct kuw_state *w)
{
	u64 ip = w->regs.r[KUW_RA], lo, hi;

	if (!kuw_read_user(ip, 8, &lo) ||
	    w->regs.r[KUW_RSP] & (w->regs.word - 1))
		return RESTORER_NONE;
	if (w->regs.word == KUW_WORD)
		return lo == KUW_SIGRETURN_LO && kuw_read_user(ip + 8, 1, &hi) &&
		       hi == KUW_SIGRETURN_HI ? RESTORER_X86_64 : RESTORER_NONE;
	if (lo == KUW_I386_SIGRETURN)
		return RESTORER_I386;
	return (lo & ~(0xffULL << 56)) == KUW_I386_RT_SIGRETURN ?
		RESTORER_I386_RT : RESTORER_NONE;
}

/* The frame that the kernel pushed for a signal, when the restorer has no CFI. */
static u32 step_sigframe(struct kuw_state *w, enum restorer restorer)
{
	static const u8 off_64[KUW_NR_REGS] = KUW_SIGFRAME_OFF;
	static const u8 off_32[KUW_NR_REGS] = KUW_I386_SIGCONTEXT_OFF;
	const u8 *off = restorer == RESTORER_X86_64 ? off_64 : off_32;
	u64 at = w->regs.r[KUW_RSP], sp = at, r[KUW_NR_REGS];
	u32 i;

	if (restorer == RESTORER_I386) {
		at += KUW_I386_SIGFRAME_SC;
	} else if (restorer == RESTORER_I386_RT) {
		if (kuw_read_word(at + KUW_I386_RT_UCONTEXT, KUW_I386_WORD, &at))
			return KUNWIND_STOP_STACK_FAULT;
		at += KUW_I386_RT_SC;
	}
	for (i = 0; i < KUW_NR_REGS; i++) {
		r[i] = 0;
		/* i386 has fewer registers. */
		if (off[i] && kuw_read_word(at + off[i], w->regs.word, &r[i]))
			return KUNWIND_STOP_STACK_FAULT;
	}
	if (r[KUW_RSP] <= sp && !w->switches--)
		return KUNWIND_STOP_CFA_BACK;
	if (!kuw_can_be_interrupted(r[KUW_RA]))
		return KUNWIND_STOP_RA_BAD;
	memcpy(w->regs.r, r, sizeof(r));
	w->regs.known = KUW_KNOWN_ALL;
	w->inner = true;
	return KUW_STEPPED;
}

/*
 * libc's clone() and clone3(): their FDE ends where the syscall instruction
 * begins, as the child has another stack. The parent's is as the last row says; the
 * child, which the system call returns 0 to, has no caller.
 */
static u32 guess_at_clone(struct kuw_state *w, const struct kuw_mapping *m, u32 why)
{
	u64 ip = w->regs.r[KUW_RA], insn, off;
	struct kuw_rule rule;
	u32 ret;

	off = ip - KUW_SYSCALL_LEN - 1 - m->bias - m->table->base;
	if (off >= m->table->span ||
	    !kuw_read_user(ip - KUW_SYSCALL_LEN, KUW_SYSCALL_LEN, &insn) ||
	    insn != (w->regs.word == KUW_WORD ? KUW_SYSCALL_INSN :
						KUW_I386_SYSCALL_INSN))
		return why;
	rule = kuw_table_find(m->table, off);
	if (kuw_rule_kind(rule) > KUW_KIND_RBP)
		return why;
	if (!(w->regs.known & 1u << KUW_RAX)) {
		w->regs.unknown = true;
		return KUNWIND_STOP_REG_UNKNOWN;
	}
	if (!w->regs.r[KUW_RAX])
		return KUNWIND_STOP_COMPLETE;
	ret = kuw_apply_full(w, m->table, rule);
	w->guessed = true;
	return ret;
}

/* The innermost frame is the trampoline of uretprobes: the kernel knows the rest. */
static u32 step_trampoline(struct kuw_state *w, u32 why)
{
	u64 slot = w->regs.r[KUW_RSP] - w->regs.word, ra;
	struct kuw_frame f;
	u32 i;

	for (i = 0; i <= KUW_TRAMPOLINE_WORDS; i++, slot += w->regs.word) {
		if (!kuw_port_uretprobe(slot, &ra))
			continue;
		if (kuw_commit(&f, ra, slot + w->regs.word, w->regs.r[KUW_RBP],
			       KUW_PORT_USER_END) != KUW_STEPPED)
			return why;
		kuw_store_frame(w, &f);
		w->regs.known &= KUW_CALLEE_SAVED | KUW_KNOWN_FAST;
		w->inner = false;
		return KUW_STEPPED;
	}
	return why;
}

/*
 * No rule says how to go on. @m is the mapping of the frame's code, or NULL.
 * The psABI marks the outermost frame by a frame pointer of 0 (3.4.1); threads
 * begin so in libc, programs in ld.so, and neither has an FDE there.
 */
u32 kuw_step_without_rule(struct kuw_state *w, const struct kuw_mapping *m,
			  u32 why)
{
	enum restorer restorer;
	bool known_code;
	u64 vaddr;
	u32 ret;

	if (!m)
		return w->inner ? guess_call(w, why) :
				  guess_by_frame_pointer(w, why);
	if (m->kind == KUW_MAPPING_URETPROBE && w->inner)
		return step_trampoline(w, why);
	restorer = restorer_at(w);
	if (restorer)
		return step_sigframe(w, restorer);
	known_code = m->kind == KUW_MAPPING_TABLE && m->table->word == w->regs.word;
	if (w->inner && known_code) {
		ret = guess_at_clone(w, m, why);
		if (ret != why)
			return ret;
	}
	if (w->regs.known & 1u << KUW_RBP && !w->regs.r[KUW_RBP]) {
		if (!w->inner)
			return KUNWIND_STOP_COMPLETE;
		vaddr = w->regs.r[KUW_RA] - m->bias;
		if (known_code &&
		    vaddr - m->table->entry < KUW_ENTRY_BYTES)
			return KUNWIND_STOP_COMPLETE;
	} else if (w->inner && known_code) {
		/* Start files, PLTs and assembly, most of which push nothing. */
		return guess_call(w, why);
	}
	return guess_by_frame_pointer(w, why);
}
