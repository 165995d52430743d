// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * Arguments of system calls, with the words of this machine's headers. LTTng records
 * most of them as numbers, and pointers as decimal ones.
 */
#include <asm/prctl.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/futex.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include "arguments.h"
#include "format.h"
#include "safe.h"

struct word {
	const char *name;
	uint64_t value;
};

#define W(word)	{ #word, word }
#define END	{ NULL, 0 }

static const struct word folders[] = { W(AT_FDCWD), END };
static const struct word open_flags[] = {
	W(O_WRONLY), W(O_RDWR), W(O_CREAT), W(O_EXCL), W(O_NOCTTY), W(O_TRUNC),
	W(O_APPEND), W(O_NONBLOCK), W(O_TMPFILE), W(O_DIRECTORY), W(O_NOFOLLOW),
	W(O_CLOEXEC), W(O_PATH), W(O_DIRECT), W(O_NOATIME), W(O_SYNC), W(O_DSYNC), END
};
static const struct word at_flags[] = {
	W(AT_SYMLINK_NOFOLLOW), W(AT_SYMLINK_FOLLOW), W(AT_NO_AUTOMOUNT), W(AT_EMPTY_PATH),
	W(AT_STATX_FORCE_SYNC), W(AT_STATX_DONT_SYNC), END
};
/* One bit has another meaning in these two calls, and a third one in name_to_handle_at(). */
static const struct word access_flags[] = {
	W(AT_SYMLINK_NOFOLLOW), W(AT_EACCESS), W(AT_EMPTY_PATH), END
};
static const struct word unlink_flags[] = { W(AT_REMOVEDIR), END };
static const struct word rights[] = { W(R_OK), W(W_OK), W(X_OK), END };
static const struct word protections[] = {
	W(PROT_READ), W(PROT_WRITE), W(PROT_EXEC), W(PROT_GROWSDOWN), END
};
static const struct word map_flags[] = {
	W(MAP_SHARED_VALIDATE), W(MAP_SHARED), W(MAP_PRIVATE), W(MAP_FIXED),
	W(MAP_ANONYMOUS), W(MAP_GROWSDOWN), W(MAP_DENYWRITE), W(MAP_LOCKED),
	W(MAP_NORESERVE), W(MAP_POPULATE), W(MAP_NONBLOCK), W(MAP_STACK), W(MAP_HUGETLB),
	W(MAP_FIXED_NOREPLACE), END
};
static const struct word advice[] = {
	W(MADV_NORMAL), W(MADV_RANDOM), W(MADV_SEQUENTIAL), W(MADV_WILLNEED),
	W(MADV_DONTNEED), W(MADV_FREE), W(MADV_HUGEPAGE), W(MADV_NOHUGEPAGE),
	W(MADV_DONTFORK), W(MADV_DONTDUMP), END
};
static const struct word whences[] = {
	W(SEEK_SET), W(SEEK_CUR), W(SEEK_END), W(SEEK_DATA), W(SEEK_HOLE), END
};
static const struct word clone_flags[] = {
	W(CLONE_VM), W(CLONE_FS), W(CLONE_FILES), W(CLONE_SIGHAND), W(CLONE_PTRACE),
	W(CLONE_VFORK), W(CLONE_PARENT), W(CLONE_THREAD), W(CLONE_NEWNS),
	W(CLONE_SYSVSEM), W(CLONE_SETTLS), W(CLONE_PARENT_SETTID),
	W(CLONE_CHILD_CLEARTID), W(CLONE_CHILD_SETTID), W(CLONE_NEWUTS),
	W(CLONE_NEWIPC), W(CLONE_NEWUSER), W(CLONE_NEWPID), W(CLONE_NEWNET), END
};
static const struct word futex_ops[] = {
	W(FUTEX_WAIT), W(FUTEX_WAKE), W(FUTEX_REQUEUE), W(FUTEX_CMP_REQUEUE),
	W(FUTEX_WAKE_OP), W(FUTEX_LOCK_PI), W(FUTEX_UNLOCK_PI), W(FUTEX_WAIT_BITSET),
	W(FUTEX_WAKE_BITSET), W(FUTEX_WAIT_PRIVATE), W(FUTEX_WAKE_PRIVATE),
	W(FUTEX_REQUEUE_PRIVATE), W(FUTEX_CMP_REQUEUE_PRIVATE),
	W(FUTEX_WAKE_OP_PRIVATE), W(FUTEX_LOCK_PI_PRIVATE), W(FUTEX_UNLOCK_PI_PRIVATE),
	W(FUTEX_WAIT_BITSET_PRIVATE), W(FUTEX_WAKE_BITSET_PRIVATE),
	{ "FUTEX_WAIT_BITSET_PRIVATE|FUTEX_CLOCK_REALTIME",
	  FUTEX_WAIT_BITSET_PRIVATE | FUTEX_CLOCK_REALTIME }, END
};
static const struct word families[] = {
	W(AF_UNSPEC), W(AF_UNIX), W(AF_INET), W(AF_INET6), W(AF_NETLINK), W(AF_PACKET),
	W(AF_VSOCK), END
};
static const struct word socket_types[] = {
	W(SOCK_STREAM), W(SOCK_DGRAM), W(SOCK_RAW), W(SOCK_SEQPACKET), END
};
static const struct word socket_flags[] = { W(SOCK_CLOEXEC), W(SOCK_NONBLOCK), END };
static const struct word message_flags[] = {
	W(MSG_OOB), W(MSG_PEEK), W(MSG_DONTWAIT), W(MSG_NOSIGNAL), W(MSG_TRUNC),
	W(MSG_WAITALL), W(MSG_CMSG_CLOEXEC), W(MSG_MORE), END
};
static const struct word file_commands[] = {
	W(F_DUPFD), W(F_GETFD), W(F_SETFD), W(F_GETFL), W(F_SETFL), W(F_GETLK), W(F_SETLK),
	W(F_SETLKW), W(F_DUPFD_CLOEXEC), W(F_GETPIPE_SZ), W(F_SETPIPE_SZ),
	W(F_OFD_SETLK), W(F_OFD_SETLKW), END
};
static const struct word controls[] = {
	W(TCGETS), W(TCSETS), W(TCSETSW), W(TIOCGWINSZ), W(TIOCSWINSZ), W(TIOCGPGRP),
	W(TIOCSPGRP), W(TIOCSCTTY), W(TIOCGPTN), W(FIONREAD), W(FIONBIO), W(FIOCLEX),
	W(FIONCLEX), { "TCGETS2", 0x802c542a }, { "FICLONE", 0x40049409 }, END
};
static const struct word epoll_ops[] = {
	W(EPOLL_CTL_ADD), W(EPOLL_CTL_DEL), W(EPOLL_CTL_MOD), END
};
static const struct word mask_changes[] = {
	W(SIG_BLOCK), W(SIG_UNBLOCK), W(SIG_SETMASK), END
};
static const struct word clocks[] = {
	W(CLOCK_REALTIME), W(CLOCK_MONOTONIC), W(CLOCK_PROCESS_CPUTIME_ID),
	W(CLOCK_THREAD_CPUTIME_ID), W(CLOCK_MONOTONIC_RAW), W(CLOCK_REALTIME_COARSE),
	W(CLOCK_MONOTONIC_COARSE), W(CLOCK_BOOTTIME), END
};
static const struct word wait_options[] = {
	W(WNOHANG), W(WUNTRACED), W(WCONTINUED), W(WEXITED), W(WNOWAIT), END
};
static const struct word process_options[] = {
	W(PR_SET_PDEATHSIG), W(PR_SET_NAME), W(PR_GET_NAME), W(PR_SET_DUMPABLE),
	W(PR_CAPBSET_READ), W(PR_SET_NO_NEW_PRIVS), W(PR_SET_SECCOMP), W(PR_SET_VMA), END
};
static const struct word thread_options[] = {
	W(ARCH_SET_FS), W(ARCH_GET_FS), W(ARCH_SET_GS), W(ARCH_GET_GS),
	{ "ARCH_CET_STATUS", 0x3001 }, END
};

