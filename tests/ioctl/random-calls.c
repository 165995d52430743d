/* SPDX-License-Identifier: MIT */
/*
 * Random sequences of system calls around /dev/kunwind, from many threads at
 * once: open, close, dup, ioctl good and bad, mappings that come, go and move,
 * files that change under them, fork, exec, threads, handles sent to others.
 *
 * usage: random-calls SECONDS THREADS LIBRARY FOLDER [SEED]
 *
 * What the ioctl gives must be possible; everything else is for the kernel's own
 * checks to find. The seed is printed; threads make a run differ from the last.
 */
#include <dlfcn.h>
#include <err.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>

#include "request.h"

#define NR_SLOTS	24
#define AREA		(16 * PAGE)
#define USER_END	0x7ffffffff000ull
/* Far from where the kernel puts a mapping that names no address. */
#define AREAS_BEGIN	0x10000000000ull

#define LENGTH(array)	(sizeof(array) / sizeof((array)[0]))

/* Shared by all threads, and taken from one another all the time. */
static int files[NR_SLOTS];
static char *areas[NR_SLOTS];
static uint64_t nr_places;
static int sockets[2];

static const char *library, *folder;
static int done;
static unsigned long nr_calls, nr_stacks, nr_complete, nr_wrong;

struct task {
	uint64_t random;
	bool is_child;
	struct request request;
	struct {
		struct kunwind_thread thread;
		struct kunwind_frame frames[256];
	} other;
};

static uint32_t draw(struct task *t, uint32_t below)
{
	t->random ^= t->random << 13;
	t->random ^= t->random >> 7;
	t->random ^= t->random << 17;
	return (t->random >> 32) % below;
}

static int any_file(struct task *t)
{
	return __atomic_load_n(&files[draw(t, NR_SLOTS)], __ATOMIC_RELAXED);
}

static char *any_area(struct task *t)
{
	return __atomic_load_n(&areas[draw(t, NR_SLOTS)], __ATOMIC_RELAXED);
}

/* Whatever was there is closed by who replaces it. */
static void put_file(struct task *t, int fd)
{
	int old;

	if (t->is_child) {
		if (fd >= 0)
			close(fd);
		return;
	}
	old = __atomic_exchange_n(&files[draw(t, NR_SLOTS)], fd, __ATOMIC_ACQ_REL);
	if (old >= 0)
		close(old);
}

/*
 * An address that nobody has had: a thread that changes an area after another
 * one unmapped it must hit nothing, not a library or a stack.
 */
static char *new_place(void)
{
	return (char *)AREAS_BEGIN + AREA * __atomic_fetch_add(&nr_places, 1, __ATOMIC_RELAXED);
}

static void put_area(struct task *t, char *area)
{
	char *old;

	if (area == MAP_FAILED)
		area = NULL;
	old = __atomic_exchange_n(&areas[draw(t, NR_SLOTS)], area, __ATOMIC_ACQ_REL);
	if (old)
		munmap(old, AREA);
}

static void path_of(struct task *t, char *path, size_t size)
{
	snprintf(path, size, "%s/calls-%u.so", folder, draw(t, 8));
}

static void wrong(const char *what, const struct kunwind_stack *s)
{
	__atomic_fetch_add(&nr_wrong, 1, __ATOMIC_RELAXED);
	printf("# %s: count %u, proven %u, stop %u, capacity %u, skip %u\n", what,
	       s->count, s->proven, s->stop, s->capacity, s->skip);
}

static void check(const struct kunwind_stack *s, const struct kunwind_frame *frames)
{
	uint32_t i;

	__atomic_fetch_add(&nr_stacks, 1, __ATOMIC_RELAXED);
	if (s->stop >= KUNWIND_NR_STOPS || s->count > s->capacity ||
	    s->count > KUNWIND_MAX_FRAMES || s->proven > s->count) {
		wrong("impossible", s);
		return;
	}
	if (s->stop == KUNWIND_STOP_COMPLETE)
		__atomic_fetch_add(&nr_complete, 1, __ATOMIC_RELAXED);
	for (i = 0; i < s->count; i++) {
		if (frames[i].address >= USER_END)
			wrong("no user address", s);
		if (frames[i].flags & ~(KUNWIND_FRAME_INTERRUPTED |
					   KUNWIND_FRAME_GUESSED) ||
		    frames[i].reserved ||
		    (i >= s->proven) != !!(frames[i].flags & KUNWIND_FRAME_GUESSED))
			wrong("flags", s);
	}
}

