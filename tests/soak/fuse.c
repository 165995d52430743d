// SPDX-License-Identifier: MIT
/*
 * Storms of code that comes from a file server in user space. The protocol is that
 * of linux/fuse.h; the server has one file, which is one of the variants.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/fuse.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "code.h"

#define FILE_NODE	2
#define MAX_FILE	65536
#define DELAY_US	2000
/* How long a process that was killed may take to end. */
#define KILLED_WITHIN_MS	5000

enum manners { SLOW, HANGING, LYING, OWN };

struct server {
	enum manners manners;
	int fd;
	/* Of OWN, a thread. */
	int pid;
	pthread_t thread;
	bool has_mapped;
	char folder[32];
	char path[48];
	unsigned int variant;
	size_t size;
	char bytes[MAX_FILE];
};

static void load(struct server *s, unsigned int variant)
{
	int fd = open(variant_path(variant), O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : read(fd, s->bytes, sizeof(s->bytes));

	if (n < 0 || n == sizeof(s->bytes))
		tap_bail("%s: cannot be served", variant_path(variant));
	s->size = n;
	close(fd);
}

static void answer(struct server *s, uint64_t unique, int error, const void *data,
		   size_t length)
{
	char out[sizeof(struct fuse_out_header) + MAX_FILE];
	struct fuse_out_header header = {
		.len = sizeof(header) + length, .error = -error, .unique = unique,
	};

	memcpy(out, &header, sizeof(header));
	if (length)
		memcpy(out + sizeof(header), data, length);
	/* ENOENT: who asked is gone. */
	if (write(s->fd, out, header.len) < 0 && errno != ENOENT && errno != ENODEV)
		_exit(1);
}

static struct fuse_attr attributes(const struct server *s, uint64_t node)
{
	return (struct fuse_attr) {
		.ino = node,
		.size = node == FILE_NODE ? s->size : 0,
		.mode = node == FILE_NODE ? S_IFREG | 0755 : S_IFDIR | 0755,
		.nlink = 1,
		.blksize = 4096,
	};
}

/*
 * A server that is a thread of its own client: it maps code before it answers, which
 * has to wait for the task that takes the address map, and that task waits for this answer.
 */
static void map_before(struct server *s)
{
	struct code code;
	int fd = code_open(variant_path(s->variant), &code);
	char *at = mmap(NULL, code.length, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd,
			code.offset);

	if (at == MAP_FAILED)
		trouble("mmap");
	else
		munmap(at, code.length);
	close(fd);
	s->has_mapped = true;
}

/* A liar says something else each time. */
static void answer_read(struct server *s, uint64_t unique,
			const struct fuse_read_in *in)
{
	size_t at = in->offset < s->size ? in->offset : s->size;
	size_t length = s->size - at < in->size ? s->size - at : in->size;

	if (s->manners == HANGING)
		return;
	if (s->manners == LYING) {
		load(s, chance(NR_VARIANTS));
		if (length && chance(2))
			s->bytes[at + chance(length)] = chance(256);
	} else if (s->manners == OWN && !s->has_mapped) {
		map_before(s);
	} else {
		usleep(DELAY_US);
	}
	answer(s, unique, 0, s->bytes + at, length);
}

static void serve_one(struct server *s, const struct fuse_in_header *in,
		      const void *body)
{
	struct fuse_init_out init = {
		.major = FUSE_KERNEL_VERSION, .minor = FUSE_KERNEL_MINOR_VERSION,
		.max_readahead = MAX_FILE, .max_write = 4096,
	};
	struct fuse_entry_out entry = { .nodeid = FILE_NODE };
	struct fuse_attr_out attr = { .attr = attributes(s, in->nodeid) };
	struct fuse_open_out opened = {
		.open_flags = s->manners == LYING ? FOPEN_DIRECT_IO : 0,
	};

	switch (in->opcode) {
	case FUSE_INIT:
		answer(s, in->unique, 0, &init, sizeof(init));
		break;
	case FUSE_LOOKUP:
		entry.attr = attributes(s, FILE_NODE);
		answer(s, in->unique, 0, &entry, sizeof(entry));
		break;
	case FUSE_GETATTR:
		answer(s, in->unique, 0, &attr, sizeof(attr));
		break;
	case FUSE_OPEN:
		answer(s, in->unique, 0, &opened, sizeof(opened));
		break;
	case FUSE_READ:
		answer_read(s, in->unique, body);
		break;
	case FUSE_FLUSH:
	case FUSE_RELEASE:
		answer(s, in->unique, 0, NULL, 0);
		break;
	case FUSE_FORGET:
	case FUSE_BATCH_FORGET:
	case FUSE_INTERRUPT:
		break;
	default:
		answer(s, in->unique, ENOSYS, NULL, 0);
	}
}

static void serve(struct server *s)
{
	static char request[MAX_FILE + 8192]
		__attribute__((aligned(__alignof__(struct fuse_in_header))));

	for (;;) {
		ssize_t n = read(s->fd, request, sizeof(request));

		if (n < 0 && (errno == EINTR || errno == ENOENT || errno == EAGAIN))
			continue;
		/* It was unmounted. */
		if (n < (ssize_t)sizeof(struct fuse_in_header))
			return;
		serve_one(s, (void *)request, request + sizeof(struct fuse_in_header));
	}
}

static void *serve_in_thread(void *s)
{
	serve(s);
	return NULL;
}

static int server_begin(struct server *s, enum manners manners)
{
	char options[64];

	s->manners = manners;
	s->variant = chance(NR_VARIANTS);
	load(s, s->variant);
	strcpy(s->folder, "/tmp/storm-XXXXXX");
	if (!mkdtemp(s->folder))
		return -1;
	snprintf(s->path, sizeof(s->path), "%s/code", s->folder);
	s->fd = open("/dev/fuse", O_RDWR | O_CLOEXEC);
	if (s->fd < 0)
		return -1;
	snprintf(options, sizeof(options), "fd=%d,rootmode=40000,user_id=0,group_id=0",
		 s->fd);
	if (mount("storm", s->folder, "fuse", MS_NODEV, options))
		return -1;
	if (manners == OWN) {
		errno = pthread_create(&s->thread, NULL, serve_in_thread, s);
		return errno ? -1 : 0;
	}
	s->pid = fork();
	if (!s->pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		serve(s);
		_exit(0);
	}
	close(s->fd);
	return s->pid < 0 ? -1 : 0;
}

static void server_kill(struct server *s)
{
	kill(s->pid, SIGKILL);
	waitpid(s->pid, NULL, 0);
	s->pid = 0;
}

static void server_end(struct server *s)
{
	if (umount2(s->folder, MNT_DETACH))
		trouble("umount2");
	if (s->manners == OWN) {
		pthread_join(s->thread, NULL);
		close(s->fd);
	}
	if (s->pid)
		server_kill(s);
	rmdir(s->folder);
}

/* Map what the server has, as it should be, and call it. */
static NOINLINE void call_served(const struct server *s)
{
	struct code code;
	int fd = code_open(variant_path(s->variant), &code);
	char *at;

	CALLED();
	close(fd);
	fd = open(s->path, O_RDONLY | O_CLOEXEC);
	at = mmap(NULL, code.length, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, code.offset);
	if (at == MAP_FAILED) {
		trouble(s->path);
	} else {
		code_call(&code, at, LIVE_MAIN, "code from a file server");
		munmap(at, code.length);
	}
	close(fd);
	RETURNS();
}

/* Return: the status of a child that was killed, or -1 if it does not end. */
static int end_of(int pid)
{
	int status;

	for (int i = 0; i < KILLED_WITHIN_MS; i += 10) {
		if (waitpid(pid, &status, WNOHANG) == pid)
			return status;
		usleep(10000);
	}
	return -1;
}

static NOINLINE void call_in_child(struct server *s, bool kill_it)
{
	int pid, status;

	CALLED();
	pid = fork();
	if (!pid) {
		look_again();
		call_served(s);
		_exit(0);
	}
	if (kill_it) {
		usleep(chance(100) * 1000);
		kill(pid, SIGKILL);
	}
	status = end_of(pid);
	/* FUSE has who waits for what a server has begun wait on, fatal signal or not;
	 * readahead, in other tasks' hands, is the rule.
	 */
	if (status < 0) {
		server_kill(s);
		status = end_of(pid);
	}
	if (status < 0) {
		errno = ETIMEDOUT;
		trouble("a process that waits for a file server cannot be killed");
	}
	RETURNS();
}

static NOINLINE void with_server(enum manners manners)
{
	struct server *s = calloc(1, sizeof(*s));

	CALLED();
	if (!s || server_begin(s, manners))
		tap_bail("a FUSE server: %s", strerror(errno));
	if (manners == SLOW || manners == OWN)
		call_served(s);
	else
		call_in_child(s, manners == HANGING);
	server_end(s);
	free(s);
	RETURNS();
}

NOINLINE void storm_fuse(void)
{
	CALLED();
	with_server(chance(4) ? SLOW : HANGING);
	RETURNS();
}

NOINLINE void storm_own_fuse(void)
{
	CALLED();
	with_server(OWN);
	RETURNS();
}

NOINLINE void storm_lies(void)
{
	CALLED();
	with_server(LYING);
	RETURNS();
}
