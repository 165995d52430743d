// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * A library to preload into kunwind where the module is not loaded: it plays
 * /dev/kunwind. Each thread has one frame, at the address FRAME; those of the process REFUSED
 * may not be traced. With OPEN_ERROR, the device cannot be opened. What a process maps at a
 * path with "slow" in it is from a server that takes SLOW_MS to answer. With SIGNAL_AT_WAIT,
 * that signal comes just before a wait. LTTng's daemon runs, and does nothing. With
 * KEEP_FOLDERS, no folder can be removed: a recording leaves its own.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/kunwind.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

static unsigned long frame;
static unsigned int slow_us;
static pid_t refused;
static int open_error, signal_at_wait;

int access(const char *path, int mode)
{
	return strcmp(path, "/sys/kernel/kunwind") && strcmp(path, "/sys/module/kunwind_lttng") ?
	       syscall(SYS_access, path, mode) : 0;
}

int lttng_session_daemon_alive(void)
{
	return 1;
}

int open(const char *path, int flags, ...)
{
	va_list rest;
	int mode;

	va_start(rest, flags);
	mode = flags & (O_CREAT | __O_TMPFILE) ? va_arg(rest, int) : 0;
	va_end(rest);
	if (!strcmp(path, "/dev/kunwind")) {
		if (open_error) {
			errno = open_error;
			return -1;
		}
		path = "/dev/null";
	}
	return syscall(SYS_openat, AT_FDCWD, path, flags, mode);
}

int stat(const char *restrict path, struct stat *restrict st)
{
	if (strstr(path, "slow"))
		usleep(slow_us);
	return syscall(SYS_newfstatat, AT_FDCWD, path, st, 0);
}

int rmdir(const char *path)
{
	if (!getenv("KEEP_FOLDERS"))
		return (int)syscall(SYS_unlinkat, AT_FDCWD, path, AT_REMOVEDIR);
	errno = ENOTEMPTY;
	return -1;
}

int ppoll(struct pollfd *files, nfds_t count, const struct timespec *timeout, const sigset_t *mask)
{
	if (signal_at_wait)
		raise(signal_at_wait);
	return (int)syscall(SYS_ppoll, files, count, timeout, mask, _NSIG / 8);
}

static long answer(unsigned long request, void *arg)
{
	struct kunwind_version *version = arg;
	struct kunwind_thread *thread = arg;
	struct kunwind_frame *frames = (void *)(thread + 1);

	if (request == KUNWIND_IOC_VERSION) {
		version->abi = KUNWIND_ABI_VERSION;
		version->max_frames = KUNWIND_MAX_FRAMES;
		version->max_skip = KUNWIND_MAX_SKIP;
		return 0;
	}
	if (request != KUNWIND_IOC_THREAD)
		return -ENOTTY;
	if (thread->pid == refused)
		return -EACCES;
	thread->count = 1;
	thread->proven = 1;
	thread->stop = KUNWIND_STOP_COMPLETE;
	thread->state = KUNWIND_THREAD_OFF_CPU;
	frames[0] = (struct kunwind_frame) {
		.address = frame, .flags = KUNWIND_FRAME_INTERRUPTED,
	};
	return 0;
}

static void on_request(int signal, siginfo_t *info, void *context)
{
	greg_t *regs = ((ucontext_t *)context)->uc_mcontext.gregs;

	(void)signal;
	(void)info;
	regs[REG_RAX] = answer(regs[REG_RSI], (void *)regs[REG_RDX]);
}

static void __attribute__((constructor)) begin(void)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_ioctl, 0, 4),
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[1])),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, KUNWIND_IOC_VERSION, 1, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, KUNWIND_IOC_THREAD, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_TRAP),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = { .len = sizeof(code) / sizeof(code[0]), .filter = code };
	struct sigaction action = {
		.sa_sigaction = on_request, .sa_flags = SA_SIGINFO | SA_NODEFER,
	};

	frame = strtoul(getenv("FRAME") ?: "0", NULL, 0);
	slow_us = 1000 * atoi(getenv("SLOW_MS") ?: "0");
	refused = atoi(getenv("REFUSED") ?: "0");
	open_error = atoi(getenv("OPEN_ERROR") ?: "0");
	signal_at_wait = atoi(getenv("SIGNAL_AT_WAIT") ?: "0");
	sigaction(SIGSYS, &action, NULL);
	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
}
