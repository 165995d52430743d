// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * The ways to walk: kunwind's of core/, a walk by frame pointer (the floor), and
 * what users have today.
 */
#define UNW_LOCAL_ONLY
#include <dlfcn.h>
#include <elfutils/libdwfl.h>
#include <libunwind.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include "bench.h"
#include "capture.h"
#include "load.h"
#include "rule_cache.h"
#include "walk.h"

static struct host_space space;
#define HUGE_PAGE	(2u << 20)

/* One with all that was walked before, and an empty one, each in a cache line of its own. */
#define LINE		__attribute__((aligned(64)))
static struct kuw_rule_cache cache LINE, empty_cache LINE;
static int (*libc_backtrace)(void **, int);
static Dwfl *dwfl;

static __always_inline int walk_with(struct kuw_rule_cache *c, void **frames,
				     int capacity)
{
	struct kuw_port_regs regs = { .in_syscall = false };
	struct kuw_result result;

	CAPTURE(&regs);
	kuw_walk(space.map, c, &regs, (u64 *)frames, (u32)capacity, &result);
	return (int)result.count;
}

static int walk_kunwind(void **frames, int capacity)
{
	return walk_with(&cache, frames, capacity);
}

/* As after a switch to another process: no entry is of this map. */
static int walk_empty(void **frames, int capacity)
{
	empty_cache.maps[space.map->number % KUW_CACHE_MAPS].number = 0;
	return walk_with(&empty_cache, frames, capacity);
}

/* The module's lies in the kernel's direct map, where pages are huge: here, too, if possible. */
static int make_cache(struct kuw_rule_cache *c)
{
	void *memory = aligned_alloc(HUGE_PAGE, HUGE_PAGE);

	if (!memory)
		return -1;
	madvise(memory, HUGE_PAGE, MADV_HUGEPAGE);
	memset(memory, 0, KUW_CACHE_BYTES);
	*c = (struct kuw_rule_cache){ .entries = memory };
	return 0;
}

/*
 * The same checks of each address as the kernel's own walk makes. This file is
 * compiled with frame pointers.
 */
static int walk_fp(void **frames, int capacity)
{
	u64 fp = (u64)__builtin_frame_address(0), next, ra;
	int n = 0;

	frames[n++] = __builtin_return_address(0);
	while (n < capacity) {
		if (fp & 7 || kuw_port_read(fp, &next) ||
		    kuw_port_read(fp + 8, &ra))
			break;
		frames[n++] = (void *)ra;
		if (next <= fp)
			break;
		fp = next;
	}
	return n;
}

static int walk_unw_backtrace(void **frames, int capacity)
{
	return unw_backtrace(frames, capacity);
}

static int walk_unw_step(void **frames, int capacity)
{
	unw_context_t context;
	unw_cursor_t cursor;
	unw_word_t ip;
	int n = 0;

	unw_getcontext(&context);
	unw_init_local(&cursor, &context);
	do {
		unw_get_reg(&cursor, UNW_REG_IP, &ip);
		frames[n++] = (void *)ip;
	} while (n < capacity && unw_step(&cursor) > 0);
	return n;
}

static int walk_libc(void **frames, int capacity)
{
	return libc_backtrace(frames, capacity);
}

/* Walks look for calls before return addresses that are aligned. */
static int read_code(u64 addr, u64 *word)
{
	if (!kuw_map_find(space.map, addr) || !kuw_map_find(space.map, addr + 7))
		return -EFAULT;
	*word = *(const u64 *)addr;
	return 0;
}

/* libdwfl walks any thread whose registers and memory it is given. */
struct dwfl_walk {
	struct kuw_port_regs regs;
	void **frames;
	int count;
	int capacity;
};

static struct dwfl_walk *dwfl_walk;

static pid_t dwfl_next(Dwfl *d, void *arg, void **thread)
{
	(void)d;
	(void)arg;
	if (*thread)
		return 0;
	*thread = &dwfl_walk;
	return 1;
}

static bool dwfl_get(Dwfl *d, pid_t tid, void *arg, void **thread)
{
	(void)d;
	(void)tid;
	(void)arg;
	*thread = &dwfl_walk;
	return true;
}

