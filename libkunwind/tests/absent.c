// SPDX-License-Identifier: MIT
/* The library as it is, where the module is not loaded: -ENODEV, at once. */
#include <errno.h>
#include <time.h>
#include <unistd.h>

#include "libkunwind.h"
#include "tap.h"

static double now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return time.tv_sec + time.tv_nsec / 1e9;
}

int main(void)
{
	struct kunwind_handle *handle = (void *)&handle;
	double begin;
	int ret;

	if (access("/dev/kunwind", F_OK) == 0)
		tap_skip_all("/dev/kunwind is there");
	begin = now();
	errno = 0;
	ret = kunwind_open(&handle);
	tap_ok(ret == -ENODEV, "kunwind_open: ENODEV");
	tap_ok(!handle, "kunwind_open: no handle");
	tap_ok(!errno, "kunwind_open: errno is left alone");
	tap_ok(now() - begin < 1, "kunwind_open: at once");
	kunwind_close(handle);
	return tap_done();
}
