// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * The vDSO's clock_gettime() makes a system call for a clock that it has no copy
 * of: the innermost frame is in the vDSO, which is no file.
 *
 * entry clock_gettime: [vdso] tell_time main ... _start
 */
#include <time.h>
#include "hard.h"
#include "vdso.h"

static int (*gettime)(clockid_t, struct timespec *);

FRAME static void tell_time(void)
{
	struct timespec ts;

	if (gettime(CLOCK_PROCESS_CPUTIME_ID, &ts))
		errx(1, "clock_gettime");
	STAY();
}

int main(void)
{
	uint64_t start, end;

	gettime = find_in_vdso("__vdso_clock_gettime", &start, &end);
	tell_time();
	report();
	return 0;
}
