// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* A process that reads bytes of others: it keeps what it has open, and nothing else. */
#include <errno.h>
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
#define REFUSE(number)	\
	BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, number, 0, 1), \
	BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EACCES)

/* What reaches files, other programs and other machines. Old kernels do not filter. */
static bool restrict_calls(void)
{
	struct sock_filter filter[] = {
		LOAD(arch),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, ARCHITECTURE, 1, 0),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
		LOAD(nr),
		/* The numbers of x32 begin there. */
		BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, 0x40000000, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
#ifdef SYS_open
		REFUSE(SYS_creat), REFUSE(SYS_fork), REFUSE(SYS_open), REFUSE(SYS_rename),
		REFUSE(SYS_unlink), REFUSE(SYS_vfork),
#endif
		REFUSE(SYS_bpf), REFUSE(SYS_clone), REFUSE(SYS_clone3),
		REFUSE(SYS_connect), REFUSE(SYS_execve), REFUSE(SYS_execveat),
		REFUSE(SYS_io_uring_setup), REFUSE(SYS_keyctl), REFUSE(SYS_kill),
		REFUSE(SYS_mount), REFUSE(SYS_open_by_handle_at), REFUSE(SYS_openat),
		REFUSE(SYS_openat2), REFUSE(SYS_pidfd_open), REFUSE(SYS_process_vm_readv),
		REFUSE(SYS_process_vm_writev), REFUSE(SYS_ptrace), REFUSE(SYS_renameat2),
		REFUSE(SYS_rt_sigqueueinfo), REFUSE(SYS_socket), REFUSE(SYS_tkill),
		REFUSE(SYS_unlinkat), REFUSE(SYS_unshare), REFUSE(SYS_userfaultfd),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	const struct sock_fprog program = {
		.len = sizeof(filter) / sizeof(filter[0]), .filter = filter,
	};

	return !prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) || errno == EINVAL;
}
#else
static bool restrict_calls(void)
{
	return true;
}
#endif

static void limit(int resource, uint64_t most)
{
	struct rlimit value;

	getrlimit(resource, &value);
	value.rlim_cur = most < value.rlim_max ? most : value.rlim_max;
	(void)setrlimit(resource, &value);
}

void kr_sandbox_limit(uint64_t bytes, uint64_t seconds)
{
	/* The shadow of AddressSanitizer is private memory, too: 16 TB. */
#ifdef __SANITIZE_ADDRESS__
	bytes = UINT64_MAX;
#endif
	limit(RLIMIT_DATA, bytes);
	limit(RLIMIT_CPU, seconds);
}

bool kr_sandbox_enter(void)
{
	const struct rlimit none = { 0 };

	(void)setrlimit(RLIMIT_CORE, &none);
	(void)setrlimit(RLIMIT_FSIZE, &none);
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
		return false;
	restrict_files();
	return drop_privileges() && restrict_calls();
}
