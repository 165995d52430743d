// SPDX-License-Identifier: GPL-2.0-only OR MIT
#include <elf.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/personality.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include "tracee.h"

/* What cs is in a program for i386: __USER32_CS. */
#define I386_CS	0x23

#define OPTIONS	(PTRACE_O_TRACEEXEC | PTRACE_O_EXITKILL | PTRACE_O_TRACESYSGOOD)

static void become(char **argv)
{
	int null = open("/dev/null", O_WRONLY);

	if (null >= 0)
		dup2(null, STDOUT_FILENO);
	if (ptrace(PTRACE_TRACEME, 0, NULL, NULL) ||
	    personality(ADDR_NO_RANDOMIZE) < 0)
		_exit(127);
	raise(SIGSTOP);
	execvp(argv[0], argv);
	fprintf(stderr, "steps: %s: %s\n", argv[0], strerror(errno));
	_exit(127);
}

static bool is_exec(int status)
{
	return WIFSTOPPED(status) &&
	       status >> 8 == (SIGTRAP | PTRACE_EVENT_EXEC << 8);
}

static int get_regs(struct tracee *t)
{
	int ret = ptrace(PTRACE_GETREGS, t->pid, NULL, &t->regs) ? -errno : 0;

	t->word = t->regs.cs == I386_CS ? 4 : 8;
	return ret;
}

int tracee_start(struct tracee *t, char **argv)
{
	memset(t, 0, sizeof(*t));
	fflush(NULL);
	t->pid = fork();
	if (t->pid < 0)
		return -errno;
	if (!t->pid)
		become(argv);
	if (waitpid(t->pid, &t->status, __WALL) < 0)
		return -errno;
	if (!WIFSTOPPED(t->status))
		return -EPERM;
	if (ptrace(PTRACE_SETOPTIONS, t->pid, NULL, OPTIONS) ||
	    ptrace(PTRACE_CONT, t->pid, NULL, NULL) ||
	    waitpid(t->pid, &t->status, __WALL) < 0)
		return -errno;
	if (!is_exec(t->status))
		return -ENOENT;
	return get_regs(t);
}

/* Go on until the next stop. */
static enum tracee_event resume(struct tracee *t, int request)
{
	long deliver = t->signal;
	siginfo_t info;
	int sig;

	t->signal = 0;
	/* ESRCH: killed while it was stopped. */
	if (ptrace(request, t->pid, NULL, deliver) && errno != ESRCH)
		return TRACEE_FAILED;
	if (waitpid(t->pid, &t->status, __WALL) < 0)
		return TRACEE_FAILED;
	if (!WIFSTOPPED(t->status))
		return TRACEE_GONE;
	if (get_regs(t))
		return errno == ESRCH ? TRACEE_GONE : TRACEE_FAILED;
	if (is_exec(t->status))
		return TRACEE_EXECED;
	sig = WSTOPSIG(t->status);
	if (sig == SIGTRAP || sig == (SIGTRAP | 0x80))
		return TRACEE_STEPPED;
	/* A group-stop has no siginfo, and delivers nothing. */
	if (!ptrace(PTRACE_GETSIGINFO, t->pid, NULL, &info))
		t->signal = sig;
	return TRACEE_SIGNALLED;
}

enum tracee_event tracee_step(struct tracee *t)
{
	return resume(t, PTRACE_SINGLESTEP);
}

enum tracee_event tracee_run(struct tracee *t, u64 n)
{
	enum tracee_event event = TRACEE_STEPPED;

	/* One stop at its start and one at its end. */
	for (n *= 2; n; n -= event == TRACEE_STEPPED) {
		event = resume(t, PTRACE_SYSCALL);
		if (event == TRACEE_GONE || event == TRACEE_FAILED)
			break;
	}
	return event;
}

