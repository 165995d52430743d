// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * What a process in the sandbox can still do, as if a file had taken it over; and which
 * files the reader opens for it.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/landlock.h>
#include <linux/openat2.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include "elf_file.h"
#include "files.h"
#include "sandbox.h"
#include "tap.h"

static char folder[] = "/tmp/sandbox-XXXXXX", file[64], hidden[64], link_to_hidden[64];
static char below[64], readable[80];
static int terminal, opened;

static bool types(void)
{
	return !ioctl(terminal, TIOCSTI, "x");
}

static bool opens(void)
{
	return open(file, O_RDONLY) >= 0 || openat(AT_FDCWD, file, O_RDONLY) >= 0;
}

static bool follows(void)
{
	return open(link_to_hidden, O_RDONLY) >= 0 || open(hidden, O_RDONLY) >= 0;
}

/* open() truncates a file that is opened to be read, too. */
static bool truncates(void)
{
	const struct open_how how = { .flags = O_RDONLY | O_TRUNC };

	return !truncate(file, 0) || open(readable, O_RDONLY | O_TRUNC) >= 0 ||
	       syscall(SYS_openat2, AT_FDCWD, readable, &how, sizeof(how)) >= 0;
}

/* Without Landlock, too: what is refused before the kernel looks for the file. */
static bool asks_for_more(void)
{
	static const int more[] = {
		O_WRONLY, O_RDWR, O_ACCMODE, O_CREAT, O_TRUNC, O_TMPFILE | O_WRONLY, O_TMPFILE,
	};
	const struct open_how how = { .flags = O_TRUNC };
	size_t i;

	for (i = 0; i < sizeof(more) / sizeof(more[0]); i++)
		if (open("/nowhere/x", more[i], 0600) >= 0 || errno != EACCES)
			return true;
	return syscall(SYS_openat2, AT_FDCWD, "/nowhere/x", &how, sizeof(how)) >= 0 ||
	       errno == ENOENT;
}

static bool changes_mode(void)
{
	return !chmod(file, 0777) || !chmod(folder, 0777) || !fchmod(opened, 0777);
}

static bool renames(void)
{
	return !rename(file, hidden) || !link(file, "/tmp/sandbox-link") || !unlink(file) ||
	       !mkdir("/tmp/sandbox-folder", 0700) || !symlink(file, "/tmp/sandbox-link");
}

static bool makes_sockets(void)
{
	int ends[2];

	return socket(AF_UNIX, SOCK_DGRAM, 0) >= 0 || socket(AF_INET, SOCK_STREAM, 0) >= 0 ||
	       !socketpair(AF_UNIX, SOCK_DGRAM, 0, ends);
}

static bool signals(void)
{
	pid_t parent = getppid();

	return !kill(parent, 0) || !syscall(SYS_tgkill, parent, parent, 0) ||
	       !syscall(SYS_tkill, parent, 0) || !fcntl(opened, F_SETOWN, parent);
}

static bool looks_at_others(void)
{
	struct rlimit limit;

	return !ptrace(PTRACE_SEIZE, getppid(), NULL, NULL) ||
	       !prlimit(getppid(), RLIMIT_DATA, NULL, &limit);
}

static bool starts_processes(void)
{
	char *const none[] = { NULL };
	pid_t pid = fork();

	if (!pid)
		_exit(0);
	return pid > 0 || !execve("/bin/true", none, none);
}

static bool keeps_keys(void)
{
	return syscall(SYS_add_key, "user", "sandbox", "x", 1, -2) >= 0;
}

static bool is_privileged(void)
{
	/* AddressSanitizer does some calls itself, as if they had succeeded. */
	return !syscall(SYS_setuid, 0) || !syscall(SYS_unshare, CLONE_NEWUSER);
}

