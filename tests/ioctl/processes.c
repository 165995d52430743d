// SPDX-License-Identifier: MIT
/* A process sees its own stack through /dev/kunwind, and no other may use its file. */
#include <grp.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "request.h"

#define NOBODY		65534
#define SOMEBODY	65533

/* The number of a file that is given to others. */
#define GIVEN		100

static int fd;

static long ask(int file)
{
	static struct request request;

	request.stack = good_stack(64);
	return raw_ioctl(file, KUNWIND_IOC_STACK, &request);
}

/* Children tell an error number as their exit status. */
static long child_result(pid_t child)
{
	int status;

	if (child < 0 || waitpid(child, &status, 0) != child)
		tap_bail("fork: %s", strerror(errno));
	if (!WIFEXITED(status))
		return WTERMSIG(status);
	return -WEXITSTATUS(status);
}

static void become(uid_t user)
{
	if (setgroups(0, NULL) || setgid(user) || setuid(user))
		_exit(255);
}

/* A message of one byte, with room for a file. */
struct message_of_file {
	union {
		char bytes[CMSG_SPACE(sizeof(int))];
		struct cmsghdr align;
	} control;
	char byte;
	struct iovec data;
	struct msghdr message;
};

static void message_init(struct message_of_file *m)
{
	memset(m, 0, sizeof(*m));
	m->data = (struct iovec){ &m->byte, 1 };
	m->message.msg_iov = &m->data;
	m->message.msg_iovlen = 1;
	m->message.msg_control = m->control.bytes;
	m->message.msg_controllen = sizeof(m->control.bytes);
}

static void send_file(int socket, int file)
{
	struct message_of_file m;
	struct cmsghdr *head;

	message_init(&m);
	head = CMSG_FIRSTHDR(&m.message);
	head->cmsg_level = SOL_SOCKET;
	head->cmsg_type = SCM_RIGHTS;
	head->cmsg_len = CMSG_LEN(sizeof(int));
	memcpy(CMSG_DATA(head), &file, sizeof(file));
	if (sendmsg(socket, &m.message, 0) != 1)
		tap_bail("sendmsg: %s", strerror(errno));
}

static int receive_file(int socket)
{
	struct message_of_file m;
	int file = -1;

	message_init(&m);
	if (recvmsg(socket, &m.message, 0) == 1 && CMSG_FIRSTHDR(&m.message))
		memcpy(&file, CMSG_DATA(CMSG_FIRSTHDR(&m.message)), sizeof(file));
	return file;
}

static void test_other_processes(const char *self)
{
	int sockets[2], file;
	pid_t child;

	child = fork();
	if (child == 0)
		_exit(-ask(fd));
	expect(child_result(child), -EXDEV, "a child of fork()");

	child = fork();
	if (child == 0) {
		file = open(DEVICE, O_RDONLY | O_CLOEXEC);
		_exit(file < 0 ? errno : -ask(file));
	}
	expect(child_result(child), 0, "a child of fork() that opens the device itself");

	child = fork();
	if (child == 0) {
		become(NOBODY);
		file = open(DEVICE, O_RDONLY | O_CLOEXEC);
		_exit(file < 0 ? errno : -ask(file));
	}
	if (geteuid() == 0)
		expect(child_result(child), 0, "a process without any privilege");
	else
		waitpid(child, NULL, 0);

	if (socketpair(AF_UNIX, SOCK_STREAM, 0, sockets))
		tap_bail("socketpair: %s", strerror(errno));
	child = fork();
	if (child == 0)
		_exit(-ask(receive_file(sockets[1])));
	file = open(DEVICE, O_RDONLY | O_CLOEXEC);
	send_file(sockets[0], file);
	expect(child_result(child), -EXDEV, "a file received from another process");
	close(file);
	close(sockets[0]);
	close(sockets[1]);

	child = fork();
	if (child == 0) {
		char number[16];

		file = open(DEVICE, O_RDONLY);
		snprintf(number, sizeof(number), "%d", file);
		execl(self, self, "--ask", number, NULL);
		_exit(255);
	}
	expect(child_result(child), -EXDEV, "a file from before execve()");

	child = vfork();
	if (child == 0)
		_exit(-ask(fd));
	expect(child_result(child), 0, "a child of vfork(), in the same address space");

	/* The children have closed their files: ours is open all the same. */
	expect(ask(fd), 0, "afterwards");
}

/*
 * Processes that others may not look at: not dumpable, or of a program that may be executed
 * but not read.
 */

static int ask_whole(int file)
{
	static struct request request;
	long error;

	request.stack = good_stack(64);
	error = raw_ioctl(file, KUNWIND_IOC_STACK, &request);
	if (!error && request.stack.stop != KUNWIND_STOP_COMPLETE)
		return 200 + request.stack.stop;
	return -error;
}

/* What one of them does; its exit status. */
static int act(const char *what, int socket)
{
	char byte;
	int file;

	if (prctl(PR_GET_DUMPABLE) == 1)
		return 254;
	if (!strcmp(what, "--receive"))
		return -ask(receive_file(socket));
	file = dup2(open(DEVICE, O_RDONLY), GIVEN);
	if (file < 0)
		return errno;
	if (!strcmp(what, "--give")) {
		send_file(socket, file);
		/* Until the other has asked. */
		if (read(socket, &byte, 1) != 1)
			return 253;
	}
	return ask_whole(file);
}

