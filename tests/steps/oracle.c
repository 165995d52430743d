// SPDX-License-Identifier: GPL-2.0-only OR MIT
#include <stdio.h>
#include <sys/syscall.h>
#include "oracle.h"

/* No main stack is longer: RLIMIT_STACK is 8 MiB by default. */
#define MAIN_STACK_BYTES	(64u << 20)
/* Above the first stack pointer only the arguments lie, or a thread's own. */
#define STACK_ABOVE		256

/* glibc's _start, which a stripped program does not name, is shorter. */
#define START_BYTES		64
#define HLT			0xf4

/* In struct rt_sigframe, from its start: a word, then the struct ucontext. */
#define FRAME_ALT_SP	(8 + 16)
#define FRAME_ALT_SIZE	(8 + 32)
#define FRAME_RSP	(8 + 40 + 15 * 8)
#define FRAME_RIP	(8 + 40 + 16 * 8)

/*
 * Signal frames of i386: with SA_SIGINFO, words that point at what follows, a struct siginfo and a
 * struct ucontext with the struct sigcontext_32; else a word, the signal's number, and that struct.
 */
#define I386_UCONTEXT		(16 + 128)
#define I386_UCONTEXT_AT	12
#define I386_RT_CONTEXT		(I386_UCONTEXT + 20)
#define I386_CONTEXT		8
/* In the struct sigcontext_32. */
#define I386_ESP		28
#define I386_EIP		56

#define I386_NR_SIGRETURN	119
#define I386_NR_RT_SIGRETURN	173
#define I386_NR_SIGALTSTACK	186

/* Return: the address of frame @i by the shadow stack, 0 behind the last. */
static u64 wanted(const struct oracle *o, u32 i)
{
	if (!i)
		return o->tracee.regs.rip;
	return i <= shadow_count(&o->shadow) ? shadow_ip(&o->shadow, i - 1) : 0;
}

/* Return: how many of @n frames are those of the shadow stack. */
static u32 matching(const struct oracle *o, const u64 *frames, u32 n)
{
	u32 i;

	for (i = 0; i < n && frames[i] == wanted(o, i); i++)
		;
	return i;
}

/*
 * The walk is wrong behind frame @at: was it misled? Functions that leave for
 * another frame overwrite a return address that they will not use.
 */
static enum kind why_wrong(const struct oracle *o, const struct kuw_result *r,
			   u32 at)
{
	u32 i, n = min_t(u32, at + 1, shadow_count(&o->shadow));
	u64 slot;

	for (i = 0; i < n; i++) {
		slot = shadow_slot(&o->shadow, i);
		if (slot && tracee_word(&o->tracee, slot) !=
		    shadow_ip(&o->shadow, i))
			return KIND_REPLACED;
	}
	return at + 1 < r->proven ? KIND_WRONG : KIND_WRONG_GUESS;
}

/* Return: whether a call may have left @ip as its return address. */
static bool follows_call(const struct oracle *o, u64 ip)
{
	u8 bytes[INSN_MAX_BYTES];
	struct insn insn;
	u32 len;

	for (len = 2; len < 9; len++) {
		if (tracee_read(&o->tracee, ip - len, bytes, len) != len)
			return true;
		insn = insn_decode(bytes, len, o->tracee.word);
		if (insn.kind == INSN_CALL && insn.len == len)
			return true;
	}
	return false;
}

/* Return: whether the program's first function, as glibc has it, left @ip: only hlt follows. */
static bool is_start(const struct oracle *o, u64 ip)
{
	u8 byte = 0;

	tracee_read(&o->tracee, ip, &byte, 1);
	return ip - tracee_entry(&o->tracee) < START_BYTES && byte == HLT;
}

/*
 * Return: whether a stack of which the beginning is not known may end at @ip: code that makes
 * one writes down a return address that no call left. Or it is the program's first, or its
 * function is named.
 */
static bool is_own_end(struct oracle *o, u64 ip)
{
	struct place place;
	u32 i;

	if (!follows_call(o, ip) || is_start(o, ip))
		return true;
	peer_use(&o->peer, &o->tracee, o->maps.number);
	place = peer_place(&o->peer, ip);
	for (i = 0; i < o->nr_ends; i++)
		if (!strcmp(place.function, o->ends[i]))
			return true;
	return false;
}

/*
 * On a stack that the program made: the frames since it was entered are certain.
 * What is behind them is not, but a walk may end in two places only.
 */