static const struct {
	const char *name;
	bool (*can)(void);
} deeds[] = {
	{ "type into the terminal", types },
	{ "open a file", opens },
	{ "open what a link leads to", follows },
	{ "truncate a file", truncates },
	{ "open a file to change it", asks_for_more },
	{ "change a mode", changes_mode },
	{ "rename, link or remove", renames },
	{ "make a socket", makes_sockets },
	{ "send a signal", signals },
	{ "look at another process", looks_at_others },
	{ "start a process", starts_processes },
	{ "keep a key", keeps_keys },
	{ "gain privileges", is_privileged },
};

#define NR_DEEDS	(sizeof(deeds) / sizeof(deeds[0]))

/* A terminal of this process's own, to which it can type unless it is kept from that. */
static void get_terminal(void)
{
	int master = posix_openpt(O_RDWR | O_NOCTTY);

	setsid();
	terminal = master < 0 || grantpt(master) || unlockpt(master) ? -1 :
		   open(ptsname(master), O_RDWR);
	ioctl(terminal, TIOCSCTTY, 0);
}

/* What a process in the sandbox does must work. @folders: NULL: it opens nothing */
static bool works(const char *const *folders)
{
	char byte;
	void *map = mmap(NULL, 1, PROT_READ, MAP_PRIVATE, opened, 0);
	void *memory = malloc(64 << 20);
	bool good = map != MAP_FAILED && memory && pread(opened, &byte, 1, 0) == 1 &&
		    lseek(opened, 0, SEEK_END) == 4 && fcntl(opened, F_GETFL) >= 0;

	if (folders)
		good &= open(readable, O_RDONLY) >= 0 && kr_file_open(NULL, readable) >= 0 &&
			open(readable, O_RDWR) < 0 && isatty(terminal);
	free(memory);
	return good;
}

/* One byte for each deed, and one for whether such a process can work. */
static void try_all(const char *const *folders, int out)
{
	char done[NR_DEEDS + 1];
	size_t i;

	get_terminal();
	if (!kr_sandbox_enter(folders))
		_exit(1);
	for (i = 0; i < NR_DEEDS; i++)
		done[i] = deeds[i].can() ? 'y' : 'n';
	done[NR_DEEDS] = works(folders) ? 'y' : 'n';
	_exit(write(out, done, sizeof(done)) != sizeof(done));
}

static bool has_landlock(void)
{
	return syscall(SYS_landlock_create_ruleset, NULL, 0,
		       LANDLOCK_CREATE_RULESET_VERSION) > 0;
}

static void test_deeds(const char *who, const char *const *folders)
{
	char done[NR_DEEDS + 1] = { 0 };
	int ends[2];
	size_t i;

	if (pipe(ends))
		tap_bail("pipe: %s", strerror(errno));
	if (!fork())
		try_all(folders, ends[1]);
	close(ends[1]);
	if (read(ends[0], done, sizeof(done)) != sizeof(done))
		tap_diag("the process ended");
	wait(NULL);
	close(ends[0]);
	for (i = 0; i < NR_DEEDS; i++)
		if (folders && (deeds[i].can == opens || deeds[i].can == follows) &&
		    !has_landlock())
			tap_skip(deeds[i].name, "this kernel has no Landlock");
		else
			tap_ok(done[i] == 'n', "%s cannot %s", who, deeds[i].name);
	tap_ok(done[NR_DEEDS] == 'y', "%s can read what it may", who);
}

/* It waits for a byte that never comes, and has an end of @alive. */
static void outlive(const int alive[2])
{
	char byte;
	int ends[2];

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	close(alive[0]);
	if (pipe(ends) || !kr_sandbox_enter(NULL) || write(alive[1], "x", 1) != 1 ||
	    read(ends[0], &byte, 1) != 1)
		_exit(1);
	_exit(0);
}

static void test_death(void)
{
	struct pollfd poller = { .events = POLLIN };
	int alive[2];
	pid_t pid;
	char byte;

	if (pipe(alive))
		tap_bail("pipe: %s", strerror(errno));
	pid = fork();
	if (!pid) {
		if (!fork())
			outlive(alive);
		/* Or the test would wait for ever if that one fails. */
		close(alive[1]);
		pause();
	}
	if (pid < 0)
		tap_bail("fork: %s", strerror(errno));
	close(alive[1]);
	poller.fd = alive[0];
	tap_ok(read(alive[0], &byte, 1) == 1, "a process in the sandbox");
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	tap_ok(poll(&poller, 1, 10000) == 1 && !read(alive[0], &byte, 1), "ends with its parent");
	close(alive[0]);
}

