// SPDX-License-Identifier: MIT
/* The device, played: see played_device.h. */
#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#include "played_device.h"

#define DEVICE		"/dev/kunwind"

struct played_device played;

/* In place of libc's, for the library's static copy in this program. */
int open(const char *path, int flags, ...)
{
	if (strcmp(path, DEVICE)) {
		errno = ENOENT;
		return -1;
	}
	played.open_flags = flags;
	if (played.open_errno) {
		errno = played.open_errno;
		return -1;
	}
	return syscall(SYS_openat, AT_FDCWD, "/dev/null", O_RDONLY | O_CLOEXEC);
}

static long answer_version(struct kunwind_version *version)
{
	if (version->size != sizeof(*version) || version->reserved)
		return -E2BIG;
	if (played.version_answer)
		return played.version_answer;
	version->abi = played.version_abi;
	version->max_frames = KUNWIND_MAX_FRAMES;
	version->max_skip = KUNWIND_MAX_SKIP;
	return 0;
}

/* A stack of DEEP frames behind that of the library. */
static long answer_deep(struct kunwind_stack *stack, struct kunwind_frame *frames)
{
	uint32_t skip = stack->skip - 1, left = DEEP - skip;
	uint32_t room = stack->capacity < KUNWIND_MAX_FRAMES ? stack->capacity :
							       KUNWIND_MAX_FRAMES;

	if (played.requests == played.failing)
		return -ENOMEM;
	stack->count = left < room ? left : room;
	stack->proven = skip > DEEP_PROVEN ? 0 : DEEP_PROVEN - skip;
	if (stack->proven > stack->count)
		stack->proven = stack->count;
	stack->stop = stack->count == left ? KUNWIND_STOP_COMPLETE :
		      room == KUNWIND_MAX_FRAMES ? KUNWIND_STOP_MAX_FRAMES :
						   KUNWIND_STOP_CAPACITY;
	for (uint32_t i = 0; i < stack->count; i++)
		frames[i] = (struct kunwind_frame) {
			.address = 0x1000 + skip + i,
			.flags = i >= stack->proven ? KUNWIND_FRAME_GUESSED : 0,
		};
	return 0;
}

static long answer_stack(struct kunwind_stack *stack)
{
	struct kunwind_frame *frames = (void *)((char *)stack + stack->size);

	if (played.is_deep)
		return answer_deep(stack, frames);
	played.asked = *stack;
	played.asked_at = stack;
	/* Even where the kernel fails it may have written. */
	stack->count = FRAMES;
	stack->proven = FRAMES - 1;
	stack->stop = KUNWIND_STOP_NO_RULE;
	if (played.stack_answer)
		return played.stack_answer;
	for (int i = 0; i < FRAMES; i++)
		frames[i] = (struct kunwind_frame) { .address = 0x1000 + i };
	return 0;
}

static void on_request(int signal, siginfo_t *info, void *context)
{
	ucontext_t *uc = context;
	void *arg = (void *)uc->uc_mcontext.gregs[REG_RDX];

	(void)signal;
	(void)info;
	played.requests++;
	if (uc->uc_mcontext.gregs[REG_RSI] == KUNWIND_IOC_VERSION)
		uc->uc_mcontext.gregs[REG_RAX] = answer_version(arg);
	else
		uc->uc_mcontext.gregs[REG_RAX] = answer_stack(arg);
}

static int filter(struct sock_filter *code, size_t count)
{
	struct sock_fprog program = { .len = count, .filter = code };

	return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
	       prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
}

#define LOAD(field)	BPF_STMT(BPF_LD | BPF_W | BPF_ABS, \
				 offsetof(struct seccomp_data, field))
#define IF(value, yes, no)	BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, value, yes, no)
#define ANSWER(what)	BPF_STMT(BPF_RET | BPF_K, what)

int played_trap_requests(void)
{
	struct sock_filter code[] = {
		LOAD(nr),
		IF(SYS_ioctl, 0, 4),
		LOAD(args[1]),
		IF(KUNWIND_IOC_VERSION, 1, 0),
		IF(KUNWIND_IOC_STACK, 0, 1),
		ANSWER(SECCOMP_RET_TRAP),
		ANSWER(SECCOMP_RET_ALLOW),
	};
	struct sigaction action = { .sa_sigaction = on_request };

	action.sa_flags = SA_SIGINFO | SA_NODEFER;
	sigaction(SIGSYS, &action, NULL);
	return filter(code, sizeof(code) / sizeof(code[0]));
}

int played_kill_others(void)
{
	struct sock_filter code[] = {
		LOAD(nr),
		IF(SYS_ioctl, 3, 0),
		IF(SYS_rt_sigreturn, 2, 0),
		IF(SYS_exit_group, 1, 0),
		ANSWER(SECCOMP_RET_KILL_PROCESS),
		ANSWER(SECCOMP_RET_ALLOW),
	};

	return filter(code, sizeof(code) / sizeof(code[0]));
}
