// SPDX-License-Identifier: MIT
/*
 * The peers' unwinding functions on top of libkunwind, preloaded into their own test programs.
 *
 * backtrace(), unw_backtrace(), unw_backtrace2() and _Unwind_Backtrace() return
 * kunwind's frames. A cursor of libunwind steps through kunwind's frames: its
 * unw_step() says whether kunwind has another one, its UNW_REG_IP is kunwind's
 * address; other registers, names and unw_resume() stay libunwind's, whose own
 * cursor goes along. Exceptions and forced unwinding stay libgcc's, too: they need
 * landing pads. At each of their steps kunwind's stack is taken.
 *
 * Every stack of kunwind is compared with the peer's own, from the function that
 * asked outwards, and has to be complete if theirs is. What was compared is
 * counted in the file PEERS_TALLY, and differences are written to PEERS_LOG; with
 * PEERS_LIE there are some.
 *
 * The programs limit memory, count allocations, use small stacks, many threads and
 * signals: after the constructor nothing here allocates or needs much stack.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>
#include <unwind.h>

#include <libkunwind.h>
#include <libunwind.h>

#define EXPORT		__attribute__((visibility("default")))
#define NOINLINE	__attribute__((noinline, noclone))
#define FRAMES		1024
/* More threads than this at once wait for each other. */
#define WALKS		160
#define CURSORS		32
#define FORCED		64
#define MESSAGES	20

/* Both sides of one moment's stack, the innermost frame in take(). */
struct walk {
	atomic_flag busy;
	struct kunwind_bt *bt;
	const struct kunwind_frame *ours;
	int count;
	int complete;
	int their_count;
	int their_end;
	uint64_t theirs[FRAMES];
};

/* What tests/peers/run reads. */
struct tally {
	_Atomic uint64_t walks;
	_Atomic uint64_t frames;
	_Atomic uint64_t different;
	/* Where the peer's own walk failed, and so nothing was expected of kunwind. */
	_Atomic uint64_t theirs_failed;
	/* Stacks of which not all frames follow from tables. */
	_Atomic uint64_t guessed;
};

/*
 * A cursor that began in a frame with LEVEL frames from it to the outermost: the
 * inner ones come and go between its steps, the outer ones do not.
 */
struct cursor {
	const void *key;
	int level;
	int step;
	int ended;
	uint64_t ip;
};

struct forced {
	_Unwind_Stop_Fn stop;
	void *parameter;
	/* How many frames there are from the one of the last step outwards; 0: no step yet. */
	int level;
};

static struct walk walks[WALKS];
static struct kunwind_handle *_Atomic handle;
static struct tally no_tally, *tally = &no_tally;
static struct forced forced[FORCED];
static atomic_uint forced_next;
/* A check of the check: the outermost frame is wrong. */
static int lie;
/* A thread's: there from its start, and never allocated. */
#define THREAD		static __thread __attribute__((tls_model("initial-exec")))
THREAD struct cursor cursors[CURSORS];
THREAD unsigned int cursors_next;
/* A landing pad ran. */
THREAD int landed;

typedef _Unwind_Reason_Code (*backtrace_fn)(_Unwind_Trace_Fn, void *);
typedef _Unwind_Ptr (*get_ip_fn)(struct _Unwind_Context *);

/* libgcc's, whatever else the program is linked with. */
static backtrace_fn gcc_backtrace;
static get_ip_fn gcc_get_ip;

static void say(const char *format, ...)
{
	const char *path = getenv("PEERS_LOG");
	char line[300];
	va_list list;
	int fd, length;

	if (!path || tally->different > MESSAGES)
		return;
	va_start(list, format);
	length = vsnprintf(line, sizeof(line) - 1, format, list);
	va_end(list);
	if (length > (int)sizeof(line) - 2)
		length = sizeof(line) - 2;
	line[length++] = '\n';
	fd = open(path, O_WRONLY | O_APPEND | O_CLOEXEC);
	if (fd < 0 || write(fd, line, length) != length)
		_exit(98);
	close(fd);
}

static void open_device(void)
{
	struct kunwind_handle *new;
	int ret = kunwind_open(&new);

	if (ret) {
		fprintf(stderr, "shim: kunwind_open: %s\n", strerror(-ret));
		_exit(99);
	}
	/* The old one is not closed: its number may be another file's by now. */
	atomic_store(&handle, new);
}

static void *next(const char *name)
{
	return dlsym(RTLD_NEXT, name);
}