static bool finds(const char *name)
{
	struct kr_servers none = { 0 };
	bool more;
	int fd = kr_elf_file_find_debug(NULL, &none, file, name, NULL, 0, 0, &more);

	return fd >= 0 && !close(fd);
}

static void test_names(void)
{
	const char *base = strrchr(hidden, '/') + 1;

	tap_ok(finds("file"), "debug information beside the file");
	tap_ok(!finds("/etc/passwd"), "an absolute name");
	tap_ok(!finds("../../etc/passwd"), "a name that leads elsewhere");
	tap_ok(!finds("../../../../../etc/passwd"), "one that leads out of the folder");
	if (geteuid())
		tap_skip("what only root may read", "this is not root");
	else
		tap_ok(!finds(base) && !finds("link"), "what only root may read");
}

/* A process that has its socket where others have their standard input. */
static void test_keep(void)
{
	int ends[2], fd;
	char byte = 0;

	if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends))
		tap_bail("socketpair: %s", strerror(errno));
	if (!fork()) {
		dup2(ends[1], STDIN_FILENO);
		fd = kr_sandbox_keep(STDIN_FILENO);
		_exit(fd <= STDERR_FILENO || write(fd, "x", 1) != 1 ||
		      write(STDIN_FILENO, "y", 1) != 1);
	}
	close(ends[1]);
	tap_ok(read(ends[0], &byte, 1) == 1 && byte == 'x' && !read(ends[0], &byte, 1),
	       "a socket that is the standard input is kept elsewhere");
	wait(NULL);
	close(ends[0]);
}

/* A file of the kernel is refused under its name, whatever it is found from. */
static void test_kernels_files(void)
{
	static const char *const paths[] = {
		"/proc/self/maps", "/proc/kallsyms", "/proc/version", "/sys/kernel/notes",
		"/sys/kernel/mm/transparent_hugepage/enabled",
	};
	size_t i;

	for (i = 0; i < sizeof(paths) / sizeof(paths[0]); i++)
		if (access(paths[i], R_OK))
			tap_skip(paths[i], strerror(errno));
		else
			tap_ok(kr_file_open(NULL, paths[i]) < 0 && errno == EINVAL &&
			       kr_file_open("/", paths[i]) < 0 &&
			       kr_file_open_nofollow(paths[i]) < 0 &&
			       kr_file_open_named(paths[i]) < 0, "%s", paths[i]);
}

/* A mount of that would have the kernel load a module. */
static bool is_known(const char *type)
{
	FILE *types = fopen("/proc/filesystems", "re");
	char name[64] = "";

	while (types && fscanf(types, "%63s", name) == 1 && strcmp(name, type))
		;
	if (types)
		fclose(types);
	return !strcmp(name, type);
}

/* A regular file in a folder, or one that is made there. Return: whether there is one. */
static bool find_regular(const char *where, char *path, size_t size)
{
	struct dirent *entry;
	DIR *dir = opendir(where);
	struct stat st;
	bool found = false;
	int fd;

	while (dir && !found && (entry = readdir(dir))) {
		snprintf(path, size, "%s/%s", where, entry->d_name);
		found = !stat(path, &st) && S_ISREG(st.st_mode);
	}
	if (dir)
		closedir(dir);
	if (found)
		return true;
	snprintf(path, size, "%s/file", where);
	fd = open(path, O_CREAT | O_RDWR, 0600);
	return fd >= 0 && !close(fd);
}

enum answer { REFUSED, OPENED, NO_FILE };

/* In a process of its own, whose mounts end with it. */
static enum answer try_type(const char *type, const char *where)
{
	char path[PATH_MAX];
	int status = -1;

