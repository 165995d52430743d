// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* A process that reads bytes of others: it keeps what it has open, and nothing else. */
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/audit.h>
#include <linux/capability.h>
#include <linux/filter.h>
#include <linux/landlock.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "sandbox.h"

#define NOBODY	65534

/* The first version of Landlock has these rights. */
#define LANDLOCK_ALL	((1ULL << 13) - 1)

/* Root becomes nobody. A container may have no other user: then root loses its capabilities. */
static bool drop_privileges(void)
{
	struct __user_cap_header_struct header = {
		.version = _LINUX_CAPABILITY_VERSION_3,
	};
	struct __user_cap_data_struct none[2] = { 0 };

	if (!geteuid()) {
		(void)setgroups(0, NULL);
		(void)!setresgid(NOBODY, NOBODY, NOBODY);
		(void)!setresuid(NOBODY, NOBODY, NOBODY);
	}
	return !syscall(SYS_capset, &header, none);
}

static void restrict_files(void)
{
	struct landlock_ruleset_attr attr = { .handled_access_fs = LANDLOCK_ALL };
	int rules = (int)syscall(SYS_landlock_create_ruleset, &attr, sizeof(attr), 0);

	if (rules < 0)
		return;
	(void)syscall(SYS_landlock_restrict_self, rules, 0);
	close(rules);
}

#if defined(__x86_64__)
#define ARCHITECTURE	AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define ARCHITECTURE	AUDIT_ARCH_AARCH64
#endif

#ifdef ARCHITECTURE
#define LOAD(member)	\
	BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, member))
#define ALLOW	BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)
#define REFUSE	BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EACCES)
#define ALLOW_CALL(number)	\
	BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, number, 0, 1), ALLOW
/* Only if an argument is @value: its lower half is the first, and holds an int. */
#define ALLOW_IF(number, argument, value)	\
	BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, number, 0, 4), \
	LOAD(args[argument]), \
	BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, value, 0, 1), ALLOW, \
	LOAD(nr)

static bool has_filters(void)
{
	const uint32_t action = SECCOMP_RET_ERRNO;

	return !syscall(SYS_seccomp, SECCOMP_GET_ACTION_AVAIL, 0, &action);
}

/*
 * What reading open files and answering needs, and nothing else: all that is not named is
 * refused. fstat() is newfstatat() of an empty path. A kernel without filters has none.
 */
static bool restrict_calls(void)
{
	struct sock_filter filter[] = {
		LOAD(arch),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, ARCHITECTURE, 1, 0),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
		LOAD(nr),
		ALLOW_CALL(SYS_read), ALLOW_CALL(SYS_pread64), ALLOW_CALL(SYS_write),
		ALLOW_CALL(SYS_lseek), ALLOW_CALL(SYS_close), ALLOW_CALL(SYS_fstat),
		ALLOW_CALL(SYS_newfstatat),
		ALLOW_CALL(SYS_recvmsg), ALLOW_CALL(SYS_recvfrom),
		ALLOW_CALL(SYS_sendmsg), ALLOW_CALL(SYS_sendto),
		ALLOW_CALL(SYS_mmap), ALLOW_CALL(SYS_munmap), ALLOW_CALL(SYS_mremap),
		ALLOW_CALL(SYS_mprotect), ALLOW_CALL(SYS_madvise), ALLOW_CALL(SYS_brk),
		ALLOW_CALL(SYS_futex), ALLOW_CALL(SYS_getrandom),
		ALLOW_CALL(SYS_clock_gettime), ALLOW_CALL(SYS_sched_yield),
		ALLOW_CALL(SYS_rt_sigaction), ALLOW_CALL(SYS_rt_sigprocmask),
		ALLOW_CALL(SYS_rt_sigreturn), ALLOW_CALL(SYS_sigaltstack),
		ALLOW_CALL(SYS_restart_syscall),
		ALLOW_CALL(SYS_exit), ALLOW_CALL(SYS_exit_group),
		/* The limits of this process, not of another one. */
		ALLOW_IF(SYS_prlimit64, 0, 0),
		/* Not F_SETOWN: its signals reach other processes. */
		ALLOW_IF(SYS_fcntl, 1, F_GETFD), ALLOW_IF(SYS_fcntl, 1, F_SETFD),
		ALLOW_IF(SYS_fcntl, 1, F_GETFL), ALLOW_IF(SYS_fcntl, 1, F_DUPFD_CLOEXEC),
		REFUSE,
	};
	const struct sock_fprog program = {
		.len = sizeof(filter) / sizeof(filter[0]), .filter = filter,
	};

	return !has_filters() || !prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
}
#else
static bool restrict_calls(void)
{
	return true;
}
#endif

static void limit(int resource, uint64_t most, uint64_t ever)
{
	struct rlimit value;

	getrlimit(resource, &value);
	value.rlim_max = ever < value.rlim_max ? ever : value.rlim_max;
	value.rlim_cur = most < value.rlim_max ? most : value.rlim_max;
	(void)setrlimit(resource, &value);
}

void kr_sandbox_limit(const struct kr_limits *now, const struct kr_limits *ever)
{
	/* The shadow of AddressSanitizer is private memory, too: 16 TB. */
#ifndef __SANITIZE_ADDRESS__
	limit(RLIMIT_DATA, now->bytes, ever->bytes);
#endif
	limit(RLIMIT_CPU, now->seconds, ever->seconds);
}

bool kr_sandbox_enter(void)
{
	const struct rlimit none = { 0 };
	int signal = 0;

	(void)setrlimit(RLIMIT_CORE, &none);
	(void)setrlimit(RLIMIT_FSIZE, &none);
	(void)prctl(PR_GET_PDEATHSIG, &signal);
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
		return false;
	restrict_files();
	if (!drop_privileges())
		return false;
	/* The kernel forgets it when the user changes. */
	(void)prctl(PR_SET_PDEATHSIG, signal);
	return restrict_calls();
}