static enum kind compare_own(struct oracle *o, const struct kuw_result *r,
			     u32 same, u32 *at)
{
	u32 certain = shadow_certain(&o->shadow) + 1;
	u64 end = wanted(o, shadow_count(&o->shadow));

	if (same < min_t(u32, r->count, certain))
		return why_wrong(o, r, *at);
	if (r->count < certain)
		return r->stop == KUNWIND_STOP_COMPLETE ? KIND_CUT : KIND_SHORT;
	if (r->stop != KUNWIND_STOP_COMPLETE || o->frames[r->count - 1] == end)
		return KIND_RIGHT;
	*at = r->count - 1;
	return is_own_end(o, o->frames[*at]) ? KIND_OWN_END : KIND_CUT;
}

/* Walk, and say how the answer differs. @at: the last right frame. */
static enum kind compare(struct oracle *o, struct kuw_result *r, u32 *at)
{
	u32 want = shadow_count(&o->shadow) + 1, same;
	struct kuw_port_regs regs = tracee_port_regs(&o->tracee);
	bool own = shadow_leads_through_own(&o->shadow);

	if (o->tracee.word == 8)
		kuw_walk(o->maps.space.map, host_cache(&o->cache), &regs, o->frames,
			 ARRAY_SIZE(o->frames), r);
	else
		kuw_walk_i386(o->maps.space.map, &regs, o->frames, ARRAY_SIZE(o->frames), r);
	same = matching(o, o->frames, r->count);
	*at = same ? same - 1 : 0;
	if (own)
		return compare_own(o, r, same, at);
	if (r->stop == KUNWIND_STOP_COMPLETE &&
	    o->frames[r->count - 1] != wanted(o, want - 1))
		return KIND_CUT;
	if (same < min_t(u32, r->count, want))
		return why_wrong(o, r, *at);
	if (r->count > want)
		return KIND_LONG;
	if (want > ARRAY_SIZE(o->frames))
		return r->stop == KUNWIND_STOP_MAX_FRAMES ? KIND_RIGHT :
							    KIND_SHORT;
	if (r->count < want)
		return KIND_SHORT;
	if (r->stop != KUNWIND_STOP_COMPLETE)
		return KIND_END;
	if (r->proven < r->count) {
		*at = r->proven - 1;
		return KIND_GUESS;
	}
	return KIND_RIGHT;
}

static enum verdict judge(struct oracle *o, const struct kuw_result *r, u32 at)
{
	u32 want = shadow_count(&o->shadow) + 1;
	u32 n = peer_walk(&o->peer, o->peer_frames, NULL,
			  ARRAY_SIZE(o->peer_frames));
	u32 same = matching(o, o->peer_frames, n);

	if (same == n && n == want)
		return VERDICT_RIGHT;
	if (same != at + 1)
		return VERDICT_WRONG;
	if (at + 1 == r->count || at + 1 == n)
		return r->count == n ? VERDICT_SAME : VERDICT_WRONG;
	return o->frames[at + 1] == o->peer_frames[at + 1] ? VERDICT_SAME :
							     VERDICT_WRONG;
}

static void report(struct oracle *o, enum kind kind, const struct kuw_result *r,
		   u32 at)
{
	struct finding f = {
		.kind = kind,
		.stop = r->stop,
		.depth = at,
		.number = o->steps,
		.want = wanted(o, at + 1),
		.got = at + 1 < r->count ? o->frames[at + 1] : 0,
	};

	peer_use(&o->peer, &o->tracee, o->maps.number);
	f.no_rule = !peer_has_rule(&o->peer, o->frames[at] - !!at);
	f.place = peer_place(&o->peer, o->frames[at]);
	if (kind < KIND_GUESS && tally_wants_verdict(&o->tally, &f)) {
		f.judged = true;
		f.verdict = judge(o, r, at);
	}
	tally_add(&o->tally, &f);
}

/* Handlers may change where they return to. */
static void follow_contexts(struct oracle *o)
{
	struct shadow_entry *entry;
	u32 i;

	for (i = 0; i < o->shadow.n; i++) {
		entry = &o->shadow.entries[i];
		if (entry->ip_at)
			entry->ip = tracee_word(&o->tracee, entry->ip_at);
	}
}

static void check(struct oracle *o)
{
	struct kuw_result r;
	enum kind kind;
	u32 at;

	if (o->shadow.lost) {
		o->lost++;
		return;
	}
	if (!view_near(&o->view, &o->tracee, &o->shadow)) {
		o->lost++;
		return;
	}
	o->checked++;
	o->own += shadow_leads_through_own(&o->shadow);
	kind = compare(o, &r, &at);
	if (kind == KIND_RIGHT)
		return;
	/* Was it a word that was written from afar, or another thread's mmap? */
	view_all(&o->view, &o->tracee, &o->shadow);
	follow_contexts(o);
	if (maps_update(&o->maps, o->tracee.pid) < 0)
		return;
	kind = compare(o, &r, &at);
	if (kind != KIND_RIGHT)
		report(o, kind, &r, at);
}

