// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* A process that reads bytes of others: it keeps what it has open, and little else. */
#include <asm/ioctls.h>
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/audit.h>
#include <linux/capability.h>
#include <linux/filter.h>
#include <linux/landlock.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "files.h"
#include "sandbox.h"

#define NOBODY	65534

/* Landlock numbers what it can refuse from 0 on. */
#define FIRST(count)	((1ULL << (count)) - 1)

/* struct landlock_ruleset_attr of Landlock 6; old headers have less of it. */
struct refused {
	uint64_t deeds;
	uint64_t ports;
	uint64_t scopes;
};

/* All that each version can refuse. An older kernel takes what it does not know if it is 0. */
static const struct refused by_version[] = {
	[1] = { .deeds = FIRST(13) },
	/* To link or move to another folder. */
	[2] = { .deeds = FIRST(14) },
	/* To truncate. */
	[3] = { .deeds = FIRST(15) },
	/* To bind or connect TCP sockets. */
	[4] = { .deeds = FIRST(15), .ports = FIRST(2) },
	/* ioctl() of devices. */
	[5] = { .deeds = FIRST(16), .ports = FIRST(2) },
	/* Abstract sockets and signals that reach other processes. */
	[6] = { .deeds = FIRST(16), .ports = FIRST(2), .scopes = FIRST(2) },
};

#define BIT(capability)	(1U << (capability))

/*
 * Return: what lets root read files of others, as a bit; 0: it may not, or only together
 * with writing them (CAP_DAC_OVERRIDE).
 */
static unsigned int right_to_read(struct __user_cap_header_struct *header)
{
	struct __user_cap_data_struct has[2] = { 0 };

	if (syscall(SYS_capget, header, has))
		return 0;
	return has[0].permitted & BIT(CAP_DAC_READ_SEARCH);
}

/*
 * Root becomes nobody, who can read the files of others if @reads. A container may have no
 * other user, or not that right: then root loses its capabilities.
 */
static bool drop_privileges(bool reads)
{
	struct __user_cap_header_struct header = {
		.version = _LINUX_CAPABILITY_VERSION_3,
	};
	unsigned int right = reads && !geteuid() ? right_to_read(&header) : 0;
	struct __user_cap_data_struct kept[2] = {
		{ .effective = right, .permitted = right },
	};

	if (!geteuid() && (right || !reads)) {
		(void)prctl(PR_SET_KEEPCAPS, 1, 0, 0, 0);
		(void)setgroups(0, NULL);
		(void)!setresgid(NOBODY, NOBODY, NOBODY);
		(void)!setresuid(NOBODY, NOBODY, NOBODY);
	}
	return !syscall(SYS_capset, &header, kept);
}

/*
 * A file, or what is below a folder. What is not there need not be read. The owner of a
 * trace can replace parts of a path by links at any time. A rule for a link allows nothing.
 */
static void allow_file(int rules, const char *path)
{
	struct landlock_path_beneath_attr attr = {
		.allowed_access = LANDLOCK_ACCESS_FS_READ_FILE,
		.parent_fd = kr_file_find_nofollow(path),
	};
	struct stat st;

	if (attr.parent_fd < 0)
		return;
	if (!fstat(attr.parent_fd, &st) && S_ISDIR(st.st_mode))
		attr.allowed_access |= LANDLOCK_ACCESS_FS_READ_DIR;
	(void)syscall(SYS_landlock_add_rule, rules, LANDLOCK_RULE_PATH_BENEATH, &attr, 0);
	close(attr.parent_fd);
}

static void restrict_files(const char *const *readable)
{
	const long newest = sizeof(by_version) / sizeof(by_version[0]) - 1;
	long version = syscall(SYS_landlock_create_ruleset, NULL, 0,
			       LANDLOCK_CREATE_RULESET_VERSION);
	const struct refused *refused;
	int rules;

	if (version < 1)
		return;
	refused = &by_version[version < newest ? version : newest];
	rules = (int)syscall(SYS_landlock_create_ruleset, refused, sizeof(*refused), 0);
	if (rules < 0)
		return;
	while (readable && *readable)
		allow_file(rules, *readable++);
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
#define REFUSE_CALL(number, err)	\
	BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, number, 0, 1), \
	BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | (err))
/* Only if an argument is @value: its lower half is the first, and holds an int. */
#define ALLOW_IF(number, argument, value)	\
	BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, number, 0, 4), \
	LOAD(args[argument]), \
	BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, value, 0, 1), ALLOW, \
	LOAD(nr)
