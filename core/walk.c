// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * The walk. Its state is {ip, sp, bp}: nearly all rules need no more, and the
 * loop that applies them keeps the three in machine registers. What is rare
 * (expressions, signal frames, code without an FDE) goes through step(), which
 * can do everything. A rule that needs a register which the loop has not
 * followed makes the walk begin again, following all of them.
 */
#include "walk.h"
#include "memo.h"
#include "expr.h"
#include "limits.h"
#include "map.h"
#include "table.h"

/* What a step returns beside a stop reason. */
#define STEPPED		(~0u)

/* The part of the state that every walk follows. */
struct frame {
	u64 ip;
	u64 sp;
	u64 bp;
};

/**
 * struct walk - a walk with everything it may need
 * @map: the address map
 * @regs: all registers, and which of them are known
 * @inner: the frame was interrupted, not left by a call: its ip is the next
 *	instruction, not the one behind a call
 * @first: it is the innermost frame
 * @guessed: the last step had no rule
 * @replaced: the last step found the frame's true ip, not a frame
 * @switches: downward steps left
 */
struct walk {
	const struct kuw_map *map;
	struct kuw_expr_regs regs;
	bool inner;
	bool first;
	bool guessed;
	bool replaced;
	u32 switches;
};

#define KNOWN_FAST	(1u << KUW_RBP | 1u << KUW_RSP | 1u << KUW_RA)
#define KNOWN_ALL	((1u << KUW_NR_REGS) - 1)

/* Return: 0 if a frame may have this CFA, else the stop reason. */
static __always_inline u32 check_cfa(u64 cfa, u64 sp)
{
	/* Whether it is a user address shows when the return address is read. */
	if (unlikely(cfa & (KUW_WORD - 1)))
		return KUNWIND_STOP_CFA_BAD;
	if (unlikely(cfa <= sp))
		return KUNWIND_STOP_CFA_BACK;
	return 0;
}

/* Make the caller the current frame. Return: STEPPED, or the stop reason. */
static __always_inline u32 commit(struct frame *f, u64 ip, u64 sp, u64 bp)
{
	/* Null is no user address either. */
	if (unlikely(ip - 1 >= KUW_PORT_USER_END - 1))
		return KUNWIND_STOP_RA_BAD;
	f->ip = ip;
	f->sp = sp;
	f->bp = bp;
	return STEPPED;
}

/*
 * Apply a rule of KUW_KIND_RSP or KUW_KIND_RBP: @cfa bytes from @base to the CFA,
 * @saved bytes from there to rbp, 0 if it is unchanged.
 */
static __always_inline u32 apply(u64 base, s64 cfa, s64 saved, struct frame *f)
{
	u64 at = base + cfa, ra, bp = f->bp;
	u32 stop = check_cfa(at, f->sp);

	if (unlikely(stop))
		return stop;
	if (unlikely(kuw_port_read(at + KUW_RA_OFF, &ra)))
		return KUNWIND_STOP_STACK_FAULT;
	if (saved && unlikely(kuw_port_read(at + saved, &bp)))
		return KUNWIND_STOP_STACK_FAULT;
	return commit(f, ra, at, bp);
}

static void load_frame(const struct walk *w, struct frame *f)
{
	f->ip = w->regs.r[KUW_RA];
	f->sp = w->regs.r[KUW_RSP];
	f->bp = w->regs.r[KUW_RBP];
}

static void store_frame(struct walk *w, const struct frame *f)
{
	w->regs.r[KUW_RA] = f->ip;
	w->regs.r[KUW_RSP] = f->sp;
	w->regs.r[KUW_RBP] = f->bp;
}

/* Return: whether a return address lies in code that is known to be there. */
static bool plausible_ra(const struct walk *w, u64 ra)
{
	const struct kuw_mapping *m = kuw_map_find(w->map, ra - 1);
	u64 off;

	if (!m)
		return false;
	if (m->kind != KUW_MAPPING_TABLE)
		return true;
	off = ra - 1 - m->bias - m->table->base;
	return off < m->table->span &&
	       kuw_rule_kind(kuw_table_find(m->table, off)) != KUW_KIND_NONE;
}

