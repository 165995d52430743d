// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * C++ that makes a system call in every way that a stack can look: from inlined functions,
 * templates, virtual functions, lambdas, a callback of the standard library, a
 * destructor during an exception, an initializer, another thread. Each round, the same again.
 */
#include <algorithm>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <sys/resource.h>
#include <sys/time.h>
#include <thread>
#include <vector>

#define OUTLINE	__attribute__((noinline, noclone))
#define INLINE	static inline __attribute__((always_inline))

static volatile int sink;

OUTLINE static int ask(int which)
{
	int result = getpriority(PRIO_PROCESS, 0);

	sink = sink + which;
	return result;
}

namespace shapes {

INLINE int innermost(int which)
{
	return ask(which) + 1;
}

INLINE int middle(int which)
{
	return innermost(which) + 1;
}

struct shape {
	virtual ~shape() { sink = sink + ask(1); }
	virtual int area(int scale) const = 0;
};

struct square : shape {
	OUTLINE int area(int scale) const override { return middle(scale) + 2; }
};

template<typename T> struct box : shape {
	T value;

	explicit box(T initial) : value(initial) {}
	OUTLINE int area(int scale) const override
	{
		return (int)value + middle(scale) + square().area(scale);
	}
};

}

namespace {

struct guard {
	OUTLINE ~guard() { sink = sink + ask(2); }
};

OUTLINE int throws(int depth)
{
	guard here;

	if (!depth)
		throw std::runtime_error("deep enough");
	return throws(depth - 1) + 1;
}

}

template<typename F> OUTLINE static int apply(F function, int value)
{
	return function(value) + 1;
}

OUTLINE static void round()
{
	std::vector<int> numbers = { 3, 1, 2 };
	std::unique_ptr<shapes::shape> box(new shapes::box<long>(7));
	std::function<int(int)> stored = [](int value) { return ask(value) + 1; };

	sink = sink + box->area(3);
	sink = sink + apply([](int value) { return shapes::middle(value) + 1; }, 4);
	sink = sink + stored(5);
	std::sort(numbers.begin(), numbers.end(), [](int a, int b) {
		sink = sink + ask(6);
		return a < b;
	});
	try {
		sink = sink + throws(5);
	} catch (const std::exception &) {
		sink = sink + ask(7);
	}
}

static struct early {
	early() { sink = ask(8); }
} early;

int main(int argc, char **argv)
{
	int i, rounds = argc > 1 ? std::stoi(argv[1]) : 1;

	for (i = 0; i < rounds; i++)
		round();
	std::thread(round).join();
}