static bool dwfl_read(Dwfl *d, Dwarf_Addr addr, Dwarf_Word *word, void *arg)
{
	u64 value;

	(void)d;
	(void)arg;
	if (kuw_port_read(addr, &value))
		return false;
	*word = value;
	return true;
}

static bool dwfl_registers(Dwfl_Thread *thread, void *arg)
{
	Dwarf_Word r[17];
	int i;

	(void)arg;
	for (i = 0; i < 16; i++)
		r[i] = dwfl_walk->regs.r[i];
	r[16] = dwfl_walk->regs.ip;
	return dwfl_thread_state_registers(thread, 0, 17, r);
}

static const Dwfl_Thread_Callbacks dwfl_threads = {
	.next_thread = dwfl_next,
	.get_thread = dwfl_get,
	.memory_read = dwfl_read,
	.set_initial_registers = dwfl_registers,
};

static const Dwfl_Callbacks dwfl_files = {
	.find_elf = dwfl_linux_proc_find_elf,
	.find_debuginfo = dwfl_standard_find_debuginfo,
};

static int dwfl_frame(Dwfl_Frame *frame, void *arg)
{
	struct dwfl_walk *w = arg;
	Dwarf_Addr pc;

	if (!dwfl_frame_pc(frame, &pc, NULL))
		return DWARF_CB_ABORT;
	w->frames[w->count++] = (void *)pc;
	return w->count < w->capacity ? DWARF_CB_OK : DWARF_CB_ABORT;
}

static int walk_dwfl(void **frames, int capacity)
{
	struct dwfl_walk w = { .frames = frames, .capacity = capacity };

	dwfl_walk = &w;
	CAPTURE(&w.regs);
	dwfl_getthread_frames(dwfl, 1, dwfl_frame, &w);
	return w.count;
}

static int dwfl_open(void)
{
	dwfl = dwfl_begin(&dwfl_files);
	return !dwfl || dwfl_linux_proc_report(dwfl, getpid()) ||
	       dwfl_report_end(dwfl, NULL, NULL) ||
	       !dwfl_attach_state(dwfl, NULL, 1, &dwfl_threads, NULL) ? -1 : 0;
}

#define FUNCTIONS(how)	bench_##how, bench_##how##_sites

const struct bench_method bench_methods[] = {
	{ "frame_pointers", walk_fp, FUNCTIONS(fp), 0 },
	{ "kunwind", walk_kunwind, FUNCTIONS(plain), 0 },
	{ "kunwind_empty", walk_empty, FUNCTIONS(plain), 0 },
	{ "unw_backtrace", walk_unw_backtrace, FUNCTIONS(plain), 0 },
	{ "backtrace", walk_libc, FUNCTIONS(plain), 1 },
	{ "libdwfl", walk_dwfl, FUNCTIONS(plain), 1 },
	{ "unw_step", walk_unw_step, FUNCTIONS(plain), 1 },
};
const size_t bench_nr_methods = ARRAY_SIZE(bench_methods);

int bench_methods_open(void)
{
	/* -lunwind has a backtrace() of its own. */
	void *libc = dlopen("libc.so.6", RTLD_LAZY | RTLD_NOLOAD);
	const char *lacking = "no backtrace() in libc";

	if (libc)
		*(void **)&libc_backtrace = dlsym(libc, "backtrace");
	if (!libc_backtrace)
		goto fail;
	/* It loads libgcc_s when it is first called: before maps are made. */
	libc_backtrace((void *[1]){ NULL }, 1);
	lacking = "no memory";
	if (make_cache(&cache) || make_cache(&empty_cache))
		goto fail;
	lacking = "no address map";
	if (host_space_of(&space, 0))
		goto fail;
	kuw_port_elsewhere = read_code;
	lacking = "no stack";
	if (capture_window())
		goto fail;
	lacking = "libdwfl does not open this process";
	if (dwfl_open())
		goto fail;
	return 0;
fail:
	fprintf(stderr, "bench: %s\n", lacking);
	return -1;
}

void bench_methods_close(void)
{
	dwfl_end(dwfl);
	free(cache.entries);
	free(empty_cache.entries);
	host_space_free(&space);
}