static void op_open(struct task *t)
{
	put_file(t, open(DEVICE, O_RDONLY | (draw(t, 2) ? O_CLOEXEC : 0)));
}

static void op_close(struct task *t)
{
	put_file(t, -1);
}

static void op_dup(struct task *t)
{
	put_file(t, dup(any_file(t)));
}

static NOINLINE void op_stack(struct task *t)
{
	struct request *r = &t->request;

	r->stack = good_stack(1 + draw(t, LENGTH(r->frames)));
	if (!draw(t, 4))
		r->stack.skip = draw(t, 40);
	if (!raw_ioctl(any_file(t), KUNWIND_IOC_STACK, r))
		check(&r->stack, r->frames);
}

/* A thread of this process, a parent, a child, another process, or none. */
static void op_other_stack(struct task *t)
{
	const int32_t near = gettid() + (int32_t)draw(t, 17) - 8;
	const int32_t pids[] = { getpid(), getpid(), getpid(), getppid(), near, 1, draw(t, 400) };
	struct kunwind_thread *o = &t->other.thread;
	struct kunwind_stack s = { .capacity = 1 + draw(t, LENGTH(t->other.frames)) };

	*o = (struct kunwind_thread) {
		.size = sizeof(*o), .pid = pids[draw(t, LENGTH(pids))], .capacity = s.capacity,
	};
	o->tid = draw(t, 2) ? o->pid : near;
	if (raw_ioctl(any_file(t), KUNWIND_IOC_THREAD, o))
		return;
	s.count = o->count;
	s.proven = o->proven;
	s.stop = o->stop;
	check(&s, t->other.frames);
}

static void op_version(struct task *t)
{
	struct kunwind_version v = { .size = sizeof(v) };

	if (!raw_ioctl(any_file(t), KUNWIND_IOC_VERSION, &v) &&
	    v.abi != KUNWIND_ABI_VERSION) {
		__atomic_fetch_add(&nr_wrong, 1, __ATOMIC_RELAXED);
		printf("# version %u\n", v.abi);
	}
}

/* Addresses that others unmap, that are none, that are the kernel's. */
static void op_bad_ioctl(struct task *t)
{
	const unsigned long numbers[] = {
		KUNWIND_IOC_STACK, KUNWIND_IOC_VERSION, KUNWIND_IOC_THREAD,
		KUNWIND_IOC_STACK_AT, KUNWIND_IOC_STACK_AT + 1,
		KUNWIND_IOC_STACK | 1ul << 30, 0, 0xffffffff, draw(t, -1),
		FIONREAD,
	};
	uint64_t words[64];
	uint32_t size = draw(t, 2) ? 32 : draw(t, 600);
	const void *at[] = {
		words, NULL, any_area(t), any_area(t) + AREA - 8, (void *)~0ul,
		(void *)0xffffffff81000000ul, (void *)(USER_END - 16),
		(char *)words + 1, (void *)(uintptr_t)draw(t, -1),
	};
	unsigned int i;

	for (i = 0; i < LENGTH(words); i++)
		words[i] = (uint64_t)draw(t, -1) << 32 | draw(t, -1);
	if (draw(t, 2))
		memset(words, 0, 32);
	memcpy(words, &size, sizeof(size));
	raw_ioctl(any_file(t), numbers[draw(t, LENGTH(numbers))],
		  at[draw(t, LENGTH(at))]);
}

static void op_other_calls(struct task *t)
{
	struct pollfd p = { .fd = any_file(t), .events = POLLIN | POLLOUT };
	char byte;
	ssize_t n;

	poll(&p, 1, 0);
	n = read(p.fd, &byte, 0);
	n += lseek(p.fd, 5, SEEK_SET);
	n += fcntl(p.fd, F_SETFL, draw(t, 2) ? O_NONBLOCK : 0);
	if (n > 100)
		put_area(t, mmap(new_place(), AREA, PROT_READ, MAP_SHARED, p.fd, 0));
}

