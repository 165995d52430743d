// SPDX-License-Identifier: MIT
// Stacks of a C++ program while exceptions are in flight. Built twice: libgcc
// unwinds in the one, libunwind in the other.
#include <cstdlib>
#include <exception>
#include <pthread.h>
#include <unistd.h>
#include <unwind.h>

#include "live.h"
#include "tap.h"

static live_stacks *stacks;
static volatile int sink = 1;

namespace {

// Forgets what the functions noted that an exception skips.
class Depth {
public:
	Depth() : depth(live_depth()) {}
	void restore() const { live_set_depth(depth); }
private:
	unsigned int depth;
};

class Error {
public:
	explicit Error(bool take_copies) : take(take_copies) {}
	NOINLINE Error(const Error &other);
private:
	bool take;
};

NOINLINE Error::Error(const Error &other) : take(other.take)
{
	CALLED();
	if (take)
		live_take(stacks);
	RETURNS();
}

NOINLINE void throw_3(bool take_copies)
{
	CALLED();
	if (sink)
		throw Error(take_copies);
	RETURNS();
}

NOINLINE void throw_2(bool take_copies)
{
	CALLED();
	throw_3(take_copies);
	RETURNS();
}

NOINLINE void throw_1(bool take_copies)
{
	CALLED();
	throw_2(take_copies);
	RETURNS();
}

// In a catch block.

NOINLINE void in_catch()
{
	CALLED();
	Depth depth;
	try {
		throw_1(false);
	} catch (const Error &) {
		depth.restore();
		live_take(stacks);
	}
	RETURNS();
}

// In a catch block, while the exception is thrown again.

NOINLINE void rethrow()
{
	CALLED();
	try {
		throw_1(false);
	} catch (const Error &) {
		throw;
	}
	RETURNS();
}

NOINLINE void in_second_catch()
{
	CALLED();
	Depth depth;
	try {
		rethrow();
	} catch (...) {
		depth.restore();
		live_take(stacks);
	}
	RETURNS();
}

// In the copy constructor of an exception that is caught by value. A destructor
// on the way forgets the functions that the exception has left by then.

class Forget {
public:
	explicit Forget(const Depth &d) : depth(d) {}
	NOINLINE ~Forget() { depth.restore(); }
private:
	const Depth &depth;
};

NOINLINE void throw_over(const Depth &depth)
{
	Forget forget(depth);

	CALLED();
	throw_1(true);
	RETURNS();
}

NOINLINE void in_copy()
{
	CALLED();
	Depth depth;
	try {
		throw_over(depth);
	} catch (Error copy) {
		depth.restore();
	}
	RETURNS();
}

// In a destructor while the stack is unwound.

class Taker {
public:
	Taker() : depth() {}
	NOINLINE ~Taker();
private:
	Depth depth;
};

NOINLINE Taker::~Taker()
{
	depth.restore();
	CALLED();
	live_take(stacks);
	RETURNS();
}

NOINLINE void unwound(int turn)
{
	CALLED();
	Taker taker;
	if (turn)
		throw_1(false);
	RETURNS();
}

NOINLINE void in_destructor()
{
	CALLED();
	Depth depth;
	try {
		unwound(1);
	} catch (const Error &) {
		depth.restore();
	}
	RETURNS();
}

NOINLINE void in_plain_destructor()
{
	CALLED();
	Depth depth;
	unwound(0);
	// The destructor has noted unwound() again.
	depth.restore();
	RETURNS();
}

// In a catch block in a destructor while another exception is in flight.

class Thrower {
public:
	Thrower() : depth() {}
	NOINLINE ~Thrower();
private:
	Depth depth;
};

NOINLINE Thrower::~Thrower()
{
	depth.restore();
	CALLED();
	in_catch();
	RETURNS();
}

NOINLINE void unwound_twice(int turn)
{
	CALLED();
	Thrower thrower;
	if (turn)
		throw_1(false);
	RETURNS();
}

NOINLINE void in_nested_catch()
{
	CALLED();
	Depth depth;
	try {
		unwound_twice(1);
	} catch (const Error &) {
		depth.restore();
	}
	RETURNS();
}

// In libgcc: called back for each frame.

NOINLINE _Unwind_Reason_Code on_frame(_Unwind_Context *, void *arg)
{
	int *frames = static_cast<int *>(arg);

	live_push_others();
	CALLED();
	if (++*frames == 3)
		live_take(stacks);
	RETURNS();
	live_pop();
	return _URC_NO_REASON;
}

NOINLINE void in_callback()
{
	int frames = 0;

	CALLED();
	_Unwind_Backtrace(on_frame, &frames);
	RETURNS();
}

// In a thread that ends itself: a forced unwinding without an exception. It is
// libgcc's, whatever the program is linked with, and would go on in libunwind.

#ifndef LINKED_WITH_LIBUNWIND

NOINLINE void *ending_thread(void *)
{
	CALLED();
	Taker taker;
	if (sink)
		pthread_exit(nullptr);
	RETURNS();
	return nullptr;
}

NOINLINE void in_pthread_exit()
{
	pthread_t thread;

	if (pthread_create(&thread, nullptr, ending_thread, nullptr))
		tap_bail("pthread_create failed");
	pthread_join(thread, nullptr);
}
#endif

// An exception meets noexcept. In gcc's programs it is the personality routine that
// finds out: the frames between are libgcc's and libstdc++'s, and those that threw
// are still there. In clang's it is a landing pad, and they are gone.

unsigned int noexcept_depth;

[[noreturn]] NOINLINE void on_terminate()
{
#ifdef __clang__
	live_set_depth(noexcept_depth);
#endif
	live_push_others();
	CALLED();
	live_take(stacks);
	live_report(stacks, LIVE_MAIN, "in the terminate handler");
	_exit(tap_done());
}

NOINLINE void no_exceptions() noexcept
{
	CALLED();
	noexcept_depth = live_depth();
	throw_1(false);
	RETURNS();
}

NOINLINE void in_terminate()
{
	CALLED();
	Depth depth;
	std::set_terminate(on_terminate);
	try {
		no_exceptions();
	} catch (const Error &) {
		depth.restore();
	}
	RETURNS();
}

} // namespace

int main()
{
	CALLED();
	live_init();
	stacks = live_new();

	in_catch();
	live_report(stacks, LIVE_MAIN, "in a catch block");
	in_second_catch();
	live_report(stacks, LIVE_MAIN, "in a catch block, thrown again");
	in_copy();
	live_report(stacks, LIVE_MAIN, "in the copy constructor of what is caught");
	in_destructor();
	live_report(stacks, LIVE_MAIN, "in a destructor during unwinding");
	in_nested_catch();
	live_report(stacks, LIVE_MAIN, "in a catch block in a destructor during unwinding");
	in_callback();
	live_report(stacks, LIVE_MAIN, "in a callback of libgcc's unwinder");
#ifndef LINKED_WITH_LIBUNWIND
	in_pthread_exit();
	live_report(stacks, LIVE_THREAD, "in a destructor during pthread_exit()");
#endif
	in_plain_destructor();
	live_report(stacks, LIVE_MAIN, "in a destructor without an exception");
	in_terminate();
	tap_ok(0, "the terminate handler was called");
	return tap_done();
}