static void begin_shadow(struct oracle *o, u64 sp)
{
	u64 hi = ALIGN(sp + STACK_ABOVE, 4096), lo = hi - MAIN_STACK_BYTES;
	u64 start, end;

	/* The main stack grows, and is far from all else. */
	if (o->thread && maps_find(o->tracee.pid, sp - 1, &start, &end))
		lo = max_t(u64, lo, start);
	shadow_begin(&o->shadow, o->tracee.word, sp, lo, hi);
}

static int begin(struct oracle *o)
{
	int ret = maps_update(&o->maps, o->tracee.pid);

	if (ret < 0)
		return ret;
	tracee_forget_insns(&o->tracee);
	begin_shadow(o, o->tracee.regs.rsp);
	o->alt = (struct shadow_stack){ 0 };
	o->execs++;
	return view_all(&o->view, &o->tracee, &o->shadow) ? 0 : -ENOMEM;
}

/*
 * Begin in the middle: the frames, and where their return addresses lie, are
 * libdw's, once. Return: whether that is a plain stack of calls up to its end.
 */
static bool adopt(struct oracle *o)
{
	u32 i, n;
	u64 slot;

	peer_use(&o->peer, &o->tracee, o->maps.number);
	n = peer_walk(&o->peer, o->peer_frames, o->peer_sps,
		      KUNWIND_MAX_FRAMES);
	if (n < 2 || n == KUNWIND_MAX_FRAMES)
		return false;
	o->shadow.n = 0;
	for (i = n - 1; i > 0; i--) {
		slot = o->peer_sps[i] - o->tracee.word;
		if (tracee_word(&o->tracee, slot) != o->peer_frames[i] ||
		    slot < o->tracee.regs.rsp)
			return false;
		shadow_add(&o->shadow, slot, o->peer_frames[i]);
	}
	return view_all(&o->view, &o->tracee, &o->shadow);
}

/* Return: 0, or a negative errno. */
static int skip(struct oracle *o)
{
	u64 sp = o->tracee.regs.rsp;
	u32 tries;
	int ret;

	if (tracee_run(&o->tracee, o->skip) != TRACEE_STEPPED)
		return -ENODATA;
	begin_shadow(o, sp);
	for (tries = 0; tries < 100; tries++) {
		ret = maps_update(&o->maps, o->tracee.pid);
		if (ret < 0)
			return ret;
		if (adopt(o))
			return 0;
		if (tracee_run(&o->tracee, 1) != TRACEE_STEPPED)
			return -ENODATA;
	}
	return -ENODATA;
}

/* Begin in the middle, where nothing is known of the stack. */
static int begin_open(struct oracle *o)
{
	struct shadow_stack *stack = &o->shadow.stacks[0];
	int ret = 0;

	if (o->skip && tracee_run(&o->tracee, o->skip) != TRACEE_STEPPED)
		return -ENODATA;
	if (o->after)
		ret = tracee_run_for(&o->tracee, o->after);
	if (ret)
		return ret;
	ret = begin(o);
	stack->own = true;
	stack->lo = o->tracee.regs.rsp;
	stack->hi = stack->lo;
	return ret;
}

static bool may_map(u64 number)
{
	switch (number) {
	case SYS_mmap:
	case SYS_mprotect:
	case SYS_munmap:
	case SYS_mremap:
	case SYS_pkey_mprotect:
	case SYS_shmat:
	case SYS_shmdt:
		return true;
	}
	return false;
}

/* @was made a system call. Return: 0, or -errno if the program's mappings cannot be read. */
static int after_syscall(struct oracle *o, const struct user_regs_struct *was)
{
	const struct tracee *t = &o->tracee;
	int ret;

	/* The frame of a handler without SA_SIGINFO does not say where that is. */
	if (t->word == 4 && was->rax == I386_NR_SIGALTSTACK && was->rbx && !t->regs.rax) {
		o->alt.lo = tracee_word(t, was->rbx);
		o->alt.hi = o->alt.lo + tracee_word(t, was->rbx + 8);
	}
	if (t->word == 8 && !may_map(was->rax))
		return 0;
	ret = maps_update(&o->maps, t->pid);
	tracee_forget_insns(&o->tracee);
	return ret < 0 ? ret : 0;
}

