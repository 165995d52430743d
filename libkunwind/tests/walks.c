// SPDX-License-Identifier: MIT
/* Stacks of C programs. Built in many ways: see Makefile.am. */
#include "walks.h"
#include <alloca.h>
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "late_library.h"

#define RECURSION	400
#define THREADS		12
#define THREAD_TURNS	8

void call_r12(void (*callee)(void *arg), void *arg);
void call_saved(void (*callee)(void *arg), void *arg);
void call_expr(void (*callee)(void *arg), void *arg);

struct live_stacks *stacks;
volatile int sink = 1;

/* Plain calls. */

static NOINLINE void plain_3(int value)
{
	CALLED();
	sink = value;
	live_take(stacks);
	RETURNS();
}

static NOINLINE void plain_2(int value)
{
	CALLED();
	plain_3(value + 1);
	RETURNS();
}

static NOINLINE void plain_1(int value)
{
	CALLED();
	plain_2(value + 1);
	RETURNS();
}

static NOINLINE void test_plain(void)
{
	CALLED();
	plain_1(1);
	RETURNS();
	live_report(stacks, LIVE_MAIN, "plain calls");
}

/* Many arguments and many live values: pushes, spills, callee-saved registers. */

static NOINLINE long crowded(long a, long b, long c, long d, long e, long f,
			     long g, long h, long i)
{
	long sum = a * b + c;

	CALLED();
	for (int n = 0; n < sink; n++) {
		live_take(stacks);
		sum += a * d + e * f - g * h * i + n;
	}
	RETURNS();
	return sum + b * c * d * e * f * g * h * i;
}

static NOINLINE void test_crowded(void)
{
	CALLED();
	sink = 1;
	sink = crowded(1, 2, 3, 4, 5, 6, 7, 8, 9) & 1;
	RETURNS();
	live_report(stacks, LIVE_MAIN, "many arguments");
}

/* Recursion. */

static NOINLINE int recurse(int depth)
{
	int ret = 0;

	CALLED();
	if (depth > 1)
		ret = recurse(depth - 1) + sink;
	else
		live_take(stacks);
	RETURNS();
	return ret;
}

static NOINLINE void test_recursion(void)
{
	CALLED();
	recurse(RECURSION);
	RETURNS();
	tap_ok(stacks->kunwind.count > RECURSION, "recursion: more than %d frames",
	       RECURSION);
	live_report(stacks, LIVE_MAIN, "recursion");
}

/* A stack that grows by an amount not known when it is compiled. */

static NOINLINE void use(char *bytes, size_t size)
{
	CALLED();
	memset(bytes, 1, size);
	live_take(stacks);
	RETURNS();
}

static NOINLINE void with_alloca(size_t size)
{
	char *bytes = alloca(size);

	CALLED();
	use(bytes, size);
	RETURNS();
}

static NOINLINE void test_alloca(void)
{
	CALLED();
	with_alloca(12345 + sink);
	RETURNS();
	live_report(stacks, LIVE_MAIN, "alloca");
}

/* Realigned stacks. */

static NOINLINE void with_aligned(int value)
{
	_Alignas(64) char bytes[192];

	CALLED();
	memset(bytes, value, sizeof(bytes));
	use(bytes, sizeof(bytes));
	RETURNS();
}

static NOINLINE long with_aligned_alloca(long a, long b, long c, long d, long e,
					 long f, long g, long h)
{
	_Alignas(64) char bytes[64];
	char *more = alloca(100 + h);

	CALLED();
	memset(bytes, a, sizeof(bytes));
	use(bytes, sizeof(bytes));
	memset(more, a + g, 100);
	use(more, 100);
	RETURNS();
	return a + b + c + d + e + f + g + h + bytes[3] + more[4];
}

__attribute__((force_align_arg_pointer))
static NOINLINE void with_realigned(void)
{
	char bytes[40];

	CALLED();
	use(bytes, sizeof(bytes));
	RETURNS();
}

static NOINLINE void test_realigned(void)
{
	CALLED();
	with_aligned(sink);
	RETURNS();
	live_report(stacks, LIVE_MAIN, "aligned local");

	CALLED();
	sink = 1 + !with_aligned_alloca(1, 2, 3, 4, 5, 6, 7, 8 + sink);
	RETURNS();
	live_report(stacks, LIVE_MAIN, "aligned local, alloca, stack arguments");

	CALLED();
	with_realigned();
	RETURNS();
	live_report(stacks, LIVE_MAIN, "realigned stack");
}

/* Rules with registers other than rsp and rbp, and expressions. */

static NOINLINE void callee(void *arg)
{
	CALLED();
	live_take(arg);
	RETURNS();
}

/* The assembler's functions note nothing. */
static NOINLINE void callee_of_one(void *arg)
{
	CALLED();
	callee(arg);
	RETURNS();
}