/* Only if an argument has none of these bits. */
#define ALLOW_WITHOUT(number, argument, bits)	\
	BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, number, 0, 4), \
	LOAD(args[argument]), \
	BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, bits, 1, 0), ALLOW, \
	LOAD(nr)

/* What opens a file to change it, or makes one. O_TMPFILE has the bit of O_DIRECTORY, too. */
#define O_CHANGES	(O_ACCMODE | O_CREAT | O_TRUNC | (O_TMPFILE & ~O_DIRECTORY))

static bool has_filters(void)
{
	const uint32_t action = SECCOMP_RET_ERRNO;

	return !syscall(SYS_seccomp, SECCOMP_GET_ACTION_AVAIL, 0, &action);
}

/*
 * What reading open files and answering needs, and nothing else: all that is not named is
 * refused. fstat() is newfstatat() of an empty path. A kernel without filters has none.
 */
static const struct sock_filter usual_calls[] = {
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
};

/* What finding and opening files below folders takes; Landlock says which. */
static const struct sock_filter calls_for_files[] = {
	ALLOW_WITHOUT(SYS_openat, 2, O_CHANGES), ALLOW_CALL(SYS_getdents64),
	/* Its flags are in memory, where no filter sees them. */
	REFUSE_CALL(SYS_openat2, ENOSYS),
	ALLOW_CALL(SYS_fstatfs), ALLOW_CALL(SYS_faccessat), ALLOW_CALL(SYS_getcwd),
#ifdef SYS_open
	ALLOW_CALL(SYS_stat), ALLOW_CALL(SYS_lstat), ALLOW_CALL(SYS_access),
	ALLOW_CALL(SYS_dup2),
#endif
	/* The output: what there is of it is dropped, or what is still to come. */
	ALLOW_CALL(SYS_ftruncate), ALLOW_CALL(SYS_dup3),
	/* GLib's random numbers begin with them. */
	ALLOW_CALL(SYS_getpid), ALLOW_CALL(SYS_getppid),
	/* Is it a terminal, and how wide? Others would type on it, or read its screen. */
	ALLOW_IF(SYS_ioctl, 1, TCGETS), ALLOW_IF(SYS_ioctl, 1, TIOCGWINSZ),
};

#define LENGTH(array)	(sizeof(array) / sizeof((array)[0]))

static bool restrict_calls(bool opens)
{
	struct sock_filter filter[LENGTH(usual_calls) + LENGTH(calls_for_files) + 1];
	const struct sock_filter refuse = REFUSE;
	struct sock_fprog program = { .len = LENGTH(usual_calls), .filter = filter };

	memcpy(filter, usual_calls, sizeof(usual_calls));
	if (opens) {
		memcpy(filter + program.len, calls_for_files, sizeof(calls_for_files));
		program.len += LENGTH(calls_for_files);
	}
	filter[program.len++] = refuse;
	return !has_filters() || !prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
}
#else
static bool restrict_calls(bool opens)
{
	(void)opens;
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

int kr_sandbox_keep(int fd)
{
	int nothing = open("/dev/null", O_RDWR | O_CLOEXEC);

	/* It has such a number if the program was started without its standard files. */
	if (fd <= STDERR_FILENO)
		fd = fcntl(fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
	if (fd < 0)
		_exit(1);
	(void)dup2(nothing, STDIN_FILENO);
	(void)dup2(nothing, STDOUT_FILENO);
	/* AddressSanitizer tells there what it found. */
#ifndef __SANITIZE_ADDRESS__
	(void)dup2(nothing, STDERR_FILENO);
#endif
	if (fd > STDERR_FILENO + 1)
		(void)close_range(STDERR_FILENO + 1, (unsigned int)fd - 1, 0);
	(void)close_range((unsigned int)fd + 1, ~0U, 0);
	return fd;
}

bool kr_sandbox_enter(const char *const *readable)
{
	const struct rlimit none = { 0 };
	int signal = 0;

	(void)setrlimit(RLIMIT_CORE, &none);
	if (!readable)
		(void)setrlimit(RLIMIT_FSIZE, &none);
	(void)prctl(PR_GET_PDEATHSIG, &signal);
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
		return false;
	restrict_files(readable);
	if (!drop_privileges(readable))
		return false;
	/* The kernel forgets it when the user changes. */
	(void)prctl(PR_SET_PDEATHSIG, signal);
	return restrict_calls(readable);
}