enum kind {
	ONE,
	FLAGS,
	OPEN,
	SOCKET,
	SIGNAL,
	OCTAL,
};

/* @call: a pattern, as g_pattern_match_simple() takes it; the first row that fits */
static const struct argument {
	const char *call;
	const char *name;
	enum kind kind;
	const struct word *words;
} arguments[] = {
	{ "*", "dfd", ONE, folders },
	{ "*", "olddfd", ONE, folders },
	{ "*", "newdfd", ONE, folders },
	{ "open_tree*", "flags", FLAGS, at_flags },
	{ "open*", "flags", OPEN, open_flags },
	{ "pipe2", "flags", OPEN, open_flags },
	{ "dup3", "flags", OPEN, open_flags },
	{ "accept4", "flags", FLAGS, socket_flags },
	{ "mmap*", "prot", FLAGS, protections },
	{ "mprotect", "prot", FLAGS, protections },
	{ "mmap*", "flags", FLAGS, map_flags },
	{ "madvise", "behavior", ONE, advice },
	{ "lseek", "whence", ONE, whences },
	{ "access", "mode", FLAGS, rights },
	{ "faccessat*", "mode", FLAGS, rights },
	{ "clone", "flags", FLAGS, clone_flags },
	{ "clone", "clone_flags", FLAGS, clone_flags },
	{ "unshare", "unshare_flags", FLAGS, clone_flags },
	{ "futex", "op", ONE, futex_ops },
	{ "fcntl", "cmd", ONE, file_commands },
	{ "ioctl", "cmd", ONE, controls },
	{ "socket*", "family", ONE, families },
	{ "connect", "family", ONE, families },
	{ "socket*", "type", SOCKET, socket_types },
	{ "send*", "flags", FLAGS, message_flags },
	{ "recv*", "flags", FLAGS, message_flags },
	{ "epoll_ctl", "op", ONE, epoll_ops },
	{ "epoll_create1", "flags", OPEN, open_flags },
	{ "rt_sigprocmask", "how", ONE, mask_changes },
	{ "clock_*", "which_clock", ONE, clocks },
	{ "wait*", "options", FLAGS, wait_options },
	{ "prctl", "option", ONE, process_options },
	{ "arch_prctl", "option", ONE, thread_options },
	{ "*kill", "sig", SIGNAL, NULL },
	{ "rt_sigaction", "sig", SIGNAL, NULL },
	{ "rt_sigqueueinfo", "sig", SIGNAL, NULL },
	{ "open*", "mode", OCTAL, NULL },
	{ "creat", "mode", OCTAL, NULL },
	{ "mkdir*", "mode", OCTAL, NULL },
	{ "*chmod*", "mode", OCTAL, NULL },
	{ "mknod*", "mode", OCTAL, NULL },
	{ "umask", "mask", OCTAL, NULL },
	{ "faccessat2", "flags", FLAGS, access_flags },
	{ "unlinkat", "flag", FLAGS, unlink_flags },
	{ "execveat", "flags", FLAGS, at_flags },
	{ "fchmodat2", "flags", FLAGS, at_flags },
	{ "fchownat", "flag", FLAGS, at_flags },
	{ "linkat", "flags", FLAGS, at_flags },
	{ "mount_setattr", "flags", FLAGS, at_flags },
	{ "name_to_handle_at", "flag", FLAGS, at_flags },
	{ "newfstatat", "flag", FLAGS, at_flags },
	{ "statx", "flags", FLAGS, at_flags },
	{ "utimensat", "flags", FLAGS, at_flags },
};

