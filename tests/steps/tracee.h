/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* A program that is single-stepped: one of its threads, and what that executes. */
#ifndef STEPS_TRACEE_H
#define STEPS_TRACEE_H

#include <sys/types.h>
#include <sys/user.h>
#include "insn.h"

#define TRACEE_INSN_BITS	16

enum tracee_event {
	TRACEE_STEPPED,		/* one instruction, or the entry of a handler */
	TRACEE_SIGNALLED,	/* a signal is to be delivered by the next step */
	TRACEE_EXECED,		/* another program begins */
	TRACEE_GONE,		/* it exited or was killed */
	TRACEE_FAILED,		/* ptrace did; errno says why */
};

struct tracee_insn {
	u64 ip;
	struct insn insn;
};

/**
 * struct tracee - the program
 * @pid: its process, and its main thread
 * @word: bytes of its words: 8, or 4 if it is for i386
 * @regs: when it last stopped
 * @signal: what the next step delivers, or 0
 * @status: of wait(), at the end
 * @insns: instructions lately decoded, by address
 */
struct tracee {
	pid_t pid;
	u32 word;
	struct user_regs_struct regs;
	int signal;
	int status;
	struct tracee_insn insns[1u << TRACEE_INSN_BITS];
};

/* Start a program up to its first instruction, at addresses that do not change
 * from run to run. Its standard output goes to /dev/null. Return: 0 or -errno.
 */
int tracee_start(struct tracee *t, char **argv);
enum tracee_event tracee_step(struct tracee *t);

/* Run at full speed up to the end of the @n-th system call from here. */
enum tracee_event tracee_run(struct tracee *t, u64 n);

/*
 * Run at full speed until the main thread has started @n others; follow the last
 * of them from its first instruction on. Return: 0, or a negative errno.
 */
int tracee_thread(struct tracee *t, u32 n);

/* Run at full speed for so long. Return: 0, or a negative errno. */
int tracee_run_for(struct tracee *t, u32 milliseconds);
void tracee_kill(struct tracee *t);

/* Return: how many bytes were read. */
u64 tracee_read(const struct tracee *t, u64 addr, void *to, u64 len);

/* Return: the word there, or 0. */
u64 tracee_word(const struct tracee *t, u64 addr);

/* Return: where the program, not its loader, begins; 0 if that cannot be read. */
u64 tracee_entry(const struct tracee *t);

/* The instruction that comes next. */
struct insn tracee_insn(struct tracee *t);

/* The code may have changed. */
void tracee_forget_insns(struct tracee *t);

/* The registers as the walk takes them. */
struct kuw_port_regs tracee_port_regs(const struct tracee *t);

#endif /* STEPS_TRACEE_H */