int tracee_thread(struct tracee *t, u32 n)
{
	unsigned long tid = 0;
	int status;

	if (ptrace(PTRACE_SETOPTIONS, t->pid, NULL, OPTIONS | PTRACE_O_TRACECLONE))
		return -errno;
	while (n) {
		switch (resume(t, PTRACE_CONT)) {
		case TRACEE_GONE:
		case TRACEE_FAILED:
			return -ENODATA;
		default:
			break;
		}
		if (t->status >> 8 != (SIGTRAP | PTRACE_EVENT_CLONE << 8))
			continue;
		if (ptrace(PTRACE_GETEVENTMSG, t->pid, NULL, &tid) ||
		    waitpid((pid_t)tid, &status, __WALL) < 0)
			return -errno;
		if (ptrace(PTRACE_DETACH, --n ? (pid_t)tid : t->pid, NULL, NULL))
			return -errno;
	}
	t->pid = (pid_t)tid;
	return ptrace(PTRACE_SETOPTIONS, t->pid, NULL, OPTIONS) ? -errno : get_regs(t);
}

int tracee_run_for(struct tracee *t, u32 milliseconds)
{
	const struct timespec time = {
		.tv_sec = milliseconds / 1000,
		.tv_nsec = milliseconds % 1000 * 1000000L,
	};
	int sig = 0;

	for (;;) {
		if (ptrace(PTRACE_CONT, t->pid, NULL, sig == SIGTRAP ? 0 : sig))
			return -errno;
		/* This stops the thread, and is not delivered. */
		if (!sig && (nanosleep(&time, NULL) ||
			     syscall(SYS_tkill, t->pid, SIGSTOP)))
			return -errno;
		if (waitpid(t->pid, &t->status, __WALL) < 0 ||
		    !WIFSTOPPED(t->status))
			return -ENODATA;
		sig = WSTOPSIG(t->status);
		if (sig == SIGSTOP)
			break;
	}
	return get_regs(t);
}

void tracee_kill(struct tracee *t)
{
	kill(t->pid, SIGKILL);
	while (waitpid(t->pid, &t->status, __WALL) >= 0 &&
	       WIFSTOPPED(t->status))
		;
}

u64 tracee_read(const struct tracee *t, u64 addr, void *to, u64 len)
{
	struct iovec local = { to, len };
	struct iovec remote = { (void *)addr, len };
	ssize_t n = process_vm_readv(t->pid, &local, 1, &remote, 1, 0);

	return n < 0 ? 0 : (u64)n;
}

u64 tracee_word(const struct tracee *t, u64 addr)
{
	u64 word = 0;

	return tracee_read(t, addr, &word, t->word) == t->word ? word : 0;
}

u64 tracee_entry(const struct tracee *t)
{
	u64 entry = 0, type = 0, value = 0;
	char path[32];
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/auxv", t->pid);
	file = fopen(path, "re");
	if (!file)
		return 0;
	while (!entry && fread(&type, t->word, 1, file) && fread(&value, t->word, 1, file))
		if (type == AT_ENTRY)
			entry = value;
	fclose(file);
	return entry;
}

struct insn tracee_insn(struct tracee *t)
{
	u64 ip = t->regs.rip, n;
	struct tracee_insn *known =
		&t->insns[ip & ((1u << TRACEE_INSN_BITS) - 1)];
	u8 bytes[INSN_MAX_BYTES];

	if (known->ip == ip)
		return known->insn;
	n = tracee_read(t, ip, bytes, sizeof(bytes));
	/* The next page may be missing. */
	if (!n)
		n = tracee_read(t, ip, bytes, min_t(u64, sizeof(bytes),
						    -ip & 0xfff));
	known->ip = ip;
	known->insn = insn_decode(bytes, (u32)n, t->word);
	return known->insn;
}

void tracee_forget_insns(struct tracee *t)
{
	memset(t->insns, 0, sizeof(t->insns));
}

struct kuw_port_regs tracee_port_regs(const struct tracee *t)
{
	const struct user_regs_struct *r = &t->regs;

	kuw_port_fs_base = r->fs_base;
	return (struct kuw_port_regs){
		.r = { r->rax, r->rdx, r->rcx, r->rbx, r->rsi, r->rdi, r->rbp,
		       r->rsp, r->r8, r->r9, r->r10, r->r11, r->r12, r->r13,
		       r->r14, r->r15 },
		.ip = r->rip,
	};
}