	if (!fork()) {
		if (!is_known(type) || unshare(CLONE_NEWNS) ||
		    mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) ||
		    mount(type, where, type, 0, NULL) ||
		    !find_regular(where, path, sizeof(path)))
			_exit(NO_FILE);
		_exit(kr_file_open(NULL, path) < 0 ? REFUSED : OPENED);
	}
	wait(&status);
	return WIFEXITED(status) ? (enum answer)WEXITSTATUS(status) : OPENED;
}

static void test_file_systems(void)
{
	static const char *const kernels[] = {
		"binfmt_misc", "bpf", "cgroup2", "configfs", "debugfs", "efivarfs", "fusectl",
		"mqueue", "nfsd", "pstore", "resctrl", "rpc_pipefs", "securityfs", "selinuxfs",
		"smackfs", "tracefs",
	};
	char where[80];
	size_t i;

	snprintf(where, sizeof(where), "%s/mount", folder);
	mkdir(where, 0700);
	for (i = 0; i < sizeof(kernels) / sizeof(kernels[0]); i++) {
		enum answer answer = try_type(kernels[i], where);

		if (answer == NO_FILE)
			tap_skip(kernels[i], "there is no file of it");
		else
			tap_ok(answer == REFUSED, "%s", kernels[i]);
	}
	if (try_type("tmpfs", where) == NO_FILE)
		tap_skip("tmpfs", "this process cannot mount one");
	else
		tap_ok(try_type("tmpfs", where) == OPENED, "a file of tmpfs can be opened");
	rmdir(where);
}

static void test_files(void)
{
	int own, fd, status = -1, memory = memfd_create("memory", 0);
	char path[32];

	snprintf(path, sizeof(path), "/proc/self/fd/%d", memory);
	tap_ok(kr_file_open(NULL, path) < 0, "a link of /proc");
	tap_ok(kr_file_open(NULL, "/proc/self/ns/net") < 0, "a namespace");
	/* A reader in another process would wait 45 s for it. */
	close(opened);
	own = open(file, O_RDWR);
	if (own < 0 || fcntl(own, F_SETLEASE, F_WRLCK)) {
		tap_skip("a file that its owner holds a lease on", "leases are not possible here");
		return;
	}
	signal(SIGIO, SIG_IGN);
	if (!fork()) {
		alarm(10);
		fd = kr_file_open(NULL, file);
		_exit(fd < 0 ? 0 : 2);
	}
	wait(&status);
	tap_ok(!status, "a file that its owner holds a lease on");
	close(own);
}

static void make(const char *path, mode_t mode)
{
	int fd = open(path, O_CREAT | O_WRONLY, mode);

	if (fd < 0 || write(fd, "text", 4) != 4 || fchmod(fd, mode))
		tap_bail("%s: %s", path, strerror(errno));
	close(fd);
}

int main(void)
{
	/* The owner of a trace may have made the link. */
	const char *const folders[] = { below, link_to_hidden, NULL };

	if (!mkdtemp(folder))
		tap_bail("mkdtemp: %s", strerror(errno));
	chmod(folder, 0755);
	snprintf(file, sizeof(file), "%s/file", folder);
	snprintf(hidden, sizeof(hidden), "%s/hidden", folder);
	snprintf(link_to_hidden, sizeof(link_to_hidden), "%s/link", folder);
	make(file, 0644);
	make(hidden, 0600);
	if (symlink(hidden, link_to_hidden))
		tap_bail("symlink: %s", strerror(errno));
	snprintf(below, sizeof(below), "%s/below", folder);
	snprintf(readable, sizeof(readable), "%s/file", below);
	mkdir(below, 0700);
	/* The user nobody may write it, too. */
	make(readable, 0666);
	opened = open(file, O_RDONLY);
	test_deeds("a symbolizer", NULL);
	test_deeds("a reader", folders);
	test_death();
	test_names();
	test_keep();
	test_kernels_files();
	test_file_systems();
	test_files();
	unlink(file);
	unlink(hidden);
	unlink(link_to_hidden);
	unlink(readable);
	rmdir(below);
	rmdir(folder);
	return tap_done();
}