static const struct argument *find(const char *call, const char *name)
{
	size_t i;

	for (i = 0; i < G_N_ELEMENTS(arguments); i++) {
		const struct argument *argument = &arguments[i];

		if (!strcmp(argument->name, name) &&
		    g_pattern_match_simple(argument->call, call))
			return argument;
	}
	return NULL;
}

/* Return: whether there is a word. Values are of 32 bits in the kernel. */
static bool append_one(GString *to, const struct word *words, uint64_t value)
{
	for (; words->name; words++)
		if ((uint32_t)words->value == (uint32_t)value) {
			g_string_append(to, words->name);
			return true;
		}
	return false;
}

/* Words of several bits stand before those of some of them. */
static void append_flags(GString *to, const struct word *words, uint64_t value,
			 const char *separator)
{
	for (; words->name; words++) {
		if (!words->value || (value & words->value) != words->value)
			continue;
		g_string_append_printf(to, "%s%s", separator, words->name);
		separator = "|";
		value &= ~words->value;
	}
	if (value || !separator[0])
		g_string_append_printf(to, value ? "%s%#" PRIx64 : "%s0", separator,
				       value);
}

static bool append_known(GString *to, const struct argument *argument, uint64_t value)
{
	const char *name;

	switch (argument->kind) {
	case ONE:
		return append_one(to, argument->words, value);
	case FLAGS:
		append_flags(to, argument->words, value, "");
		return true;
	case OPEN:
		if (!(value & O_ACCMODE) && argument->call[0] == 'o') {
			g_string_append(to, "O_RDONLY");
			if (value)
				append_flags(to, argument->words, value, "|");
			return true;
		}
		append_flags(to, argument->words, value, "");
		return true;
	case SOCKET:
		if (!append_one(to, argument->words,
				value & ~(uint64_t)(SOCK_CLOEXEC | SOCK_NONBLOCK)))
			return false;
		value &= SOCK_CLOEXEC | SOCK_NONBLOCK;
		if (value)
			append_flags(to, socket_flags, value, "|");
		return true;
	case SIGNAL:
		name = value < NSIG ? sigabbrev_np((int)value) : NULL;
		if (name)
			g_string_append_printf(to, "SIG%s", name);
		return name;
	case OCTAL:
		g_string_append_printf(to, value ? "0%" PRIo64 : "%" PRIo64, value);
		return true;
	}
	return false;
}

static void append_value(GString *to, const char *call, const char *name,
			 const bt_field *field)
{
	const struct argument *argument = find(call, name);
	int64_t value;

	if (argument && kr_number_of(field, &value) &&
	    append_known(to, argument, (uint64_t)value))
		return;
	if (!kr_format_pointer(to, field))
		kr_format_field(to, field);
}

void kr_format_arguments(GString *to, const char *call, const bt_field *payload,
			 const bt_field_class *shown)
{
	const bt_field_class *class = bt_field_borrow_class_const(payload);
	uint64_t i, n = bt_field_class_structure_get_member_count(class);
	const char *separator = "";

	for (i = 0; i < n; i++) {
		const char *name = bt_field_class_structure_member_get_name(
			bt_field_class_structure_borrow_member_by_index_const(class, i));

		/* What returns has these again, and where a sequence's length stands. */
		if (!strcmp(name, "ret") || g_str_has_prefix(name, "_") ||
		    (shown && bt_field_class_structure_borrow_member_by_name_const(
				      shown, name)))
			continue;
		g_string_append(to, separator);
		separator = ", ";
		kr_safe_append(to, name);
		g_string_append(to, " = ");
		append_value(to, call, name,
			bt_field_structure_borrow_member_field_by_index_const(payload, i));
	}
}
