/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* A made-up program with a function for each kind of rule. */
#ifndef HOST_MADE_PROGRAM_H
#define HOST_MADE_PROGRAM_H

#include "synth.h"

/* Each has 256 bytes; the name says how its CFA is found. */
enum program_function {
	P_RSP,		/* rsp+8 */
	P_RBP,		/* rbp+16; rbp at CFA-16 */
	P_PUSHED,	/* rsp+16; rbp at CFA-16 */
	P_SAVES,	/* rsp+64; rbx at CFA-16, rbp at CFA-24, r12 at CFA-32 */
	P_PLT,		/* the PLT's expression, rsp+8 or rsp+16 */
	P_R10,		/* r10+0, as while a stack is realigned */
	P_REALIGNED,	/* mem[rbp-8]; rbp at mem[rbp] */
	P_GIVEN_BACK,	/* rsp+8; rbp at mem[rbp], as at the end of such a function */
	P_RBX,		/* rbx+16 */
	P_SIGNAL,	/* a signal frame as glibc describes it */
	P_NO_FDE,	/* nothing is known of it */
	P_BACK,		/* rsp-8 */
	P_STILL,	/* rsp+0 */
	P_ODD,		/* rsp+12 */
	P_RA_IN_RAX,	/* the RA is in rax, CFA = rsp+8 */
	P_POPPED,	/* the RA is in rax, CFA = rsp, as in vfork() */
	P_LEAVES,	/* RA rdx, rsp r8, CFA = rdi, as in longjmp() */
	P_ENDLESS,	/* an expression that never ends */
	P_DIVIDES,	/* an expression that divides by 0 */
	P_LOSES_RBP,	/* rsp+8; rbp is undefined */
	P_LOSES_RSP,	/* rsp+8; rsp is undefined */
	P_EXPR,		/* rsp + 8 by an expression that needs evaluation */
	P_RA_EXPR,	/* rsp+8; the RA at an expression, rbx+8 */
	P_VALUE,	/* rsp+8; rbp = CFA + 16, a value */
	P_LARGE,	/* rsp + 65,535 words, rbp at CFA-128 */
	P_LARGER,	/* rsp + 65,536 words */
	P_FAR,		/* rsp+144; rbp at CFA-136 */
	P_ABOVE,	/* rsp+8; rbp at CFA+8 */
	P_EH_RETURN,	/* rsp+24; rax at CFA-16, as in _Unwind_Resume() */
	P_START,	/* the RA is undefined: the outermost frame */
	P_NR
};

#define P_LEN		0x100u
#define P_BEGIN(f)	SYNTH_IP((u64)(f) * P_LEN)
/* A return address in it. */
#define P_RA(f)		(P_BEGIN(f) + 0x10)

/* A process of that program, at P_RA(@f), its stack full of garbage. */
struct synth *program_new(enum program_function f);

/* Set words of the stack from @word on. */
#define program_push(s, word, ...) \
	program_words(s, word, (const u64[]){ __VA_ARGS__ }, \
		      sizeof((const u64[]){ __VA_ARGS__ }) / 8)
void program_words(struct synth *s, u32 word, const u64 *words, u32 count);

/* The frame that a signal leaves: its struct ucontext begins at @word. */
void program_signal(struct synth *s, u32 word, u64 ip, u64 sp, u64 bp);

/* Walk, and compare all frames and the reason. */
#define program_check(s, stop, ...) \
	program_expect(s, KUNWIND_STOP_##stop, (const u64[]){ __VA_ARGS__ }, \
		       sizeof((const u64[]){ __VA_ARGS__ }) / 8)
void program_expect(struct synth *s, u32 stop, const u64 *frames, u32 count);

#endif /* HOST_MADE_PROGRAM_H */
