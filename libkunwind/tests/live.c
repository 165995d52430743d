// SPDX-License-Identifier: MIT
/* The tools that take a stack, and the calls that were made: see live.h. */
#include <dlfcn.h>
#include <errno.h>
#include <execinfo.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "live.h"
#include "tap.h"

#if defined(HAVE_LIBUNWIND) && !defined(STATIC_PROGRAM)
#define UNW_LOCAL_ONLY
#include <libunwind.h>
#endif

static struct kunwind_handle *handle;
static int tracer = -1;
static _Thread_local struct live_list truth;

typedef int (*backtrace_fn)(void **frames, int size);

static backtrace_fn libc_backtrace;
static backtrace_fn libunwind_backtrace;

/*
 * A program that is linked with libunwind gets its backtrace() in place of libc's,
 * and its _Unwind_Resume() in place of libgcc's, which pthread_exit() does not
 * survive. So each tool is asked for by the name of its library.
 */
#ifndef STATIC_PROGRAM
static backtrace_fn find(const char *library, const char *symbol)
{
	void *opened = dlopen(library, RTLD_LAZY | RTLD_LOCAL);
	backtrace_fn function = NULL;

	if (opened)
		*(void **)&function = dlsym(opened, symbol);
	return function;
}
#endif

static void find_tools(void)
{
#ifndef STATIC_PROGRAM
	libunwind_backtrace = find("libunwind.so.8", "unw_backtrace");
	libc_backtrace = find("libc.so.6", "backtrace");
#else
	libc_backtrace = backtrace;
#endif
	if (!libc_backtrace)
		tap_bail("no backtrace() in libc.so.6");
}

#if defined(HAVE_LIBUNWIND) && !defined(STATIC_PROGRAM)
#define NAME_OF(symbol)		#symbol
#define NAME(symbol)		NAME_OF(symbol)

/* libunwind's own, by the names that its header gives them. */
static struct {
	int (*getcontext)(unw_context_t *context);
	int (*init_local)(unw_cursor_t *cursor, unw_context_t *context);
	int (*step)(unw_cursor_t *cursor);
	int (*get_reg)(unw_cursor_t *cursor, int reg, unw_word_t *value);
	int (*set_caching_policy)(unw_addr_space_t space, unw_caching_policy_t policy);
	unw_addr_space_t *local;
} steps;

static NOINLINE int backtrace_by_steps(void **frames, int size)
{
	unw_context_t context;
	unw_cursor_t cursor;
	unw_word_t ip;
	int n = 0;

	if (steps.getcontext(&context) || steps.init_local(&cursor, &context))
		return 0;
	while (n < size && steps.step(&cursor) > 0 &&
	       !steps.get_reg(&cursor, UNW_REG_IP, &ip) && ip)
		frames[n++] = (void *)ip;
	return n;
}

int live_use_steps(void)
{
	void *library = dlopen("libunwind.so.8", RTLD_LAZY | RTLD_LOCAL);

	if (!library)
		return 0;
	*(void **)&steps.getcontext = dlsym(library, NAME(unw_tdep_getcontext));
	*(void **)&steps.init_local = dlsym(library, NAME(unw_init_local));
	*(void **)&steps.step = dlsym(library, NAME(unw_step));
	*(void **)&steps.get_reg = dlsym(library, NAME(unw_get_reg));
	*(void **)&steps.set_caching_policy = dlsym(library, NAME(unw_set_caching_policy));
	steps.local = dlsym(library, NAME(unw_local_addr_space));
	if (!steps.getcontext || !steps.init_local || !steps.step || !steps.get_reg ||
	    !steps.set_caching_policy || !steps.local ||
	    steps.set_caching_policy(*steps.local, UNW_CACHE_NONE))
		return 0;
	libunwind_backtrace = backtrace_by_steps;
	return 1;
}
#else
int live_use_steps(void)
{
	return 0;
}
#endif

int live_has_libunwind(void)
{
	return libunwind_backtrace != NULL;
}

void live_push(const void *address)
{
	if (truth.count == LIVE_FRAMES)
		tap_bail("the test nests too deep");
	truth.frames[truth.count++] = (uintptr_t)address;
}