/* A caller found without a rule: marked as a guess, and nothing else is known. */
static u32 guess(struct walk *w, u64 ip, u64 sp, u64 bp, bool bp_known)
{
	struct frame f;
	u32 ret = commit(&f, ip, sp, bp);

	if (ret != STEPPED)
		return ret;
	store_frame(w, &f);
	w->regs.known = 1u << KUW_RSP | 1u << KUW_RA | (u32)bp_known << KUW_RBP;
	w->guessed = true;
	w->inner = false;
	return STEPPED;
}

/*
 * Without an FDE: {rbp, return address} may lie at rbp, as psABI 3.2.2 has it for
 * code with frame pointers. Believed if the return address is known code, or,
 * as between the frames of a JIT compiler, if the next frame pointer lies above.
 */
static u32 guess_by_frame_pointer(struct walk *w, u32 why)
{
	u64 bp = w->regs.r[KUW_RBP], next, ra;

	if (!(w->regs.known & 1u << KUW_RBP) ||
	    check_cfa(bp + 2 * KUW_WORD, w->regs.r[KUW_RSP]) ||
	    bp < w->regs.r[KUW_RSP])
		return why;
	if (kuw_port_read(bp, &next) || kuw_port_read(bp + KUW_WORD, &ra))
		return why;
	if (!plausible_ra(w, ra) && (next <= bp || check_cfa(next, bp)))
		return why;
	if (guess(w, ra, bp + 2 * KUW_WORD, next, true) != STEPPED)
		return why;
	return STEPPED;
}

/*
 * A call of an address where there is no code, or a function that has pushed
 * nothing: only the call has happened.
 */
static u32 guess_call(struct walk *w, u32 why)
{
	u64 sp = w->regs.r[KUW_RSP], ra;

	if (check_cfa(sp + KUW_WORD, sp) || kuw_port_read(sp, &ra) ||
	    !plausible_ra(w, ra))
		return guess_by_frame_pointer(w, why);
	return guess(w, ra, sp + KUW_WORD, w->regs.r[KUW_RBP], true);
}

/*
 * The frame that the kernel pushed for a signal, when the restorer has no CFI:
 * rsp points at the struct ucontext.
 */
static u32 step_sigframe(struct walk *w)
{
	static const u8 off[KUW_NR_REGS] = KUW_SIGFRAME_OFF;
	u64 at = w->regs.r[KUW_RSP], r[KUW_NR_REGS];
	struct frame f;
	u32 i, ret;

	for (i = 0; i < KUW_NR_REGS; i++)
		if (kuw_port_read(at + off[i], &r[i]))
			return KUNWIND_STOP_STACK_FAULT;
	if (r[KUW_RSP] <= at && !w->switches--)
		return KUNWIND_STOP_CFA_BACK;
	ret = commit(&f, r[KUW_RA], r[KUW_RSP], r[KUW_RBP]);
	if (ret != STEPPED)
		return ret;
	memcpy(w->regs.r, r, sizeof(r));
	w->regs.known = KNOWN_ALL;
	w->inner = true;
	return STEPPED;
}

/* Return: whether the frame's own ip is a signal restorer. */
static bool at_restorer(const struct walk *w)
{
	u64 ip = w->regs.r[KUW_RA], lo, hi;

	return kuw_read_user(ip, 8, &lo) && lo == KUW_SIGRETURN_LO &&
	       kuw_read_user(ip + 8, 1, &hi) && hi == KUW_SIGRETURN_HI &&
	       !(w->regs.r[KUW_RSP] & (KUW_WORD - 1));
}

/*
 * No rule says how to go on. @m is the mapping of the frame's code, or NULL.
 * The psABI marks the outermost frame by a frame pointer of 0 (3.4.1); threads
 * begin so in libc, programs in ld.so, and neither has an FDE there.
 */
