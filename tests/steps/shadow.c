// SPDX-License-Identifier: GPL-2.0-only OR MIT
#include <stdio.h>
#include <stdlib.h>
#include "shadow.h"

/* One instruction that moves the stack pointer by more enters another stack. */
#define STRIDE			4096

void shadow_begin(struct shadow *s, u32 word, u64 sp, u64 lo, u64 hi)
{
	s->word = word;
	s->n = 0;
	s->stacks[0] = (struct shadow_stack){ .lo = lo, .hi = hi, .sp = sp };
	s->nr_stacks = 1;
	s->stack = 0;
	s->lost = false;
	s->held = false;
}

void shadow_free(struct shadow *s)
{
	free(s->entries);
	memset(s, 0, sizeof(*s));
}

static void push(struct shadow *s, u64 slot, u64 ip, u64 ip_at)
{
	if (s->n == s->room) {
		s->room = s->room ? 2 * s->room : 256;
		s->entries = realloc(s->entries,
				     s->room * sizeof(s->entries[0]));
		if (!s->entries) {
			perror("steps");
			exit(2);
		}
	}
	s->entries[s->n++] = (struct shadow_entry){
		.slot = slot, .ip = ip, .ip_at = ip_at, .stack = s->stack,
	};
	if (s->n > s->deepest)
		s->deepest = s->n;
}

void shadow_add(struct shadow *s, u64 slot, u64 ip)
{
	push(s, slot, ip, 0);
}

static bool on_stack(const struct shadow *s, u32 stack, u64 sp)
{
	const struct shadow_stack *in = &s->stacks[stack];
	u64 slack = in->own ? STRIDE : 0;

	return sp - in->lo + slack <= in->hi - in->lo + 2 * slack;
}

/* Return: the last entered one that @sp is on, or nr_stacks. */
static u32 find_stack(const struct shadow *s, u64 sp)
{
	u32 i;

	for (i = s->nr_stacks; i-- > 0;)
		if (on_stack(s, i, sp))
			return i;
	return s->nr_stacks;
}

/* Back on a stack that was left: all that was entered since is gone. */
static void return_to_stack(struct shadow *s, u32 stack)
{
	s->stack = stack;
	s->nr_stacks = stack + 1;
	while (s->n && s->entries[s->n - 1].stack > stack)
		s->n--;
}

static void enter_stack(struct shadow *s, u64 sp, struct shadow_stack in)
{
	s->lost = s->nr_stacks == SHADOW_MAX_STACKS;
	if (s->lost)
		return;
	s->stacks[s->stack].sp = sp;
	s->stack = s->nr_stacks++;
	s->stacks[s->stack] = in;
}

/*
 * rsp is on another stack than before. If it is one that was left, that one goes on:
 * a handler left an alternate stack by a jump, a fiber has yielded. But where a stack
 * of the program's own is left for what is not above where another one was left,
 * that is used for a call from here.
 */
static void switch_stack(struct shadow *s, u64 sp, u64 to_sp)
{
	u32 i = find_stack(s, to_sp);

	if (i == s->nr_stacks)
		enter_stack(s, sp, (struct shadow_stack){
			.lo = to_sp, .hi = to_sp, .own = true });
	else if (to_sp > s->stacks[i].sp || s->stacks[i].own ||
		 !s->stacks[s->stack].own || s->lost)
		return_to_stack(s, i);
	else
		enter_stack(s, sp, (struct shadow_stack){
			.lo = s->stacks[i].lo, .hi = s->stacks[i].sp });
	if (s->lost)
		s->lost = !on_stack(s, s->stack, to_sp);
}

/* What is known of a stack of the program's own grows as it is used. */
static void grow(struct shadow *s, u64 sp)
{
	struct shadow_stack *in = &s->stacks[s->stack];

	if (!in->own)
		return;
	in->lo = min_t(u64, in->lo, sp);
	in->hi = max_t(u64, in->hi, sp);
}

