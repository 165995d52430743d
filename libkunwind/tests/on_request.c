// SPDX-License-Identifier: MIT
/*
 * Runs under kunwind profile --on-request, for tests/vm/on-request.sh.
 *
 *	on-request WHAT FOLDER
 */
#include <errno.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "libkunwind.h"
#include "sampling.h"

static NOINLINE void before(void)
{
	both(300);
	KEEP_FRAME();
}

static NOINLINE void in_between(void)
{
	both(500);
	KEEP_FRAME();
}

static NOINLINE void afterwards(void)
{
	both(300);
	KEEP_FRAME();
}

static int parts(void)
{
	before();
	begin();
	in_between();
	if (end())
		return 1;
	afterwards();
	return 0;
}

/* The first caller starts the recording. Another start fails until its stop. */
static int twice(void)
{
	int status;
	pid_t pid;

	begin();
	pid = fork();
	if (!pid) {
		if (kunwind_profile_stop() != -EALREADY)
			_exit(2);
		_exit(kunwind_profile_start(handle, hz, folder) != -EBUSY);
	}
	if (pid < 0 || waitpid(pid, &status, 0) != pid || status) {
		fprintf(stderr, "the child: %#x\n", status);
		return 1;
	}
	if (end() || kunwind_profile_stop() != -EALREADY)
		return 1;
	begin();
	in_between();
	return end();
}

static int closes_all(void)
{
	for (int fd = 3; fd < 1024; fd++)
		close(fd);
	begin();
	return end();
}

static int over(void)
{
	int ret;

	sleep(6);
	ret = kunwind_profile_start(handle, hz, folder);
	if (ret != -EPIPE)
		fail("kunwind_profile_start", ret);
	return 0;
}

static const struct subject subjects[] = {
	{ "parts", parts }, { "twice", twice }, { "closes-all", closes_all },
	{ "over", over },
	{ NULL },
};

int main(int argc, char **argv)
{
	const struct subject *subject = prepare(argc, argv, subjects);

	return subject ? subject->run() : 2;
}