static u32 step_without_rule(struct walk *w, const struct kuw_mapping *m,
			     u32 why)
{
	u64 vaddr;

	if (!m)
		return w->first ? guess_call(w, why) :
				  guess_by_frame_pointer(w, why);
	if (at_restorer(w))
		return step_sigframe(w);
	if (w->regs.known & 1u << KUW_RBP && !w->regs.r[KUW_RBP]) {
		if (!w->inner)
			return KUNWIND_STOP_COMPLETE;
		vaddr = w->regs.r[KUW_RA] - m->bias;
		if (m->kind == KUW_MAPPING_TABLE &&
		    vaddr - m->table->entry < KUW_ENTRY_BYTES)
			return KUNWIND_STOP_COMPLETE;
	} else if (w->first && m->kind == KUW_MAPPING_TABLE) {
		/* Start files, PLTs and assembly, most of which push nothing. */
		return guess_call(w, why);
	}
	return guess_by_frame_pointer(w, why);
}

/* Return: 0 and the value of a loc, or the stop reason. */
static u32 loc_value(struct walk *w, const struct kuw_table *table,
		     const struct kuw_loc *loc, const u64 *cfa, u64 *value)
{
	const u8 *expr;
	u64 reg = 0;
	u32 len, stop;

	if (loc->how == KUW_REG || loc->how == KUW_MEM || loc->how == KUW_PLT) {
		if (!(w->regs.known & 1u << loc->reg)) {
			w->regs.unknown = true;
			return KUNWIND_STOP_REG_UNKNOWN;
		}
		reg = w->regs.r[loc->reg] + loc->off;
	}
	switch (loc->how) {
	case KUW_AT_CFA:
		return kuw_read_user(*cfa + loc->off, KUW_WORD, value) ?
			0 : KUNWIND_STOP_STACK_FAULT;
	case KUW_CFA_PLUS:
		*value = *cfa + loc->off;
		return 0;
	case KUW_REG:
		*value = reg;
		return 0;
	case KUW_MEM:
		if (!kuw_read_user(reg, KUW_WORD, value))
			return KUNWIND_STOP_STACK_FAULT;
		*value += loc->arg;
		return 0;
	case KUW_PLT:
		if ((w->regs.r[KUW_RA] & 15) >= loc->arg)
			reg += KUW_WORD;
		*value = reg;
		return 0;
	case KUW_EXPR:
	case KUW_EXPR_MEM:
		expr = kuw_table_expr(table, loc, &len);
		if (!expr)
			return KUNWIND_STOP_RULE_BAD;
		stop = kuw_expr_eval(expr, len, &w->regs, cfa, value);
		if (!stop && loc->how == KUW_EXPR_MEM &&
		    !kuw_read_user(*value, KUW_WORD, value))
			return KUNWIND_STOP_STACK_FAULT;
		return stop;
	}
	return KUNWIND_STOP_RULE_BAD;
}

