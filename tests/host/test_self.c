// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * Walks of this program's own stack, through libraries as they are installed,
 * next to libunwind's and glibc's.
 */
#define UNW_LOCAL_ONLY
#include <alloca.h>
#include <dlfcn.h>
#include <libunwind.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>
#include "test.h"
#include "capture.h"
#include "load.h"
#include "walk.h"

#define MAX	600
/* A handler on an alternate stack; sanitizers need more than MINSIGSTKSZ. */
#define ALTSTACK	(256 * 1024)
/* More than a call may do: the compiler shall not make it a jump. */
#define NO_TAIL	__asm__ volatile("" : : : "memory")

static struct host_space space;
static struct host_cache cache;
static int (*libc_backtrace)(void **, int);
static int checked;

/* @count frames of ours from @from on are the same as those of @theirs. */
static void same_stack(const u64 *ours, u32 count, void **theirs, int n)
{
	int j = 0;
	u32 i;

	/* Each begins in a function of its own; the caller is in all. */
	for (i = 0; i < count; i++)
		for (j = 0; j < n && j < 4; j++)
			if (ours[i] == (u64)theirs[j])
				goto found;
	fail_msg("no frame in common");
found:
	assert_in_range(i, 1, 3);
	for (; i < count && j < n; i++, j++)
		assert_int_equal(ours[i], (u64)theirs[j]);
	assert_int_equal(i, count);
	assert_int_equal(j, n);
}

static noinline void check(u32 at_least)
{
	static __thread u64 frames[MAX];
	void *theirs[MAX];
	struct kuw_port_regs regs = { 0 };
	struct kuw_result result;

	CAPTURE(&regs);
	kuw_walk(space.map, host_cache(&cache), &regs, frames, MAX, &result);
	assert_stop(result.stop, COMPLETE);
	assert_int_equal(result.proven, result.count);
	assert_true(result.count >= at_least);
	same_stack(frames, result.count, theirs, libc_backtrace(theirs, MAX));
	same_stack(frames, result.count, theirs, unw_backtrace(theirs, MAX));
	checked++;
}

static void test_plain(void **state)
{
	check(5);
}

static noinline int recurse(int n)
{
	int r;

	if (!n) {
		check(400);
		return 0;
	}
	r = recurse(n - 1);
	NO_TAIL;
	return r + 1;
}

static void test_recursion(void **state)
{
	assert_int_equal(recurse(400), 400);
}

static int compare(const void *a, const void *b)
{
	if (!checked)
		check(6);
	return *(const int *)a - *(const int *)b;
}

static void test_callback(void **state)
{
	int numbers[] = { 3, 1, 2 };

	checked = 0;
	qsort(numbers, 3, sizeof(numbers[0]), compare);
	assert_int_equal(checked, 1);
}

static noinline int with_alloca(int n)
{
	volatile char *p = alloca((size_t)n * 16);

	p[n] = 1;
	check(5);
	return p[n];
}

static void test_alloca(void **state)
{
	int n;

	for (n = 1; n < 20; n++)
		assert_int_equal(with_alloca(n), 1);
}

__attribute__((__noinline__, __force_align_arg_pointer__))
static int realigned(int n)
{
	volatile int words[16] __attribute__((aligned(128)));

	words[n & 15] = n;
	check(5);
	return words[n & 15];
}

static void test_realigned(void **state)
{
	int n;

	for (n = 0; n < 20; n++)
		assert_int_equal(realigned(n), n);
}

static void handler(int sig)
{
	check(7);
	NO_TAIL;
}

static void check_signal(int flags)
{
	struct sigaction action = { .sa_handler = handler, .sa_flags = flags };
	struct sigaction old;

	checked = 0;
	sigemptyset(&action.sa_mask);
	assert_int_equal(sigaction(SIGUSR1, &action, &old), 0);
	assert_int_equal(raise(SIGUSR1), 0);
	sigaction(SIGUSR1, &old, NULL);
	assert_int_equal(checked, 1);
}

static void test_signal(void **state)
{
	check_signal(0);
	check_signal(SA_SIGINFO);
}

static void test_alternate_stack(void **state)
{
	stack_t stack = { .ss_size = ALTSTACK }, old;

	stack.ss_sp = mmap(NULL, ALTSTACK, PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	assert_ptr_not_equal(stack.ss_sp, MAP_FAILED);
	assert_int_equal(sigaltstack(&stack, &old), 0);
	/* Two stacks, and what is between them: nothing is read there. */
	kuw_port_set_window(0, KUW_PORT_USER_END, 0);
	check_signal(SA_ONSTACK);
	capture_window();
	sigaltstack(&old, NULL);
	munmap(stack.ss_sp, ALTSTACK);
}

static void *thread(void *arg)
{
	if (capture_window())
		return NULL;
	check(3);
	NO_TAIL;
	return arg;
}

static void test_thread(void **state)
{
	pthread_t id;
	void *value = NULL;

	assert_int_equal(pthread_create(&id, NULL, thread, &checked), 0);
	assert_int_equal(pthread_join(id, &value), 0);
	assert_ptr_equal(value, &checked);
}

/* Every address of this program's own map finds its mapping, or none. */
static void test_map(void **state)
{
	u32 i;

	assert_true(space.map->count >= 4);
	for (i = 0; i < space.map->count; i++) {
		const struct kuw_mapping *m = &space.map->mappings[i];

		assert_ptr_equal(kuw_map_find(space.map, m->start), m);
		assert_ptr_equal(kuw_map_find(space.map, m->end - 1), m);
		assert_ptr_not_equal(kuw_map_find(space.map, m->end), m);
		assert_ptr_not_equal(kuw_map_find(space.map, m->start - 1), m);
	}
	assert_null(kuw_map_find(space.map, 0));
	assert_null(kuw_map_find(space.map, ~0ULL));
}

/* A heap that is executable has a name in /proc/PID/maps, and is anonymous memory all the same. */
static void test_heap(void **state)
{
	const u64 page = sysconf(_SC_PAGESIZE);
	u64 at = ((u64)sbrk(2 * (intptr_t)page) + page - 1) & -page;
	struct host_space made;

	assert_int_equal(mprotect((void *)at, page, PROT_READ | PROT_WRITE | PROT_EXEC), 0);
	assert_int_equal(host_space_of(&made, 0), 0);
	assert_null(kuw_map_find(made.map, at));
	host_space_free(&made);
	assert_int_equal(mprotect((void *)at, page, PROT_READ | PROT_WRITE), 0);
}

static int prepare(void **state)
{
	/* -lunwind has a backtrace() of its own. */
	void *libc = dlopen("libc.so.6", RTLD_LAZY | RTLD_NOLOAD);
	void *frames[4];

	if (!libc)
		return -1;
	*(void **)&libc_backtrace = dlsym(libc, "backtrace");
	/* It loads libgcc_s when it is first called: before the map is made. */
	libc_backtrace(frames, 4);
	return host_space_of(&space, 0) || capture_window();
}

static int finish(void **state)
{
	host_space_free(&space);
	return 0;
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(test_plain),
	cmocka_unit_test(test_recursion),
	cmocka_unit_test(test_callback),
	cmocka_unit_test(test_alloca),
	cmocka_unit_test(test_realigned),
	cmocka_unit_test(test_signal),
	cmocka_unit_test(test_alternate_stack),
	cmocka_unit_test(test_thread),
	cmocka_unit_test(test_map),
	cmocka_unit_test(test_heap),
};

int main(void)
{
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, prepare, finish);
}
