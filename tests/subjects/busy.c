// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * Spins in one instruction, below some calls, until it is killed: whenever a tracer
 * looks, its stack is the same.
 */
#define NOINLINE	__attribute__((noinline, noclone))

static NOINLINE void spin(void)
{
	char room[100];

	__asm__ volatile("1: jmp 1b" :: "r"(room) : "memory");
}

static NOINLINE void descend(int depth)
{
	if (depth)
		descend(depth - 1);
	else
		spin();
	__asm__ volatile("" ::: "memory");
}

int main(void)
{
	descend(4);
	return 0;
}