void live_pop(void)
{
	truth.count--;
}

void live_push_others(void)
{
	live_push((void *)LIVE_OTHERS);
}

unsigned int live_depth(void)
{
	return truth.count;
}

void live_set_depth(unsigned int depth)
{
	truth.count = depth;
}

struct live_stacks *live_new(void)
{
	struct live_stacks *stacks = calloc(1, sizeof(*stacks));

	if (stacks)
		stacks->bt = kunwind_backtrace_new(LIVE_FRAMES);
	if (!stacks || !stacks->bt)
		tap_bail("out of memory");
	return stacks;
}

void live_free(struct live_stacks *stacks)
{
	kunwind_backtrace_free(stacks->bt);
	free(stacks);
}

struct answer {
	uint16_t stop;
	/* Of other threads. */
	uint16_t running;
	uint32_t proven;
	uint64_t frames[LIVE_FRAMES];
};

/* The first frame is syscall()'s. @size: of @answer, or -1 */
static void tracer_has(struct live_stacks *stacks, const struct answer *answer, long size)
{
	struct live_list *list = &stacks->kunwind;

	if (size < 0) {
		list->count = -errno;
		return;
	}
	list->count = size / sizeof(answer->frames[0]) - 1;
	if (list->count) {
		list->count--;
		memcpy(list->frames, answer->frames + 1,
		       list->count * sizeof(list->frames[0]));
	}
	stacks->stop = answer->stop;
	stacks->proven = answer->proven ? answer->proven - 1 : 0;
}

static NOINLINE void take_kunwind(struct live_stacks *stacks)
{
	struct live_list *list = &stacks->kunwind;
	struct answer answer;

	if (tracer >= 0) {
		tracer_has(stacks, &answer,
			   syscall(SYS_read, tracer, &answer, sizeof(answer)));
		return;
	}
	list->count = kunwind_backtrace(handle, stacks->bt);
	for (int i = 0; i < list->count; i++)
		list->frames[i] = kunwind_backtrace_frames(stacks->bt)[i].address;
	stacks->stop = kunwind_backtrace_stop(stacks->bt);
	stacks->proven = kunwind_backtrace_proven(stacks->bt);
}

static NOINLINE void take_libunwind(struct live_stacks *stacks)
{
	struct live_list *list = &stacks->libunwind;

	list->count = 0;
	if (libunwind_backtrace)
		list->count = libunwind_backtrace((void **)list->frames,
						  LIVE_FRAMES);
}

static NOINLINE void take_libc(struct live_stacks *stacks)
{
	struct live_list *list = &stacks->libc;

	list->count = libc_backtrace((void **)list->frames, LIVE_FRAMES);
}

typedef void (*tool_fn)(struct live_stacks *stacks);

static const tool_fn tools[] = { take_kunwind, take_libunwind, take_libc };
/* Not known to the compiler: all tools are called from one instruction. */
static volatile unsigned int tool_count = sizeof(tools) / sizeof(tools[0]);

NOINLINE void live_take(struct live_stacks *stacks)
{
	CALLED();
	stacks->truth.count = truth.count;
	memcpy(stacks->truth.frames, truth.frames,
	       truth.count * sizeof(truth.frames[0]));
	for (unsigned int i = 0; i < tool_count; i++)
		tools[i](stacks);
	RETURNS();
}

void live_use_tracer(int fd)
{
	tracer = fd;
}

void live_reopen(void)
{
	int ret;

	if (tracer >= 0)
		return;
	kunwind_close(handle);
	ret = kunwind_open(&handle);
	if (ret < 0)
		tap_bail("kunwind_open: %s", strerror(-ret));
}

void live_init(void)
{
	int ret = tracer < 0 ? kunwind_open(&handle) : 0;

	if (ret == -ENODEV)
		tap_skip_all("no /dev/kunwind: load the module, or ./run.sh test vm");
	if (ret < 0)
		tap_bail("kunwind_open: %s", strerror(-ret));
	find_tools();
	if (!libunwind_backtrace)
		tap_skip("compared with unw_backtrace()",
			 "no libunwind.so.8 in this program");
	/* libc loads libgcc_s and allocates with the first call. */
	live_take(live_new());
}