/* Return: what the kernel has put at the stack pointer, if that is a signal's frame. */
static struct shadow_signal frame_of(const struct oracle *o)
{
	const struct tracee *t = &o->tracee;
	u64 at = t->regs.rsp;
	bool rt = tracee_word(t, at + I386_UCONTEXT_AT) == at + I386_UCONTEXT;
	u64 context = at + (rt ? I386_RT_CONTEXT : I386_CONTEXT);
	struct shadow_signal sig = { .frame = at, .restorer = tracee_word(t, at) };

	if (t->word == 8) {
		sig.slot = at + 8;
		sig.ip_at = at + FRAME_RIP;
		sig.sp = tracee_word(t, at + FRAME_RSP);
		sig.alt.lo = tracee_word(t, at + FRAME_ALT_SP);
		sig.alt.hi = sig.alt.lo + tracee_word(t, at + FRAME_ALT_SIZE);
	} else {
		/* Without SA_SIGINFO, the restorer pops the signal's number. */
		sig.slot = rt ? at + 4 : context;
		sig.ip_at = context + I386_EIP;
		sig.sp = tracee_word(t, context + I386_ESP);
		sig.alt = o->alt;
	}
	sig.ip = tracee_word(t, sig.ip_at);
	return sig;
}

/* Return: whether a handler of the signal that interrupted @was begins now. */
static bool enter_handler(struct oracle *o, const struct user_regs_struct *was)
{
	struct shadow_signal sig = frame_of(o);

	/* Back on the system call, if it is to be made again. */
	if (sig.sp != was->rsp || (sig.ip != was->rip && sig.ip != was->rip - 2))
		return false;
	shadow_signal(&o->shadow, &sig);
	view_all(&o->view, &o->tracee, &o->shadow);
	return true;
}

static bool is_sigreturn(u64 number, u32 word)
{
	return word == 8 ? number == SYS_rt_sigreturn :
			   number == I386_NR_SIGRETURN || number == I386_NR_RT_SIGRETURN;
}

/* The instruction at @was was executed. */
static int advance(struct oracle *o, struct insn insn,
		   const struct user_regs_struct *was)
{
	const struct user_regs_struct *now = &o->tracee.regs;

	o->steps++;
	if (insn.kind == INSN_SYSCALL && is_sigreturn(was->rax, o->tracee.word)) {
		shadow_sigreturn(&o->shadow, was->rsp, now->rsp);
		return 0;
	}
	if (shadow_pops(&o->shadow, insn, was->rip, was->rsp))
		shadow_hold(&o->shadow, tracee_word(&o->tracee, was->rsp),
			    was->rsp);
	shadow_step(&o->shadow, insn, was->rip, was->rsp, now->rip, now->rsp);
	return insn.kind == INSN_SYSCALL ? after_syscall(o, was) : 0;
}

/* Return: 1, or 2 if nothing has changed; 0 at the program's end, or -errno. */
static int step(struct oracle *o)
{
	struct user_regs_struct was = o->tracee.regs;
	const struct user_regs_struct *now = &o->tracee.regs;
	struct insn insn = tracee_insn(&o->tracee);
	bool delivered = o->tracee.signal;
	int ret = 0;

	switch (tracee_step(&o->tracee)) {
	case TRACEE_STEPPED:
		if (!delivered || !enter_handler(o, &was))
			ret = advance(o, insn, &was);
		break;
	case TRACEE_SIGNALLED:
		/* Before the instruction, or behind it? */
		if (now->rip == was.rip && now->rsp == was.rsp)
			return 2;
		ret = advance(o, insn, &was);
		break;
	case TRACEE_EXECED:
		o->steps++;
		ret = begin(o);
		break;
	case TRACEE_GONE:
		o->steps++;
		return 0;
	case TRACEE_FAILED:
		return -errno;
	}
	return ret ? ret : 1;
}

int oracle_run(struct oracle *o, char **argv)
{
	int ret = tracee_start(&o->tracee, argv);

	if (ret)
		return ret;
	o->view.maps = &o->maps;
	if (o->thread)
		ret = tracee_thread(&o->tracee, o->thread);
	if (!ret)
		ret = begin(o);
	if (!ret && (o->open || o->after))
		ret = begin_open(o);
	else if (!ret && o->skip)
		ret = skip(o);
	if (ret)
		goto kill;
	ret = 1;
	do {
		if (ret == 1 && o->steps % o->every == 0)
			check(o);
		ret = step(o);
	} while (ret > 0 && (!o->max || o->steps < o->max));
	if (!ret)
		return 0;
kill:
	tracee_kill(&o->tracee);
	return ret < 0 ? ret : 0;
}

void oracle_free(struct oracle *o)
{
	tally_free(&o->tally);
	peer_free(&o->peer);
	maps_free(&o->maps);
	view_free(&o->view);
	shadow_free(&o->shadow);
}
