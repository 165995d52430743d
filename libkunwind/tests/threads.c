// SPDX-License-Identifier: MIT
/*
 * The stacks of this process's other threads. Each thread notes the return addresses of its
 * functions, then waits or computes. So what is expected comes from no unwinder.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "libkunwind.h"
#include "tap.h"

#define THREADS		20
#define NOINLINE	__attribute__((noinline))

struct subject {
	pthread_t thread;
	sem_t start;
	atomic_int tid;
	int computes;
	int depth;
	/* The return addresses of descend(), outermost first. */
	uintptr_t callers[64];
};

static struct subject subjects[THREADS];
static atomic_int end;

static NOINLINE void stay(struct subject *s)
{
	s->tid = syscall(SYS_gettid);
	if (!s->computes)
		sem_wait(&s->start);
	while (!end)
		;
}

static NOINLINE void descend(struct subject *s, int depth)
{
	char room[64];

	__asm__ volatile("" :: "r"(room) : "memory");
	s->callers[s->depth - depth] = (uintptr_t)__builtin_return_address(0);
	if (depth)
		descend(s, depth - 1);
	else
		stay(s);
	__asm__ volatile("" ::: "memory");
}

static void *run(void *subject)
{
	struct subject *s = subject;

	descend(s, s->depth);
	__asm__ volatile("" ::: "memory");
	return NULL;
}

/* Whether the noted callers are a part of the stack, in their order and next to each other. */
static int has_calls(const struct kunwind_bt *bt, const struct subject *s)
{
	const struct kunwind_frame *frames = kunwind_backtrace_frames(bt);
	uint32_t i, count = kunwind_backtrace_count(bt);
	int j, calls = s->depth + 1;

	for (i = 0; i + calls <= count; i++) {
		for (j = 0; j < calls; j++)
			if (frames[i + j].address != s->callers[calls - 1 - j])
				break;
		if (j == calls)
			return 1;
	}
	return 0;
}

static void judge(struct kunwind_handle *handle, const struct subject *s, int pidfd)
{
	uint32_t wanted = s->computes ? KUNWIND_THREAD_ON_CPU : KUNWIND_THREAD_OFF_CPU;
	struct kunwind_bt *bt = kunwind_backtrace_new(200);
	int tries, ret = 0;

	/* A thread that computes may be waiting for a CPU. */
	for (tries = 0; tries < 10000; tries++) {
		ret = kunwind_backtrace_thread(handle, pidfd, s->tid, bt);
		if (ret < 0 || kunwind_backtrace_state(bt) == wanted)
			break;
	}
	tap_ok(ret > 0 && kunwind_backtrace_stop(bt) == KUNWIND_STOP_COMPLETE &&
	       kunwind_backtrace_proven(bt) == (uint32_t)ret &&
	       kunwind_backtrace_state(bt) == wanted && has_calls(bt, s),
	       "depth %d, %s%s", s->depth, s->computes ? "on a CPU" : "off all CPUs",
	       pidfd < 0 ? "" : ", by pidfd");
	if (ret <= 0 || !has_calls(bt, s))
		tap_diag("%d, stop %u", ret, kunwind_backtrace_stop(bt));
	kunwind_backtrace_free(bt);
}

static void check_errors(struct kunwind_handle *handle)
{
	struct kunwind_bt *bt = kunwind_backtrace_new(16);
	int status, pidfd;
	pid_t child;

	tap_ok(kunwind_backtrace_thread(NULL, -1, 0, bt) == -EINVAL, "no handle: EINVAL");
	tap_ok(kunwind_backtrace_thread(handle, -1, 0, NULL) == -EINVAL, "no backtrace: EINVAL");
	tap_ok(kunwind_backtrace_thread(handle, -1, -5, bt) == -EINVAL, "a negative TID: EINVAL");
	tap_ok(kunwind_backtrace_thread(handle, -1, 1, bt) == -ESRCH,
	       "another process's thread: ESRCH");
	tap_ok(kunwind_backtrace_thread(handle, open("/dev/null", O_RDONLY), 0, bt) == -EBADF,
	       "a file that is no pidfd: EBADF");
	tap_ok(kunwind_backtrace_thread(handle, 1 << 20, 0, bt) == -EBADF,
	       "a descriptor that is not open: EBADF");
	tap_ok(kunwind_backtrace_thread(handle, -1, 0, bt) > 0 &&
	       kunwind_backtrace_state(bt) == KUNWIND_THREAD_ON_CPU, "the calling thread itself");
	tap_ok(kunwind_backtrace(handle, bt) > 0 && !kunwind_backtrace_state(bt),
	       "its own stack has no state");
	child = fork();
	if (!child)
		_exit(0);
	pidfd = syscall(SYS_pidfd_open, child, 0);
	waitpid(child, &status, 0);
	tap_ok(kunwind_backtrace_thread(handle, pidfd, 0, bt) == -ESRCH &&
	       !kunwind_backtrace_count(bt), "a process that has ended: ESRCH");
	close(pidfd);
	child = fork();
	if (!child)
		pause();
	pidfd = syscall(SYS_pidfd_open, child, 0);
	tap_ok(kunwind_backtrace_thread(handle, pidfd, 0, bt) > 0, "a child");
	kill(child, SIGKILL);
	waitpid(child, &status, 0);
	close(pidfd);
	kunwind_backtrace_free(bt);
}

int main(void)
{
	struct kunwind_handle *handle;
	int i, pidfd, ret = kunwind_open(&handle);

	if (ret == -ENODEV)
		tap_skip_all("the module is not loaded");
	if (ret < 0)
		tap_bail("kunwind_open: %d", ret);
	for (i = 0; i < THREADS; i++) {
		struct subject *s = &subjects[i];

		s->depth = 2 * i;
		s->computes = i == THREADS - 1;
		sem_init(&s->start, 0, 0);
		if (pthread_create(&s->thread, NULL, run, s))
			tap_bail("no thread");
		while (!s->tid)
			usleep(1000);
	}
	usleep(100000);
	for (i = 0; i < THREADS; i++)
		judge(handle, &subjects[i], -1);
	pidfd = syscall(SYS_pidfd_open, getpid(), 0);
	judge(handle, &subjects[3], pidfd);
	check_errors(handle);
	end = 1;
	for (i = 0; i < THREADS; i++) {
		sem_post(&subjects[i].start);
		pthread_join(subjects[i].thread, NULL);
	}
	kunwind_close(handle);
	return tap_done();
}