static NOINLINE void test_rules(void)
{
	CALLED();
	live_push_others();
	call_r12(callee_of_one, stacks);
	live_pop();
	RETURNS();
	live_report(stacks, LIVE_MAIN, "CFA from r12");

	CALLED();
	live_push_others();
	call_saved(callee_of_one, stacks);
	live_pop();
	RETURNS();
	live_report(stacks, LIVE_MAIN, "CFA from rbx, then from r12");

	CALLED();
	live_push_others();
	call_expr(callee_of_one, stacks);
	live_pop();
	RETURNS();
	live_report(stacks, LIVE_MAIN, "CFA from an expression");
}

/* A library calls back. */

static NOINLINE int compare(const void *a, const void *b)
{
	int ret = *(const int *)a - *(const int *)b;

	live_push_others();
	CALLED();
	live_take(stacks);
	RETURNS();
	live_pop();
	return ret;
}

static NOINLINE void test_qsort(void)
{
	int numbers[] = { 3, 1, 2, 5, 4 };

	CALLED();
	qsort(numbers, 5, sizeof(numbers[0]), compare);
	RETURNS();
	live_report(stacks, LIVE_MAIN, "called by qsort()");
}

/* Threads: all at once, each with stacks of its own depth. */

struct thread {
	pthread_t id;
	int depth;
	int good;
	struct live_stacks *stacks;
};

static pthread_barrier_t barrier;

static NOINLINE int thread_recurse(struct live_stacks *mine, int depth)
{
	int ret = 0;

	CALLED();
	if (depth > 1)
		ret = thread_recurse(mine, depth - 1) + sink;
	else
		live_take(mine);
	RETURNS();
	return ret;
}

static NOINLINE void *thread_main(void *arg)
{
	struct thread *thread = arg;
	struct live_verdict verdict = { .complete = 1 };

	CALLED();
	pthread_barrier_wait(&barrier);
	for (int turn = 0; turn < THREAD_TURNS; turn++) {
		thread_recurse(thread->stacks, thread->depth + turn);
		verdict = live_judge(thread->stacks, LIVE_THREAD);
		if (!live_all(&verdict))
			break;
		thread->good++;
	}
	RETURNS();
	return NULL;
}

static NOINLINE void test_threads(void)
{
	struct thread threads[THREADS];
	int good = 0;

	pthread_barrier_init(&barrier, NULL, THREADS);
	for (int i = 0; i < THREADS; i++) {
		threads[i] = (struct thread) {
			.depth = 1 + i * 5,
			.stacks = live_new(),
		};
		if (pthread_create(&threads[i].id, NULL, thread_main, &threads[i]))
			tap_bail("pthread_create failed");
	}
	for (int i = 0; i < THREADS; i++) {
		pthread_join(threads[i].id, NULL);
		good += threads[i].good;
	}
	tap_ok(good == THREADS * THREAD_TURNS,
	       "%d threads at once: %d stacks complete, proven, true, like the others'",
	       THREADS, THREADS * THREAD_TURNS);
	for (int i = 0; i < THREADS; i++) {
		if (threads[i].good < THREAD_TURNS) {
			live_print(threads[i].stacks);
			break;
		}
	}
}

/* Code that was mapped when the device was open already. */

#ifndef STATIC_PROGRAM
#define PLUGIN		"/.libs/plugin.so"

/* The library lies next to the program, wherever that was moved to. */
static void *open_plugin(void)
{
	char path[4096 + sizeof(PLUGIN)];
	ssize_t size = readlink("/proc/self/exe", path, 4096);
	void *library;

	while (size > 0 && path[size - 1] != '/')
		size--;
	if (size <= 0)
		tap_bail("/proc/self/exe: no directory");
	strcpy(path + size - 1, PLUGIN);
	library = dlopen(path, RTLD_NOW);
	if (!library)
		tap_bail("%s", dlerror());
	return library;
}

static NOINLINE void test_dlopen(void)
{
	static const struct live_calls calls = {
		.push = live_push,
		.pop = live_pop,
		.take = live_take,
	};
	void (*call)(const struct live_calls *calls, struct live_stacks *stacks);
	void *library;

	for (int turn = 1; turn <= 2; turn++) {
		char name[32];

		library = open_plugin();
		*(void **)&call = dlsym(library, "plugin_call");
		if (!call)
			tap_bail("%s", dlerror());
		CALLED();
		call(&calls, stacks);
		RETURNS();
		snprintf(name, sizeof(name), "dlopen(), turn %d", turn);
		live_report(stacks, LIVE_MAIN, name);
		dlclose(library);
	}
}
#endif

/* A child that runs in the parent's memory. */
static NOINLINE void test_vfork(void)
{
	pid_t child;
	int status = -1;

	CALLED();
	child = vfork();
	if (child == 0) {
		plain_2(1);
		_exit(0);
	}
	if (child < 0 || waitpid(child, &status, 0) != child || status)
		tap_bail("vfork failed");
	RETURNS();
	live_report(stacks, LIVE_MAIN, "child of vfork()");
}

int main(void)
{
	CALLED();
	live_init();
	stacks = live_new();

	test_plain();
	test_crowded();
	test_recursion();
	test_alloca();
	test_realigned();
	test_rules();
	test_qsort();
	test_signals();
	test_threads();
#ifndef STATIC_PROGRAM
	test_dlopen();
#endif
	test_vfork();
	return tap_done();
}