/* Apply a rule in full. All is computed before any register changes. */
static u32 apply_ext(struct walk *w, const struct kuw_table *table,
		     const struct kuw_ext *ext)
{
	u32 known = w->regs.known, i, stop;
	const struct kuw_loc *loc;
	u64 r[KUW_NR_REGS], cfa, old_sp = w->regs.r[KUW_RSP];
	bool has_ra = false, has_sp = false, may_stay = false;
	struct frame f;

	for (i = 1; i <= ext->nr_locs; i++) {
		loc = &ext->locs[i];
		if (loc->target == KUW_RA && loc->how == KUW_UNDEF)
			return KUNWIND_STOP_COMPLETE;
		has_sp |= loc->target == KUW_RSP;
		/* vfork() has popped the return address; an interrupted
		 * function can have, and its caller cannot once more.
		 */
		may_stay |= loc->target == KUW_RA && loc->how == KUW_REG &&
			    w->inner;
	}
	stop = loc_value(w, table, &ext->locs[0], NULL, &cfa);
	if (stop)
		return stop;
	if (!ext->signal) {
		stop = check_cfa(cfa, old_sp);
		/* longjmp()'s CFA is its jmp_buf; where rsp goes is checked. */
		if (stop == KUNWIND_STOP_CFA_BACK &&
		    (has_sp || (may_stay && cfa == old_sp)))
			stop = 0;
		if (stop)
			return stop;
		/* A call saves no other registers than these. */
		known &= KUW_CALLEE_SAVED;
	}
	memcpy(r, w->regs.r, sizeof(r));
	r[KUW_RSP] = cfa;
	known |= 1u << KUW_RSP;
	for (i = 1; i <= ext->nr_locs; i++) {
		loc = &ext->locs[i];
		known &= ~(1u << loc->target);
		if (loc->how == KUW_UNDEF)
			continue;
		stop = loc_value(w, table, loc, &cfa, &r[loc->target]);
		/* The walk can go on without most of them. */
		if (!stop)
			known |= 1u << loc->target;
		else if (loc->target == KUW_RA || loc->target == KUW_RSP ||
			 stop == KUNWIND_STOP_EXPR_BUDGET)
			return stop;
		has_ra |= loc->target == KUW_RA;
	}
	if (!has_ra && !kuw_read_user(cfa + KUW_RA_OFF, KUW_WORD, &r[KUW_RA]))
		return KUNWIND_STOP_STACK_FAULT;
	if (r[KUW_RSP] <= old_sp && !(ext->signal && w->switches--) &&
	    !(may_stay && r[KUW_RSP] == old_sp))
		return KUNWIND_STOP_CFA_BACK;
	stop = commit(&f, r[KUW_RA], r[KUW_RSP], r[KUW_RBP]);
	if (stop != STEPPED)
		return stop;
	memcpy(w->regs.r, r, sizeof(r));
	w->regs.known = known | 1u << KUW_RA;
	w->inner = ext->signal;
	return STEPPED;
}

/* Apply a frequent rule, and follow the callee-saved registers as well. */
static u32 apply_full(struct walk *w, const struct kuw_table *table,
		      struct kuw_rule rule)
{
	static const u8 regs[KUW_NR_SAVES] = KUW_SAVED_REGS;
	const struct kuw_saves *saves = kuw_table_at(table, table->saves_off);
	struct frame f;
	u32 i, ret, known = w->regs.known & (KUW_CALLEE_SAVED | KNOWN_FAST);

	if (kuw_rule_kind(rule) == KUW_KIND_RBP && !(known & 1u << KUW_RBP)) {
		w->regs.unknown = true;
		return KUNWIND_STOP_REG_UNKNOWN;
	}
	load_frame(w, &f);
	ret = apply(kuw_rule_kind(rule) == KUW_KIND_RBP ? f.bp : f.sp,
		    kuw_rule_cfa(rule), kuw_rule_rbp(rule), &f);
	if (ret != STEPPED)
		return ret;
	store_frame(w, &f);
	saves += kuw_rule_saves(rule);
	for (i = 0; i < KUW_NR_SAVES; i++) {
		if (!saves->word[i])
			continue;
		known |= 1u << regs[i];
		if (kuw_port_read(f.sp + saves->word[i] * KUW_WORD,
				  &w->regs.r[regs[i]]))
			known &= ~(1u << regs[i]);
	}
	w->regs.known = known;
	w->inner = false;
	return STEPPED;
}

/* The vsyscall page has no file; each of its entries is called and returns. */
static u32 step_vsyscall(struct walk *w)
{
	struct frame f;
	u32 ret;

	load_frame(w, &f);
	ret = apply(f.sp, KUW_WORD, 0, &f);
	store_frame(w, &f);
	w->regs.known &= KUW_CALLEE_SAVED | KNOWN_FAST;
	w->inner = false;
	return ret;
}

/*
 * A function with a uretprobe returns to the kernel's trampoline; the kernel knows
 * where to from there, by the place of the return address.
 */