static void rise(struct shadow *s, u64 sp)
{
	while (s->n && s->entries[s->n - 1].stack == s->stack &&
	       s->entries[s->n - 1].slot < sp)
		s->n--;
}

bool shadow_pops(const struct shadow *s, struct insn insn, u64 ip, u64 sp)
{
	const struct shadow_entry *top = s->n ? &s->entries[s->n - 1] : NULL;

	/* Not the call of the next instruction, which asks where it is. */
	return insn.kind == INSN_POP && top && top->slot == sp &&
	       !top->ip_at && top->ip != ip;
}

void shadow_hold(struct shadow *s, u64 popped, u64 sp)
{
	s->n--;
	s->held = true;
	s->held_ip = popped;
	s->held_slot = sp;
}

void shadow_step(struct shadow *s, struct insn insn, u64 ip, u64 sp, u64 to_ip,
		 u64 to_sp)
{
	if (!on_stack(s, s->stack, to_sp) || s->lost) {
		switch_stack(s, sp, to_sp);
		s->held = false;
		if (s->lost)
			return;
		/* What was left below there is not used again. */
		rise(s, to_sp);
		sp = to_sp;
	}
	grow(s, to_sp);
	if (insn.kind == INSN_CALL && to_sp == sp - s->word) {
		s->held = false;
		push(s, to_sp, ip + insn.len, 0);
		return;
	}
	if (s->held) {
		/* vfork() of a libc keeps it in a register over the call, and
		 * caml_c_call reads it and goes on below it.
		 */
		if (to_sp == s->held_slot)
			push(s, to_sp, s->held_ip, 0);
		if (s->held_ip == to_ip || to_sp != s->held_slot + s->word)
			s->held = false;
	}
	if (to_sp > sp)
		rise(s, to_sp);
}

void shadow_sigreturn(struct shadow *s, u64 sp, u64 to_sp)
{
	u32 i;

	s->held = false;
	for (i = s->n; i > 0; i--)
		if (s->entries[i - 1].ip_at &&
		    s->entries[i - 1].slot == sp)
			break;
	if (i)
		s->n = i - 1;
	i = find_stack(s, to_sp);
	s->lost = i == s->nr_stacks;
	if (s->lost)
		return;
	return_to_stack(s, i);
	rise(s, to_sp);
}

void shadow_signal(struct shadow *s, const struct shadow_signal *sig)
{
	const struct shadow_stack *in = &s->stacks[s->stack], *alt = &sig->alt;

	/* In the signal frame the interrupted address comes behind this one's. */
	if (s->held)
		push(s, s->held_slot, s->held_ip, 0);
	s->held = false;
	if (sig->frame - alt->lo < alt->hi - alt->lo && !(in->lo == alt->lo && in->hi == alt->hi))
		enter_stack(s, sig->sp, *alt);
	grow(s, sig->frame);
	push(s, sig->slot, sig->ip, sig->ip_at);
	push(s, sig->frame, sig->restorer, 0);
	s->signals++;
}

u32 shadow_count(const struct shadow *s)
{
	return s->n + s->held;
}

/* Return: the last stack of the program's own, or nr_stacks. */
static u32 last_own(const struct shadow *s)
{
	u32 i;

	for (i = s->nr_stacks; i-- > 0;)
		if (s->stacks[i].own)
			return i;
	return s->nr_stacks;
}

bool shadow_leads_through_own(const struct shadow *s)
{
	return last_own(s) < s->nr_stacks;
}

u32 shadow_certain(const struct shadow *s)
{
	u32 i = s->n, own = last_own(s);

	while (i && s->entries[i - 1].stack >= own)
		i--;
	return s->n - i + s->held;
}

u64 shadow_ip(const struct shadow *s, u32 i)
{
	if (s->held && !i--)
		return s->held_ip;
	return s->entries[s->n - 1 - i].ip;
}

u64 shadow_slot(const struct shadow *s, u32 i)
{
	const struct shadow_entry *entry;

	if (s->held && !i--)
		return 0;
	entry = &s->entries[s->n - 1 - i];
	return entry->ip_at ? 0 : entry->slot;
}
