// SPDX-License-Identifier: GPL-2.0-only OR MIT
#include <stdio.h>
#include <stdlib.h>
#include "shadow.h"

/* No main stack is longer: RLIMIT_STACK is 8 MiB by default. */
#define MAIN_STACK_BYTES	(64u << 20)
/* Above the first stack pointer only the arguments lie. */
#define MAIN_STACK_ABOVE	256

void shadow_begin(struct shadow *s, u64 sp)
{
	s->n = 0;
	s->stacks[0].hi = ALIGN(sp + MAIN_STACK_ABOVE, 4096);
	s->stacks[0].lo = s->stacks[0].hi - MAIN_STACK_BYTES;
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

static void push(struct shadow *s, u64 slot, u64 ip, bool interrupted)
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
		.slot = slot, .ip = ip, .stack = s->stack,
		.interrupted = interrupted,
	};
	if (s->n > s->deepest)
		s->deepest = s->n;
}

void shadow_add(struct shadow *s, u64 slot, u64 ip)
{
	push(s, slot, ip, false);
}

static bool on_stack(const struct shadow *s, u32 stack, u64 sp)
{
	return sp - s->stacks[stack].lo <=
	       s->stacks[stack].hi - s->stacks[stack].lo;
}

/*
 * rsp is on another stack than before: a handler left an alternate stack by a
 * jump, so that all entries on it are gone; or it is a stack never seen.
 */
static void switch_stack(struct shadow *s, u64 sp)
{
	u32 i;

	for (i = s->stack; i > 0 && !on_stack(s, i, sp); i--)
		;
	s->lost = !on_stack(s, i, sp);
	if (s->lost)
		return;
	s->stack = i;
	s->nr_stacks = i + 1;
	while (s->n && s->entries[s->n - 1].stack > i)
		s->n--;
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
	       !top->interrupted && top->ip != ip;
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
		switch_stack(s, to_sp);
		s->held = false;
		if (s->lost)
			return;
	}
	if (insn.kind == INSN_CALL && to_sp == sp - 8) {
		s->held = false;
		push(s, to_sp, ip + insn.len, false);
		return;
	}
	if (s->held) {
		/* vfork() of a libc keeps it in a register over the call. */
		if (insn.kind == INSN_PUSH && to_sp == s->held_slot)
			push(s, to_sp, s->held_ip, false);
		if (s->held_ip == to_ip || to_sp != s->held_slot + 8)
			s->held = false;
	}
	if (to_sp > sp)
		rise(s, to_sp);
}

void shadow_sigreturn(struct shadow *s, u64 frame, u64 to_sp)
{
	u32 i;

	s->held = false;
	for (i = s->n; i > 0; i--)
		if (s->entries[i - 1].interrupted &&
		    s->entries[i - 1].slot == frame)
			break;
	if (i)
		s->n = i - 1;
	if (!on_stack(s, s->stack, to_sp) || s->lost)
		switch_stack(s, to_sp);
	rise(s, to_sp);
}

void shadow_signal(struct shadow *s, u64 frame, u64 restorer, u64 ip, u64 sp,
		   struct shadow_stack alt)
{
	/* In the signal frame the interrupted address comes behind this one's. */
	if (s->held)
		push(s, s->held_slot, s->held_ip, false);
	s->held = false;
	if (frame - alt.lo < alt.hi - alt.lo &&
	    !(s->stacks[s->stack].lo == alt.lo &&
	      s->stacks[s->stack].hi == alt.hi) &&
	    s->nr_stacks < SHADOW_MAX_STACKS) {
		s->stacks[s->stack].sp = sp;
		s->stack = s->nr_stacks++;
		s->stacks[s->stack] = alt;
	}
	push(s, frame + 8, ip, true);
	push(s, frame, restorer, false);
	s->signals++;
}

u32 shadow_count(const struct shadow *s)
{
	return s->n + s->held;
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
	return entry->interrupted ? 0 : entry->slot;
}
