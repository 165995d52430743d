// SPDX-License-Identifier: GPL-2.0-only OR MIT
// A D program: fibers, exceptions across them, delegates, C's qsort(), a thread.
module work;

import core.stdc.stdlib : qsort;
import core.thread;
import std.algorithm : map, sort, sum;
import std.array : array;
import std.range : iota;
import std.stdio;

extern (C) int compare(scope const void* a, scope const void* b)
{
	return *cast(const int*) a - *cast(const int*) b;
}

int deep(int n)
{
	if (n == 0)
	{
		Fiber.yield();
		throw new Exception("deep");
	}
	return deep(n - 1) + 1;
}

void main()
{
	int[] numbers = iota(1, 30).map!(i => i * 7919 % 101).array;
	qsort(numbers.ptr, numbers.length, int.sizeof, &compare);
	int caught, steps;
	auto fibers = iota(3).map!(i => new Fiber({
		try
			deep(i);
		catch (Exception e)
			caught++;
	})).array;
	foreach (round; 0 .. 2)
		foreach (fiber; fibers)
		{
			fiber.call();
			steps++;
		}
	auto thread = new Thread({ steps += numbers.sort!((a, b) => a > b)[0]; });
	thread.start();
	thread.join();
	writefln("%d %d %s", caught, steps, numbers.map!(n => n / 2.0).sum);
}