static bool restore_ra(struct walk *w)
{
	const struct kuw_mapping *m = kuw_map_find(w->map, w->regs.r[KUW_RA]);
	u64 ra;

	if (w->inner || !m || m->kind != KUW_MAPPING_URETPROBE)
		return false;
	if (!kuw_port_uretprobe(w->regs.r[KUW_RSP] + KUW_RA_OFF, &ra))
		return false;
	/* Back into the trampoline would have no end. */
	if (ra - 1 >= KUW_PORT_USER_END - 1 || ra - m->start < m->end - m->start)
		return false;
	w->regs.r[KUW_RA] = ra;
	w->replaced = true;
	return true;
}

/* Do whatever the current frame needs. Return: STEPPED, or the stop reason. */
static noinline u32 step(struct walk *w)
{
	u64 pc = w->regs.r[KUW_RA] - !w->inner, off;
	const struct kuw_mapping *m = kuw_map_find(w->map, pc);
	struct kuw_rule rule;
	u32 ret;

	w->guessed = false;
	w->replaced = false;
	w->regs.unknown = false;
	if (!m) {
		if (restore_ra(w))
			return STEPPED;
		if (pc - KUW_VSYSCALL < KUW_VSYSCALL_LEN)
			ret = step_vsyscall(w);
		else
			ret = step_without_rule(w, NULL, w->map->incomplete ?
						KUNWIND_STOP_INCOMPLETE_MAP :
						KUNWIND_STOP_NO_MAPPING);
	} else if (m->kind != KUW_MAPPING_TABLE) {
		ret = step_without_rule(w, m, KUNWIND_STOP_NO_TABLE);
	} else {
		off = pc - m->bias - m->table->base;
		rule = off < m->table->span ? kuw_table_find(m->table, off) :
					      m->table->rules[0];
		switch (kuw_rule_kind(rule)) {
		case KUW_KIND_RSP:
		case KUW_KIND_RBP:
			ret = apply_full(w, m->table, rule);
			break;
		case KUW_KIND_EXT:
			ret = apply_ext(w, m->table,
					kuw_table_ext(m->table, kuw_rule_ext(rule)));
			break;
		default:
			ret = step_without_rule(w, m, KUNWIND_STOP_NO_RULE);
			break;
		}
	}
	w->first = false;
	return ret;
}

static void begin(struct walk *w, const struct kuw_map *map,
		  const struct kuw_port_regs *regs)
{
	w->map = map;
	kuw_port_fill_regs(regs, w->regs.r);
	w->regs.r[KUW_RA] = kuw_port_ip(regs);
	w->regs.known = KNOWN_ALL;
	w->regs.unknown = false;
	w->regs.steps = KUW_MAX_EXPR_STEPS;
	w->switches = KUW_MAX_STACK_SWITCHES;
	w->inner = true;
	w->first = true;
	w->guessed = false;
}

/* All registers are followed: the way of the few stacks that need them. */
static noinline u32 walk_full(struct walk *w, u64 *frames, u32 limit,
			      struct kuw_result *result)
{
	u32 n = 1, ret;

	for (;;) {
		ret = step(w);
		if (ret != STEPPED)
			break;
		if (w->replaced)
			n--;
		if (n == limit) {
			ret = KUNWIND_STOP_CAPACITY;
			break;
		}
		if (w->guessed && !result->proven)
			result->proven = n;
		frames[n++] = w->regs.r[KUW_RA];
	}
	result->count = n;
	return ret;
}

/*
 * What the loop knows of the mapping that it is in: the addresses that its table
 * covers, and where offset 0 of the table is.
 */
struct cover {
	u64 lo;
	u64 len;
	u64 text;
	const struct kuw_table *table;
	const struct kuw_block *blocks;
};

/* Return: whether a table covers @pc. */
static noinline bool find_cover(const struct kuw_map *map, u64 pc,
				struct cover *in)
{
	const struct kuw_mapping *m = kuw_map_find(map, pc);

	if (!m || m->kind != KUW_MAPPING_TABLE)
		return false;
	in->table = m->table;
	in->blocks = kuw_table_blocks(in->table);
	in->text = m->bias + in->table->base;
	/* Modulo 2^64: the table may begin below the mapping. */
	in->lo = (s64)(m->start - in->text) > 0 ? m->start : in->text;
	in->len = min_t(u64, m->end - in->lo, in->text + in->table->span - in->lo);
	return pc - in->lo < in->len;
}