static void op_map(struct task *t)
{
	const int prots[] = { PROT_READ, PROT_READ | PROT_EXEC, PROT_EXEC,
			      PROT_READ | PROT_WRITE | PROT_EXEC };
	int flags = MAP_PRIVATE, fd;
	char path[4096], *at = NULL;

	path_of(t, path, sizeof(path));
	fd = open(draw(t, 3) ? path : library, O_RDONLY | O_CLOEXEC);
	/* In the place of another one. */
	if (!draw(t, 4)) {
		at = __atomic_exchange_n(&areas[draw(t, NR_SLOTS)], NULL,
					 __ATOMIC_ACQ_REL);
		flags |= at ? MAP_FIXED : 0;
	}
	if (!draw(t, 6))
		flags |= MAP_ANONYMOUS;
	at = mmap(at ?: new_place(), AREA, prots[draw(t, LENGTH(prots))], flags,
		  flags & MAP_ANONYMOUS ? -1 : fd, PAGE * (off_t)draw(t, 4));
	put_area(t, at);
	if (fd >= 0)
		close(fd);
}

static void op_unmap(struct task *t)
{
	put_area(t, NULL);
}

static void op_protect(struct task *t)
{
	char *at = any_area(t);

	if (at)
		mprotect(at + PAGE * draw(t, 8), PAGE * (1 + draw(t, 8)),
			 draw(t, 3) ? PROT_READ | PROT_EXEC : PROT_READ);
}

static void op_move(struct task *t)
{
	unsigned int from = draw(t, NR_SLOTS);
	char *old = __atomic_exchange_n(&areas[from], NULL, __ATOMIC_ACQ_REL);
	char *at;

	if (!old)
		return;
	at = new_place();
	if (mremap(old, AREA, AREA, MREMAP_MAYMOVE | MREMAP_FIXED, at) != at) {
		munmap(old, AREA);
		return;
	}
	put_area(t, at);
}

/* A new file under this name. */
static void replace(const char *path)
{
	char new[4200], bytes[4096];
	int from, to;
	ssize_t n;

	snprintf(new, sizeof(new), "%s.%d", path, gettid());
	from = open(library, O_RDONLY | O_CLOEXEC);
	to = open(new, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0755);
	while (from >= 0 && to >= 0 && (n = read(from, bytes, sizeof(bytes))) > 0)
		if (write(to, bytes, n) != n)
			break;
	close(from);
	close(to);
	rename(new, path);
}

/* Written to, truncated, replaced, removed: while it is mapped. */
static void op_file(struct task *t)
{
	char path[4096], bytes[64];
	int to;
	ssize_t n;

	path_of(t, path, sizeof(path));
	switch (draw(t, 6)) {
	case 0:
		unlink(path);
		return;
	case 1:
		if (truncate(path, draw(t, 20000)))
			break;
		return;
	case 2:
		to = open(path, O_WRONLY | O_CLOEXEC);
		for (n = 0; n < 64; n++)
			bytes[n] = draw(t, 256);
		if (to >= 0 && pwrite(to, bytes, 64, draw(t, 16384)) == 64)
			close(to);
		return;
	}
	replace(path);
}

static void op_send(struct task *t)
{
	union {
		struct cmsghdr head;
		char bytes[CMSG_SPACE(sizeof(int))];
	} control = { .head = {
		.cmsg_len = CMSG_LEN(sizeof(int)),
		.cmsg_level = SOL_SOCKET,
		.cmsg_type = SCM_RIGHTS,
	} };
	char byte = 0;
	struct iovec iov = { &byte, 1 };
	struct msghdr msg = {
		.msg_iov = &iov,
		.msg_iovlen = 1,
		.msg_control = &control,
		.msg_controllen = sizeof(control),
	};
	int fd = any_file(t);

	memcpy(CMSG_DATA(&control.head), &fd, sizeof(fd));
	if (fd < 0 || sendmsg(sockets[0], &msg, MSG_DONTWAIT) < 0)
		return;
	msg.msg_controllen = sizeof(control);
	if (recvmsg(sockets[1], &msg, MSG_DONTWAIT | MSG_CMSG_CLOEXEC) <= 0 ||
	    msg.msg_controllen < CMSG_LEN(sizeof(int)))
		return;
	memcpy(&fd, CMSG_DATA(&control.head), sizeof(fd));
	put_file(t, fd);
}

static void some_ops(struct task *t, unsigned int count);

static void op_fork(struct task *t)
{
	pid_t child;

	if (t->is_child)
		return;
	child = fork();
	if (!child) {
		t->is_child = true;
		some_ops(t, draw(t, 12));
		if (!draw(t, 3))
			execl("/bin/true", "true", NULL);
		if (!draw(t, 3))
			kill(getpid(), SIGKILL);
		_exit(0);
	}
	if (child > 0)
		waitpid(child, NULL, 0);
}

