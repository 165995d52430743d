// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * Where walks of this program's own stacks end: through code without tables, in threads
 * and in contexts. Nothing but the outermost frame may be COMPLETE. The program is built
 * twice: with frame pointers, and without.
 */
#include <ucontext.h>
#include "test.h"
#include "capture.h"
#include "load.h"
#include "no_tables.h"
#include "walk.h"

#define MAX	64
/* More than a call may do: the compiler shall not make it a jump. */
#define NO_TAIL	__asm__ volatile("" : : : "memory")

static struct host_space space;
static struct host_cache cache;
static u64 frames[MAX];
static struct kuw_result result;

static noinline void walk(void)
{
	struct kuw_port_regs regs = { 0 };

	CAPTURE(&regs);
	kuw_walk(space.map, host_cache(&cache), &regs, frames, MAX, &result);
}

/* Walk at the first call; there, the sum is 0. Return: 0. */
static unsigned long called_back(unsigned long i, void *rbp)
{
	if (!i) {
		__asm__ volatile("mov %%rbp, %0" : "=r"(*(u64 *)rbp));
		walk();
	}
	return 0;
}

/*
 * rbp is 0 in add_up(), which has a caller: its own is lost, and what a walk says must
 * not be that there is none.
 */
static void test_null_rbp(void **state)
{
	u64 rbp = 1;

	assert_int_equal(add_up(3, called_back, &rbp), 0);
	NO_TAIL;
#ifdef FRAME_POINTERS
	/* That of the callback's frame, where its caller's is. */
	rbp = *(u64 *)rbp;
#endif
	if (rbp) {
		print_message("the compiler keeps no sum in rbp\n");
		skip();
	}
	assert_stop(result.stop, UNPROVEN);
	/* walk(), called_back(), add_up(). */
	assert_int_equal(result.count, 3);
	assert_int_equal(result.proven, 3);
}

/* makecontext(): the function returns to __start_context, which nobody has called. */
static ucontext_t context, here;

static void in_context(void)
{
	/* Its stack is no part of the thread's. */
	kuw_port_set_window(0, KUW_PORT_USER_END, 0);
	walk();
	capture_window();
	NO_TAIL;
}

static noinline void enter_context(void)
{
	assert_int_equal(swapcontext(&here, &context), 0);
	NO_TAIL;
}

static void test_context(void **state)
{
	static char stack[256 * 1024] __attribute__((aligned(16)));

	assert_int_equal(getcontext(&context), 0);
	context.uc_stack.ss_sp = stack;
	context.uc_stack.ss_size = sizeof(stack);
	context.uc_link = &here;
	makecontext(&context, in_context, 0);
	enter_context();
	/* walk(), in_context(), __start_context. */
	assert_int_equal(result.count, 3);
	assert_int_equal(result.proven, 3);
	assert_stop(result.stop, COMPLETE);
}

static int prepare(void **state)
{
	if (host_space_of(&space, 0) || capture_window())
		return -1;
	kuw_port_stack_first = space.stack_first;
	return 0;
}

static int finish(void **state)
{
	host_space_free(&space);
	return 0;
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(test_null_rbp),
	cmocka_unit_test(test_context),
};

int main(void)
{
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, prepare, finish);
}
