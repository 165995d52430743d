// SPDX-License-Identifier: MIT
/*
 * For kunwind-test.ko: another module asks for the stacks of this process's threads, by
 * kunwind_walk_thread(). Each thread has noted the return addresses of its functions, so what
 * is expected comes from no unwinder.
 */
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "parameters.h"
#include "request.h"

#define TRACER	"/dev/kunwind-test"
#define DEPTH	30

struct subject {
	const char *name;
	bool computes;
	pthread_t thread;
	sem_t end;
	atomic_bool ends;
	atomic_int tid;
	/* The return addresses of descend(), outermost first. */
	uintptr_t callers[DEPTH];
};

/* What the module answers; tests/module/test_device.c. */
struct answer {
	uint16_t stop;
	uint16_t running;
	uint32_t proven;
	uint64_t frames[256];
};

static int tracer;

static NOINLINE void stay(struct subject *s)
{
	s->tid = syscall(SYS_gettid);
	if (!s->computes)
		sem_wait(&s->end);
	while (!s->ends)
		;
}

static NOINLINE void descend(struct subject *s, int depth)
{
	s->callers[DEPTH - depth] = (uintptr_t)__builtin_return_address(0);
	if (depth > 1)
		descend(s, depth - 1);
	else
		stay(s);
	__asm__ volatile("" ::: "memory");
}

static void *run(void *subject)
{
	descend(subject, DEPTH);
	__asm__ volatile("" ::: "memory");
	return NULL;
}

/* Whether the noted callers are a part of the stack, in their order and next to each other. */
static bool has_calls(const struct answer *a, unsigned int count, const struct subject *s)
{
	unsigned int i, j;

	for (i = 0; i + DEPTH <= count; i++) {
		for (j = 0; j < DEPTH && a->frames[i + j] == s->callers[DEPTH - 1 - j]; j++)
			;
		if (j == DEPTH)
			return true;
	}
	return false;
}

static void judge(const struct subject *s)
{
	struct answer answer = { .stop = 0 };
	unsigned int count = 0, tries;
	ssize_t size = 0;

	/* A thread that computes may be waiting for a CPU, and one that sleeps not asleep yet. */
	for (tries = 0; tries < 10000; tries++) {
		size = pread(tracer, &answer, sizeof(answer), s->tid);
		if (size < 0 || answer.running == s->computes)
			break;
	}
	if (size > 0)
		count = (size - offsetof(struct answer, frames)) / sizeof(answer.frames[0]);
	tap_ok(size > 0 && answer.stop == KUNWIND_STOP_COMPLETE && answer.proven == count &&
	       answer.running == s->computes && has_calls(&answer, count, s),
	       "a thread %s", s->name);
	if (!has_calls(&answer, count, s))
		tap_diag("%zd bytes, stop %u", size, answer.stop);
}

static void check(struct subject *s)
{
	if (sem_init(&s->end, 0, 0) || pthread_create(&s->thread, NULL, run, s))
		tap_bail("%s: %s", s->name, strerror(errno));
	while (!s->tid)
		usleep(1000);
	judge(s);
	s->ends = true;
	sem_post(&s->end);
	pthread_join(s->thread, NULL);
	/* The kernel tells pthread_join() before the thread has gone. */
	while (!syscall(SYS_tgkill, getpid(), s->tid, 0))
		usleep(1000);
}

static long error_of(pid_t tid)
{
	struct answer answer;

	return pread(tracer, &answer, sizeof(answer), tid) < 0 ? -errno : 0;
}

int main(void)
{
	struct subject asleep = { .name = "that is asleep" };
	struct subject running = { .name = "on a CPU", .computes = true };

	set("attach", "1");
	tracer = open(TRACER, O_RDONLY | O_CLOEXEC);
	if (tracer < 0)
		tap_bail("%s: %s", TRACER, strerror(errno));
	check(&asleep);
	check(&running);
	expect(error_of(running.tid), -ESRCH, "a thread that has ended");
	expect(error_of(2), -ESRCH, "a thread of the kernel");
	expect(error_of(getpid()), 0, "the caller itself");
	return tap_done();
}