static void op_vfork(struct task *t)
{
	pid_t child;

	if (t->is_child)
		return;
	child = vfork();
	if (!child) {
		execl("/bin/true", "true", NULL);
		_exit(0);
	}
	if (child > 0)
		waitpid(child, NULL, 0);
}

static void op_load(struct task *t)
{
	char path[4096];
	void *handle;

	if (t->is_child)
		return;
	snprintf(path, sizeof(path), "%s/fixed-%u.so", folder, draw(t, 4));
	handle = dlopen(path, RTLD_NOW);
	if (handle) {
		op_stack(t);
		dlclose(handle);
	}
}

static void *short_thread(void *arg)
{
	struct task t = { .random = (uintptr_t)arg | 1 };

	some_ops(&t, 8);
	return NULL;
}

static void op_thread(struct task *t)
{
	pthread_t thread;

	if (t->is_child)
		return;
	if (!pthread_create(&thread, NULL, short_thread, (void *)(uintptr_t)draw(t, -1)))
		pthread_join(thread, NULL);
}

static const struct {
	void (*run)(struct task *t);
	unsigned int weight;
} ops[] = {
	{ op_open, 6 }, { op_close, 4 }, { op_dup, 3 }, { op_stack, 20 },
	{ op_other_stack, 10 },
	{ op_version, 2 }, { op_bad_ioctl, 12 }, { op_other_calls, 2 },
	{ op_map, 8 }, { op_unmap, 4 }, { op_protect, 4 }, { op_move, 3 },
	{ op_file, 3 }, { op_send, 2 }, { op_fork, 2 }, { op_vfork, 1 },
	{ op_load, 2 }, { op_thread, 1 },
};

static void some_ops(struct task *t, unsigned int count)
{
	unsigned int i, at, total = 0;

	for (i = 0; i < LENGTH(ops); i++)
		total += ops[i].weight;
	while (count--) {
		at = draw(t, total);
		for (i = 0; at >= ops[i].weight; i++)
			at -= ops[i].weight;
		ops[i].run(t);
		__atomic_fetch_add(&nr_calls, 1, __ATOMIC_RELAXED);
	}
}

static void *long_thread(void *arg)
{
	struct task *t = calloc(1, sizeof(*t));

	if (!t)
		errx(2, "no memory");
	t->random = (uintptr_t)arg;
	while (!__atomic_load_n(&done, __ATOMIC_RELAXED))
		some_ops(t, 16);
	free(t);
	return NULL;
}

static void prepare(void)
{
	char path[4096];
	unsigned int i;

	for (i = 0; i < NR_SLOTS; i++)
		files[i] = -1;
	if (socketpair(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0, sockets))
		err(2, "socketpair");
	/* What is loaded must not change: its own loader would crash. */
	for (i = 0; i < 4; i++) {
		snprintf(path, sizeof(path), "%s/fixed-%u.so", folder, i);
		replace(path);
	}
}

int main(int argc, char **argv)
{
	unsigned int nr_threads, i;
	unsigned long seed;
	pthread_t *threads;

	if (argc < 5 || argc > 6)
		errx(2, "usage: random-calls SECONDS THREADS LIBRARY FOLDER [SEED]");
	nr_threads = atoi(argv[2]);
	library = argv[3];
	folder = argv[4];
	seed = argc > 5 ? strtoul(argv[5], NULL, 0) : (unsigned long)time(NULL);
	printf("# seed %lu\n", seed);
	fflush(stdout);
	prepare();
	threads = calloc(nr_threads, sizeof(*threads));
	if (!threads)
		errx(2, "no memory");
	for (i = 0; i < nr_threads; i++)
		if (pthread_create(&threads[i], NULL, long_thread,
				   (void *)(uintptr_t)(seed * 0x9e3779b97f4a7c15ull + i + 1)))
			errx(2, "no thread");
	sleep(atoi(argv[1]));
	__atomic_store_n(&done, 1, __ATOMIC_RELAXED);
	for (i = 0; i < nr_threads; i++)
		pthread_join(threads[i], NULL);
	printf("# %lu calls, %lu stacks, %lu complete, %lu wrong\n", nr_calls,
	       nr_stacks, nr_complete, nr_wrong);
	return nr_wrong || !nr_complete;
}
