// SPDX-License-Identifier: MIT
/* The contract of a process's own profile. tests/vm/self-profile.sh looks at the traces. */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "libkunwind.h"
#include "tap.h"

static struct kunwind_handle *handle;

static void expect(int got, int want, const char *what)
{
	if (!tap_ok(got == want, "%s: %s", what, want ? strerrorname_np(-want) : "0"))
		tap_diag("got %d (%s)", got, got < 0 ? strerror(-got) : "no error");
}

static int exists(const char *path)
{
	struct stat st;

	return !stat(path, &st);
}

static int handles(void (*handler)(int))
{
	struct sigaction action;

	return !sigaction(SIGPROF, NULL, &action) && !(action.sa_flags & SA_SIGINFO) &&
	       action.sa_handler == handler;
}

/* errno is looked at all the while. */
static int use_cpu(long ms)
{
	struct timespec time;
	long now, until = 0;
	int good = 1;

	do {
		errno = 4711;
		for (volatile int i = 0; i < 20000; i++)
			;
		good &= errno == 4711;
		clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
		now = time.tv_sec * 1000 + time.tv_nsec / 1000000;
		until = until ?: now + ms;
	} while (now < until);
	return good;
}

static int nr_files(void)
{
	int fd, nr = 0;

	for (fd = 0; fd < 256; fd++)
		nr += fcntl(fd, F_GETFD) >= 0;
	return nr;
}

static void on_prof(int number)
{
	(void)number;
}

static void test_arguments(void)
{
	expect(kunwind_profile_start(NULL, 99, "a"), -EINVAL, "no handle");
	expect(kunwind_profile_stop(), -EALREADY, "stop without start");
}

static void test_refused(void)
{
	const int files = nr_files();

	expect(kunwind_profile_start(handle, 0, "a"), -EINVAL, "0 Hz");
	expect(kunwind_profile_start(handle, KUNWIND_MAX_HZ + 1, "a"), -EINVAL, "10001 Hz");
	expect(kunwind_profile_start(handle, 99, "no/folder"), -ENOENT, "no parent");
	mkdir("there", 0700);
	expect(kunwind_profile_start(handle, 99, "there"), -EEXIST, "a folder that exists");
	signal(SIGPROF, on_prof);
	expect(kunwind_profile_start(handle, 99, "a"), -EBUSY, "SIGPROF in use");
	tap_ok(handles(on_prof), "SIGPROF in use: it stays");
	signal(SIGPROF, SIG_DFL);
	tap_ok(!exists("a"), "no folder is left");
	tap_ok(nr_files() == files, "no file is left open");
	tap_ok(handles(SIG_DFL), "SIGPROF does what it did");
}

static void test_life(void)
{
	const int files = nr_files();

	errno = 4711;
	expect(kunwind_profile_start(handle, 997, "a"), 0, "start");
	tap_ok(errno == 4711, "start: errno is left alone");
	expect(kunwind_profile_start(handle, 997, "b"), -EBUSY, "start twice");
	tap_ok(!exists("b"), "start twice: no folder");
	tap_ok(use_cpu(300), "samples leave errno alone");
	kill(getpid(), SIGPROF);
	errno = 4711;
	expect(kunwind_profile_stop(), 0, "stop");
	tap_ok(errno == 4711, "stop: errno is left alone");
	expect(kunwind_profile_stop(), -EALREADY, "stop twice");
	tap_ok(exists("a/metadata") && exists("a/code"), "stop: there is a trace");
	tap_ok(nr_files() == files, "stop: no file is left open");
	tap_ok(handles(SIG_DFL), "stop: SIGPROF does what it did");
	for (int i = 0; i < 20; i++) {
		char name[16];

		snprintf(name, sizeof(name), "c%d", i);
		if (kunwind_profile_start(handle, KUNWIND_MAX_HZ, name) ||
		    !use_cpu(20) || kunwind_profile_stop())
			break;
		if (i == 19)
			tap_ok(1, "twenty starts and stops");
	}
	tap_ok(nr_files() == files, "they leave no file open");
	expect(kunwind_profile_start(handle, 99, NULL), 0, "no name");
	expect(kunwind_profile_stop(), 0, "stop of a profile without a sample");
}

static void test_taken(void)
{
	expect(kunwind_profile_start(handle, 99, "d"), 0, "start, then SIGPROF is taken");
	signal(SIGPROF, on_prof);
	expect(kunwind_profile_stop(), -EBUSY, "stop");
	tap_ok(handles(on_prof), "the program's handler stays");
	signal(SIGPROF, SIG_DFL);
}

/* The handle's own descriptor is not the profile's. */
static void test_closed(void)
{
	struct kunwind_handle *other;

	if (kunwind_open(&other))
		tap_bail("kunwind_open");
	expect(kunwind_profile_start(other, 99, "e"), 0, "start, then close the handle");
	kunwind_close(other);
	(void)use_cpu(100);
	expect(kunwind_profile_stop(), 0, "stop");
}

/* Ended by SIGPROF, it would be killed. */
static void test_pending(void)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGPROF);
	expect(kunwind_profile_start(handle, 997, "f"), 0, "start, with SIGPROF blocked");
	sigprocmask(SIG_BLOCK, &set, NULL);
	(void)use_cpu(100);
	expect(kunwind_profile_stop(), 0, "stop, with SIGPROF pending");
	sigprocmask(SIG_UNBLOCK, &set, NULL);
	tap_ok(1, "it is not delivered any more");
}

static void *start_and_stop(void *started)
{
	char name[32];
	int i, *count = started;

	for (i = 0; i < 200; i++) {
		int ret;

		snprintf(name, sizeof(name), "g%d-%d", gettid(), i);
		ret = kunwind_profile_start(handle, 997, name);
		*count += !ret;
		if (ret && ret != -EBUSY)
			return "start";
		ret = kunwind_profile_stop();
		if (ret < 0 && ret != -EBUSY && ret != -EALREADY)
			return "stop";
	}
	return NULL;
}

static void test_race(void)
{
	pthread_t threads[4];
	int counts[4] = { 0 }, all = 0, good = 1;

	for (int i = 0; i < 4; i++)
		if (pthread_create(&threads[i], NULL, start_and_stop, &counts[i]))
			tap_bail("pthread_create");
	for (int i = 0; i < 4; i++) {
		void *failed;

		pthread_join(threads[i], &failed);
		good &= !failed;
		all += counts[i];
	}
	(void)kunwind_profile_stop();
	tap_ok(good && all > 4, "four threads start and stop: documented answers");
	tap_diag("%d starts", all);
}

int main(void)
{
	char folder[] = "/tmp/kunwind-profile-XXXXXX";
	int ret;

	test_arguments();
	ret = kunwind_open(&handle);
	if (ret == -ENODEV) {
		tap_diag("no /dev/kunwind: load the module, or ./run.sh test vm");
		return tap_done();
	}
	if (ret)
		tap_bail("kunwind_open: %s", strerror(-ret));
	if (!mkdtemp(folder) || chdir(folder) || setenv("PWD", folder, 1))
		tap_bail("%s: %s", folder, strerror(errno));
	test_refused();
	test_life();
	test_taken();
	test_closed();
	test_pending();
	test_race();
	kunwind_close(handle);
	if (system("rm -rf -- \"$PWD\""))
		tap_diag("%s is left", folder);
	return tap_done();
}