__attribute__((constructor))
static void prepare(void)
{
	const char *path = getenv("PEERS_TALLY");
	void *libgcc = dlopen("libgcc_s.so.1", RTLD_NOW | RTLD_LOCAL);
	int fd, i;

	if (libgcc) {
		*(void **)&gcc_backtrace = dlsym(libgcc, "_Unwind_Backtrace");
		*(void **)&gcc_get_ip = dlsym(libgcc, "_Unwind_GetIP");
	}
	for (i = 0; i < WALKS; i++) {
		walks[i].bt = kunwind_backtrace_new(FRAMES);
		if (!walks[i].bt)
			_exit(99);
	}
	if (!gcc_backtrace || !gcc_get_ip)
		_exit(99);
	if (path) {
		fd = open(path, O_RDWR | O_CLOEXEC);
		tally = mmap(NULL, sizeof(*tally), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
		if (tally == MAP_FAILED)
			_exit(99);
		close(fd);
	}
	lie = getenv("PEERS_LIE") != NULL;
	open_device();
}

static struct walk *walk_get(void)
{
	int i;

	for (;;) {
		for (i = 0; i < WALKS; i++)
			if (!atomic_flag_test_and_set(&walks[i].busy))
				return &walks[i];
		sched_yield();
	}
}

static void walk_put(struct walk *walk)
{
	atomic_flag_clear(&walk->busy);
}

static _Unwind_Reason_Code note(struct _Unwind_Context *context, void *arg)
{
	struct walk *walk = arg;
	uint64_t ip = gcc_get_ip(context);

	/* Behind the outermost frame libgcc shows one with the address 0. */
	if (!ip || walk->their_count == FRAMES)
		return _URC_END_OF_STACK;
	walk->theirs[walk->their_count++] = ip;
	return _URC_NO_REASON;
}

/* take() - kunwind's stack; frame 0 is in this function. */
static NOINLINE void take(struct walk *walk, int theirs)
{
	int ret = kunwind_backtrace(handle, walk->bt);

	if (ret < 0) {
		/* A child of fork() has to open its own, and so has who closed all files. */
		open_device();
		ret = kunwind_backtrace(handle, walk->bt);
	}
	if (ret < 0) {
		fprintf(stderr, "shim: kunwind_backtrace: %s\n", strerror(-ret));
		_exit(99);
	}
	tally->walks++;
	walk->ours = kunwind_backtrace_frames(walk->bt);
	walk->count = ret;
	if (kunwind_backtrace_proven(walk->bt) < kunwind_backtrace_count(walk->bt))
		tally->guessed++;
	if (lie && ret)
		((struct kunwind_frame *)walk->ours)[ret - 1].address ^= 1;
	walk->complete = kunwind_backtrace_stop(walk->bt) == KUNWIND_STOP_COMPLETE;
	walk->their_count = 0;
	if (theirs)
		walk->their_end = gcc_backtrace(note, walk);
}

static void different(const struct walk *walk, const char *what, int at, uint64_t expected)
{
	int i;

	tally->different++;
	say("# %s: frame %d of %d (%s) is %#llx, theirs %#llx", what, at, walk->count,
	    kunwind_stop_name(kunwind_backtrace_stop(walk->bt)),
	    at < walk->count ? (unsigned long long)walk->ours[at].address : 0ull,
	    (unsigned long long)expected);
	for (i = 0; i < walk->count && i < 24; i++)
		say("#     kunwind %2d %#llx  libgcc %#llx", i,
		    (unsigned long long)walk->ours[i].address,
		    i < walk->their_count ? (unsigned long long)walk->theirs[i] : 0ull);
}

/* compare() - all of kunwind's stack with libgcc's, from the caller of take() outwards. */
static void compare(const struct walk *walk, const char *what)
{
	int i;

	for (i = 1; i < walk->count && i < walk->their_count; i++) {
		tally->frames++;
		if (walk->ours[i].address != walk->theirs[i]) {
			different(walk, what, i, walk->theirs[i]);
			return;
		}
	}
	if (walk->count != walk->their_count || !walk->complete)
		different(walk, what, i, i < walk->their_count ? walk->theirs[i] : 0);
}

/* find() - which frame is at this address; no frame is at walk->count. */
static int find(const struct walk *walk, int from, uint64_t address)
{
	int i;

	for (i = from; i < walk->count && walk->ours[i].address != address; i++)
		;
	return i;
}

/* What a program asks for from CALLER outwards. */
static int backtrace_from(void **buffer, int size, uint64_t caller, const char *what)
{
	struct walk *walk = walk_get();
	int i, at;

	take(walk, 1);
	compare(walk, what);
	at = find(walk, 1, caller);
	if (at == walk->count)
		different(walk, what, at, caller);
	for (i = 0; i < size && at < walk->count; i++)
		buffer[i] = (void *)(uintptr_t)walk->ours[at++].address;
	walk_put(walk);
	return i;
}

#define CALLER()	((uintptr_t)__builtin_return_address(0))

EXPORT NOINLINE int backtrace(void **buffer, int size)
{
	return backtrace_from(buffer, size, CALLER(), "backtrace");
}

EXPORT NOINLINE int unw_backtrace(void **buffer, int size)
{
	return backtrace_from(buffer, size, CALLER(), "unw_backtrace");
}

static uint64_t interrupted(const void *context)
{
	return ((const ucontext_t *)context)->uc_mcontext.gregs[REG_RIP];
}

/* From the context that a signal handler got: what it interrupted is on the handler's stack. */
EXPORT NOINLINE int unw_backtrace2(void **buffer, int size, unw_context_t *context, int flag)
{
	if (!context)
		return backtrace_from(buffer, size, CALLER(), "unw_backtrace2");
	if (flag != UNW_INIT_SIGNAL_FRAME)
		return -UNW_EINVAL;
	return backtrace_from(buffer, size, interrupted(context), "unw_backtrace2");
}

/* Cursors. */

static struct cursor *cursor_of(const void *key)
{
	int i;

	for (i = 0; i < CURSORS; i++)
		if (cursors[i].key == key)
			return &cursors[i];
	return NULL;
}

/* A handler that interrupts this takes the next one. */
static struct cursor *cursor_new(const void *key)
{
	struct cursor *cursor = cursor_of(key);

	if (!cursor)
		cursor = &cursors[cursors_next++ % CURSORS];
	cursor->key = key;
	return cursor;
}

static void cursor_start(const void *key, uint64_t from, const char *what)
{
	struct cursor *cursor = cursor_new(key);
	struct walk *walk = walk_get();
	int at;

	take(walk, 0);
	at = find(walk, 1, from);
	if (at == walk->count)
		different(walk, what, at, from);
	cursor->level = walk->count - at;
	cursor->step = 0;
	cursor->ended = 0;
	walk_put(walk);
}

static void cursor_forget(const void *key)
{
	struct cursor *cursor = cursor_of(key);

	if (cursor)
		cursor->key = NULL;
}

static int cursor_ended(const void *key)
{
	struct cursor *cursor = cursor_of(key);

	return cursor && cursor->ended;
}

/* cursor_step() - to kunwind's next frame, which has to be the peer's (RET, IP). */
static int cursor_step(struct cursor *cursor, int ret, uint64_t ip)
{
	struct walk *walk = walk_get();
	int at;

	take(walk, 0);
	at = walk->count - cursor->level + ++cursor->step;
	if (cursor->ended) {
		/* Nobody says what is right. */
	} else if (ret > 0) {
		tally->frames++;
		if (at >= walk->count || walk->ours[at].address != ip)
			different(walk, "unw_step", at, ip);
	} else if (ret < 0) {
		tally->theirs_failed++;
	} else if (at != walk->count || !walk->complete) {
		different(walk, "unw_step to the end", at, 0);
	}
	if (ret <= 0)
		cursor->ended = 1;
	if (at < walk->count) {
		cursor->ip = walk->ours[at].address;
		ret = 1;
	} else {
		ret = walk->complete ? 0 : -UNW_EBADFRAME;
	}
	walk_put(walk);
	return ret;
}

/*
 * The functions of libunwind-x86_64.so, and of libunwind.so for programs with
 * UNW_LOCAL_ONLY: the same except their names.
 */
#define NAME(name)	_Ux86_64_##name
#define NEXT(name)	next("_Ux86_64_" #name)
#include "unw_cursor.h"
#undef NAME
#undef NEXT
#define NAME(name)	_ULx86_64_##name
#define NEXT(name)	next("_ULx86_64_" #name)
#include "unw_cursor.h"

/* The Itanium ABI's functions. */

/* _Unwind_Backtrace() gives its callback a context of ours. */
struct context {
	uint64_t ip;
	int exact;
};

THREAD struct context *current;

/*
 * is_restorer() - behind a signal's frame there is no return address, but the
 * address of the instruction that was interrupted.
 *
 * The restorer's code (movq $15, %rax; syscall) is what debuggers know it by.
 */
static int is_restorer(uint64_t address)
{
	static const unsigned char code[] = { 0x48, 0xc7, 0xc0, 15, 0, 0, 0, 0x0f, 0x05 };

	return address > 0xffff && !memcmp((void *)(uintptr_t)address, code, sizeof(code));
}

EXPORT NOINLINE _Unwind_Reason_Code _Unwind_Backtrace(_Unwind_Trace_Fn trace, void *arg)
{
	struct walk *walk = walk_get();
	struct context context, *before = current;
	_Unwind_Reason_Code ret;
	uint64_t last = 0;
	int at;

	take(walk, 1);
	compare(walk, "_Unwind_Backtrace");
	at = find(walk, 1, CALLER());
	for (; at < walk->count; at++) {
		context.ip = walk->ours[at].address;
		context.exact = is_restorer(last);
		current = &context;
		ret = trace((struct _Unwind_Context *)&context, arg);
		current = before;
		if (ret != _URC_NO_REASON)
			break;
		last = context.ip;
	}
	ret = at < walk->count ? _URC_FATAL_PHASE1_ERROR : _URC_END_OF_STACK;
	walk_put(walk);
	return ret;
}

EXPORT _Unwind_Ptr _Unwind_GetIP(struct _Unwind_Context *context)
{
	static get_ip_fn function;

	if (current && context == (void *)current)
		return current->ip;
	if (!function)
		*(void **)&function = next("_Unwind_GetIP");
	return function ? function(context) : gcc_get_ip(context);
}

EXPORT _Unwind_Ptr _Unwind_GetIPInfo(struct _Unwind_Context *context, int *before)
{
	static _Unwind_Ptr (*function)(struct _Unwind_Context *, int *);

	if (current && context == (void *)current) {
		*before = current->exact;
		return current->ip;
	}
	if (!function)
		*(void **)&function = next("_Unwind_GetIPInfo");
	return function(context, before);
}

/* check() - kunwind's stack is libgcc's, here and now. */
static NOINLINE void check(const char *what)
{
	struct walk *walk = walk_get();

	take(walk, 1);
	compare(walk, what);
	walk_put(walk);
}

typedef _Unwind_Reason_Code (*raise_fn)(struct _Unwind_Exception *);

EXPORT _Unwind_Reason_Code _Unwind_RaiseException(struct _Unwind_Exception *exception)
{
	static raise_fn function;

	if (!function)
		*(void **)&function = next("_Unwind_RaiseException");
	check("_Unwind_RaiseException");
	return function(exception);
}

EXPORT _Unwind_Reason_Code _Unwind_Resume_or_Rethrow(struct _Unwind_Exception *exception)
{
	static raise_fn function;

	if (!function)
		*(void **)&function = next("_Unwind_Resume_or_Rethrow");
	check("_Unwind_Resume_or_Rethrow");
	landed = 1;
	return function(exception);
}

/* The end of a landing pad. */
EXPORT void _Unwind_Resume(struct _Unwind_Exception *exception)
{
	static void (*function)(struct _Unwind_Exception *);

	if (!function)
		*(void **)&function = next("_Unwind_Resume");
	check("_Unwind_Resume");
	landed = 1;
	function(exception);
	abort();
}

/* At each frame that is left: kunwind's stack is libgcc's, and the frame is the next one of it. */
static _Unwind_Reason_Code stop(int version, _Unwind_Action actions,
				_Unwind_Exception_Class class,
				struct _Unwind_Exception *exception,
				struct _Unwind_Context *context, void *parameter)
{
	struct forced *state = parameter;
	uint64_t ip = _Unwind_GetIP(context);
	struct walk *walk = walk_get();
	int at;

	take(walk, 1);
	compare(walk, "forced unwinding");
	at = walk->count - state->level + 1;
	if (landed || !state->level) {
		/* It begins, or goes on inside of the frame whose landing pad ran. */
		at = find(walk, 1, ip);
		if (walk->count - at < state->level)
			at = walk->count;
	}
	landed = 0;
	if (actions & _UA_END_OF_STACK) {
		if (at != walk->count)
			different(walk, "the end of forced unwinding", at, ip);
	} else if (at >= walk->count || walk->ours[at].address != ip) {
		different(walk, "a step of forced unwinding", at, ip);
	}
	tally->frames++;
	state->level = walk->count - at;
	walk_put(walk);
	return state->stop(version, actions, class, exception, context, state->parameter);
}

EXPORT _Unwind_Reason_Code _Unwind_ForcedUnwind(struct _Unwind_Exception *exception,
						_Unwind_Stop_Fn function, void *parameter)
{
	static _Unwind_Reason_Code (*forced_unwind)(struct _Unwind_Exception *, _Unwind_Stop_Fn,
						    void *);
	struct forced *state = &forced[forced_next++ % FORCED];

	if (!forced_unwind)
		*(void **)&forced_unwind = next("_Unwind_ForcedUnwind");
	*state = (struct forced) { .stop = function, .parameter = parameter };
	return forced_unwind(exception, stop, state);
}