/* Begin one of a user's: of @program, or of this one (NULL). */
static pid_t begin(uid_t user, const char *program, const char *what, int socket)
{
	char number[16];
	pid_t child = fork();

	if (child)
		return child;
	become(user);
	if (program) {
		snprintf(number, sizeof(number), "%d", socket);
		execl(program, program, what, number, NULL);
		_exit(255);
	}
	prctl(PR_SET_DUMPABLE, 0);
	_exit(act(what, socket));
}

static void end_giver(pid_t giver, int socket, const char *name)
{
	if (write(socket, "", 1) != 1)
		tap_bail("write: %s", strerror(errno));
	expect(child_result(giver), 0, name);
}

static void test_hidden(const char *program, const char *name)
{
	int sockets[2], pidfd, file;
	pid_t giver;

	tap_diag("%s", name);
	if (socketpair(AF_UNIX, SOCK_STREAM, 0, sockets))
		tap_bail("socketpair: %s", strerror(errno));
	expect(child_result(begin(SOMEBODY, program, "--own", -1)), 0,
	       "it sees its own stack, whole");

	giver = begin(SOMEBODY, program, "--give", sockets[0]);
	expect(child_result(begin(NOBODY, NULL, "--receive", sockets[1])), -EXDEV,
	       "another user's process does not see it");
	end_giver(giver, sockets[1], "it does, meanwhile");

	giver = begin(NOBODY, NULL, "--give", sockets[0]);
	expect(child_result(begin(SOMEBODY, program, "--receive", sockets[1])), -EXDEV,
	       "it does not see another user's process");
	end_giver(giver, sockets[1], "that one does");

	giver = begin(SOMEBODY, program, "--give", sockets[0]);
	close(receive_file(sockets[1]));
	pidfd = syscall(SYS_pidfd_open, giver, 0);
	file = syscall(SYS_pidfd_getfd, pidfd, GIVEN, 0);
	tap_ok(file >= 0, "root takes its file");
	expect(ask(file), -EXDEV, "but sees nothing through it");
	close(file);
	close(pidfd);
	end_giver(giver, sockets[1], "it does, afterwards");
	close(sockets[0]);
	close(sockets[1]);
}

/* Return: whether @to is now a program with the bytes of @from that nobody may read. */
static bool copy_unreadable(const char *from, const char *to)
{
	int in = open(from, O_RDONLY | O_CLOEXEC);
	int out = open(to, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	struct stat st;
	bool copied;

	copied = in >= 0 && out >= 0 && !fstat(in, &st) &&
		 sendfile(out, in, NULL, st.st_size) == st.st_size &&
		 !fchmod(out, 0111);
	close(in);
	close(out);
	return copied;
}

static void test_hidden_processes(const char *self)
{
	char folder[] = "/tmp/processes-XXXXXX", program[64];

	if (geteuid()) {
		tap_skip("processes of other users", "that takes root");
		return;
	}
	test_hidden(NULL, "a process that is not dumpable");
	if (!mkdtemp(folder) || chmod(folder, 0755))
		tap_bail("%s: %s", folder, strerror(errno));
	snprintf(program, sizeof(program), "%s/unreadable", folder);
	if (!copy_unreadable(self, program))
		tap_bail("%s: %s", program, strerror(errno));
	test_hidden(program, "a program that may not be read");
	unlink(program);
	rmdir(folder);
}

/* The system call of 32-bit programs, made by this one. */

static long ioctl_32(int file, uint32_t number, void *arg)
{
	long ret;

	/* Linux leaves all registers but rax alone; psABI says that r8 to r11 may go. */
	__asm__ volatile("int $0x80"
			 : "=a"(ret)
			 : "0"(54L), "b"((long)file), "c"((unsigned long)number),
			   "d"(arg)
			 : "r8", "r9", "r10", "r11", "memory");
	return (int)ret;
}

static void test_compat(void)
{
	struct request *request = mmap(NULL, 8 * PAGE, PROT_READ | PROT_WRITE,
				       MAP_PRIVATE | MAP_ANONYMOUS | MAP_32BIT, -1, 0);
	struct kunwind_version *version = (struct kunwind_version *)request;
	long ret;

	if (request == MAP_FAILED)
		tap_bail("mmap: %s", strerror(errno));
	version->size = sizeof(*version);
	ret = ioctl_32(fd, KUNWIND_IOC_VERSION, version);
	if (ret == -ENOSYS) {
		tap_skip("32-bit system calls", "this kernel has none");
		return;
	}
	expect(ret, 0, "32-bit system call: version");
	tap_ok(version->abi == KUNWIND_ABI_VERSION, "32-bit system call: the ABI is %d",
	       KUNWIND_ABI_VERSION);

	memset(request, 0, sizeof(*version));
	request->stack = good_stack(64);
	expect(ioctl_32(fd, KUNWIND_IOC_STACK, request), 0, "32-bit system call: stack");
	tap_ok(request->stack.stop == KUNWIND_STOP_COMPLETE && request->stack.count >= 4,
	       "32-bit system call: COMPLETE");
	request->stack.size = 1;
	expect(ioctl_32(fd, KUNWIND_IOC_STACK, request), -EINVAL,
	       "32-bit system call: size 1");
	expect(ioctl_32(fd, KUNWIND_IOC_STACK, (void *)0xfffff000), -EFAULT,
	       "32-bit system call: a bad pointer");
	munmap(request, 8 * PAGE);
}

int main(int argc, char **argv)
{
	if (argc == 3 && !strcmp(argv[1], "--ask"))
		return -ask(atoi(argv[2]));
	if (argc == 3)
		return act(argv[1], atoi(argv[2]));

	fd = open_device();
	test_other_processes("/proc/self/exe");
	test_hidden_processes("/proc/self/exe");
	test_compat();
	return tap_done();
}
