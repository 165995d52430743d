// SPDX-License-Identifier: GPL-2.0-only OR MIT
// Exceptions: through frames with and without cleanups, rethrown, nested.
#include <cstdio>
#include <stdexcept>
#include <string>

namespace {

struct guard {
	int *count;
	~guard() { ++*count; }
};

__attribute__((noinline)) int thrower(int depth, int *count)
{
	guard g{count};

	if (!depth)
		throw std::runtime_error("at the bottom " + std::to_string(*count));
	return thrower(depth - 1, count) + 1;
}

/* A realigned stack with a frame of unknown size. */
__attribute__((noinline)) int realigned(int n, int *count)
{
	alignas(64) volatile char big[256];
	volatile char *some = static_cast<char *>(__builtin_alloca(n));

	big[0] = some[0] = 1;
	return thrower(n & 3, count) + big[0];
}

__attribute__((noinline)) int rethrower(int n, int *count)
{
	try {
		return realigned(n, count);
	} catch (std::logic_error &) {
		return 1;
	} catch (...) {
		guard g{count};

		throw;
	}
}

}

int main()
{
	int count = 0, caught = 0;

	for (int i = 1; i < 6; i++) {
		try {
			rethrower(i * 7, &count);
		} catch (std::exception &e) {
			caught++;
		}
	}
	std::printf("%d caught, %d cleanups\n", caught, count);
	return caught != 5;
}