/*
 * Fill the memo's @entry for @pc. Return: false if the rule is not one that the
 * loop can apply.
 */
static noinline bool fill_entry(const struct kuw_map *map, u64 pc, u16 epoch,
				struct cover *in, struct kuw_memo_entry *entry)
{
	struct kuw_rule rule;

	if (pc - in->lo >= in->len && !find_cover(map, pc, in))
		return false;
	rule = kuw_table_look(in->table, in->blocks, pc - in->text);
	if (kuw_rule_kind(rule) > KUW_KIND_RBP)
		return false;
	entry->pc = pc;
	entry->cfa = kuw_rule_cfa(rule);
	entry->rbp = kuw_rule_rbp(rule);
	entry->tag = epoch + (kuw_rule_kind(rule) == KUW_KIND_RBP);
	return true;
}

void kuw_walk(const struct kuw_map *map, struct kuw_memo *memo,
	      const struct kuw_port_regs *regs, u64 *frames, u32 capacity,
	      struct kuw_result *result)
{
	u64 *out = frames, *last, pc;
	struct cover in = { .len = 0 };
	struct kuw_memo_entry *entry;
	struct frame f;
	struct walk w;
	u32 ret, epoch, by_rbp;

	result->count = 0;
	result->proven = 0;
	result->stop = KUNWIND_STOP_CAPACITY;
	if (!capacity)
		return;
	last = frames + min_t(u32, capacity, KUNWIND_MAX_FRAMES);
	f.ip = kuw_port_ip(regs);
	f.sp = kuw_port_sp(regs);
	f.bp = kuw_port_bp(regs);
	pc = f.ip;
	*out++ = f.ip;
	w.map = NULL;
	epoch = kuw_memo_use(memo, map);
	for (;;) {
		for (;;) {
			entry = kuw_memo_slot(memo, pc);
			by_rbp = entry->tag - epoch;
			if (unlikely(entry->pc != pc || by_rbp > 1)) {
				if (!fill_entry(map, pc, epoch, &in, entry))
					break;
				by_rbp = entry->tag - epoch;
			}
			ret = apply(by_rbp ? f.bp : f.sp, entry->cfa, entry->rbp,
				    &f);
			if (unlikely(ret != STEPPED))
				goto out;
			if (unlikely(out == last)) {
				ret = KUNWIND_STOP_CAPACITY;
				goto out;
			}
			*out++ = f.ip;
			/* A return address can be the first byte of the next
			 * function after a call that does not return.
			 */
			pc = f.ip - 1;
		}
		if (!w.map || out == frames + 1)
			begin(&w, map, regs);
		if (out > frames + 1) {
			store_frame(&w, &f);
			w.regs.known = KNOWN_FAST;
			w.inner = pc == f.ip;
			w.first = false;
		}
		ret = step(&w);
		if (w.regs.unknown ||
		    (ret == STEPPED && !(w.regs.known & 1u << KUW_RBP))) {
			/* A register is needed that is not followed: begin again. */
			begin(&w, map, regs);
			result->proven = 0;
			ret = walk_full(&w, frames, last - frames, result);
			out = frames + result->count;
			goto out;
		}
		if (ret != STEPPED)
			goto out;
		if (w.replaced)
			out--;
		if (out == last) {
			ret = KUNWIND_STOP_CAPACITY;
			goto out;
		}
		if (w.guessed && !result->proven)
			result->proven = out - frames;
		load_frame(&w, &f);
		*out++ = f.ip;
		pc = f.ip - !w.inner;
	}
out:
	result->count = out - frames;
	if (!result->proven)
		result->proven = result->count;
	result->stop = ret;
	if (ret == KUNWIND_STOP_CAPACITY && result->count == KUNWIND_MAX_FRAMES)
		result->stop = KUNWIND_STOP_MAX_FRAMES;
}
