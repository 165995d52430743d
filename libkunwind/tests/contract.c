// SPDX-License-Identifier: MIT
/*
 * What the library asks of the kernel, and what it makes of the answers. The device is
 * played (played_device.h): no stack is walked here.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "libkunwind.h"
#include "played_device.h"
#include "tap.h"

#define CALLS		100
#define CANARY		4321

static int count_files(void)
{
	DIR *dir = opendir("/proc/self/fd");
	int count = 0;

	while (dir && readdir(dir))
		count++;
	if (dir)
		closedir(dir);
	return count;
}

static void expect_open(int want, const char *what)
{
	struct kunwind_handle *handle = (void *)&errno;
	int files = count_files(), ret;

	errno = CANARY;
	ret = kunwind_open(&handle);
	if (!tap_ok(ret == want && !handle == !!want, "open: %s", what))
		tap_diag("got %d, want %d", ret, want);
	tap_ok(errno == CANARY, "open: %s: errno is left alone", what);
	kunwind_close(handle);
	tap_ok(errno == CANARY && count_files() == files,
	       "close: %s: no file is left", what);
}

static void test_open(void)
{
	static const struct {
		int error;
		int want;
		const char *what;
	} errors[] = {
		{ ENOENT, -ENODEV, "no device" },
		{ ENXIO, -ENODEV, "a device without its driver" },
		{ ENODEV, -ENODEV, "the driver says ENODEV" },
		{ EMFILE, -EMFILE, "too many files" },
		{ EACCES, -EACCES, "no permission" },
		{ ENOMEM, -ENOMEM, "no memory" },
	};

	for (size_t i = 0; i < sizeof(errors) / sizeof(errors[0]); i++) {
		played.open_errno = errors[i].error;
		expect_open(errors[i].want, errors[i].what);
	}
	played.open_errno = 0;
	expect_open(-EPROTO, "not our device");
	tap_ok(played.open_flags & O_CLOEXEC, "open: O_CLOEXEC");
	tap_ok(kunwind_open(NULL) == -EINVAL, "open: no place for the handle");
	kunwind_close(NULL);
}

static void test_version(void)
{
	played.version_abi = KUNWIND_ABI_VERSION;
	expect_open(0, "this ABI");
	played.version_abi = KUNWIND_ABI_VERSION + 1;
	expect_open(0, "a later ABI");
	played.version_abi = 0;
	expect_open(-EPROTO, "no ABI");
	played.version_abi = KUNWIND_ABI_VERSION;
	played.version_answer = -EINVAL;
	expect_open(-EPROTO, "another structure");
	played.version_answer = -ENOMEM;
	expect_open(-ENOMEM, "another error");
	played.version_answer = 0;
}

/* Of a daemon that has closed them: what it prints must not go to the device. */
static void test_standard_files(void)
{
	struct kunwind_handle *handle;
	int status = 0, failed;
	pid_t child = fork();

	if (!child) {
		close_range(0, 2, 0);
		failed = kunwind_open(&handle) != 0;
		for (int fd = 0; fd < 3; fd++)
			failed |= fcntl(fd, F_GETFD) >= 0;
		_exit(failed);
	}
	if (child < 0 || waitpid(child, &status, 0) != child)
		tap_bail("fork: %s", strerror(errno));
	tap_ok(!status, "open: the device is not file 0, 1 or 2");
}

static void test_new(void)
{
	static const uint32_t bad[] = { 0, KUNWIND_MAX_CAPACITY + 1, UINT32_MAX };
	struct kunwind_bt *bt;

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		errno = 0;
		tap_ok(!kunwind_backtrace_new(bad[i]) && errno == EINVAL,
		       "new: capacity %u: EINVAL", bad[i]);
	}
	for (uint32_t capacity = 1; capacity <= KUNWIND_MAX_CAPACITY; capacity <<= 10) {
		bt = kunwind_backtrace_new(capacity);
		tap_ok(bt && kunwind_backtrace_capacity(bt) == capacity &&
		       !kunwind_backtrace_count(bt) && !kunwind_backtrace_proven(bt) &&
		       kunwind_backtrace_stop(bt) == KUNWIND_STOP_NONE,
		       "new: capacity %u: empty", capacity);
		kunwind_backtrace_free(bt);
	}
	kunwind_backtrace_free(NULL);
}

static int is_empty(const struct kunwind_bt *bt)
{
	return !kunwind_backtrace_count(bt) && !kunwind_backtrace_proven(bt) &&
	       kunwind_backtrace_stop(bt) == KUNWIND_STOP_NONE &&
	       !strcmp(kunwind_stop_name(kunwind_backtrace_stop(bt)), "NONE");
}

static void test_backtrace(void)
{
	struct kunwind_bt *bt = kunwind_backtrace_new(FRAMES + 2);
	struct kunwind_handle *handle;
	const struct kunwind_frame *frames;
	int same = 1;

	if (!bt || kunwind_open(&handle))
		tap_bail("no handle");
	tap_ok(kunwind_backtrace(NULL, bt) == -EINVAL, "backtrace: no handle");
	tap_ok(kunwind_backtrace(handle, NULL) == -EINVAL, "backtrace: no room");
	tap_ok(kunwind_backtrace(handle, bt) == FRAMES && kunwind_backtrace(NULL, bt) == -EINVAL &&
	       is_empty(bt), "backtrace: without a handle it is empty");
	tap_ok(kunwind_backtrace(handle, bt) == FRAMES &&
	       kunwind_backtrace_thread(handle, -1, -1, bt) == -EINVAL && is_empty(bt),
	       "backtrace of a thread: with a wrong number it is empty");

	played.requests = 0;
	errno = CANARY;
	tap_ok(kunwind_backtrace(handle, bt) == FRAMES, "backtrace: the number of frames");
	tap_ok(errno == CANARY, "backtrace: errno is left alone");
	tap_ok(played.requests == 1, "backtrace: one request");
	tap_ok(played.asked.size == 32 && !played.asked.flags && !played.asked.reserved,
	       "backtrace: size 32, no flags, reserved zero");
	tap_ok(played.asked.capacity == FRAMES + 2, "backtrace: the capacity");
	tap_ok(played.asked.skip == 1, "backtrace: its own frame is skipped");
	frames = kunwind_backtrace_frames(bt);
	tap_ok((const char *)frames == (const char *)played.asked_at + 32,
	       "backtrace: the frames are where the kernel wrote them");
	for (int i = 0; i < FRAMES; i++)
		same &= frames[i].address == 0x1000u + i;
	tap_ok(same, "backtrace: all frames");
	tap_ok(kunwind_backtrace_count(bt) == FRAMES &&
	       kunwind_backtrace_proven(bt) == FRAMES - 1 &&
	       kunwind_backtrace_stop(bt) == KUNWIND_STOP_NO_RULE,
	       "backtrace: count, proven, stop");

	errno = CANARY;
	played.stack_answer = -EXDEV;
	tap_ok(kunwind_backtrace(handle, bt) == -EXDEV, "backtrace: EXDEV");
	tap_ok(errno == CANARY, "backtrace: EXDEV: errno is left alone");
	tap_ok(is_empty(bt), "backtrace: EXDEV: the old stack is gone");
	played.stack_answer = 0;
	tap_ok(kunwind_backtrace(handle, bt) == FRAMES && played.asked.capacity == FRAMES + 2 &&
	       played.asked.size == 32 && played.asked.skip == 1, "backtrace: again after an error");

	kunwind_close(handle);
	kunwind_backtrace_free(bt);
}

static void expect_deep(struct kunwind_handle *handle, uint32_t capacity,
			uint32_t count, int want, uint32_t stop)
{
	struct kunwind_bt *bt = kunwind_backtrace_new(capacity);
	const struct kunwind_frame *frames;
	int same = 1, ret;

	if (!bt)
		tap_bail("no room");
	played.requests = 0;
	ret = kunwind_backtrace(handle, bt);
	tap_ok(ret == (int)count && kunwind_backtrace_count(bt) == count &&
	       kunwind_backtrace_capacity(bt) == capacity,
	       "deep: capacity %u: %u frames", capacity, count);
	tap_ok(played.requests == want, "deep: in %d requests", want);
	tap_ok(kunwind_backtrace_stop(bt) == stop, "deep: %s", kunwind_stop_name(stop));
	tap_ok(kunwind_backtrace_proven(bt) ==
	       (count < DEEP_PROVEN ? count : DEEP_PROVEN), "deep: proven");
	frames = kunwind_backtrace_frames(bt);
	for (uint32_t i = 0; i < count; i++)
		same &= frames[i].address == 0x1000u + i && !frames[i].reserved &&
			frames[i].flags == (i < DEEP_PROVEN ? 0 : KUNWIND_FRAME_GUESSED);
	tap_ok(same, "deep: each frame is at its place");
	kunwind_backtrace_free(bt);
}

/* What one request does not return, others do. */
static void test_deep(void)
{
	struct kunwind_handle *handle;
	struct kunwind_bt *bt;

	if (kunwind_open(&handle))
		tap_bail("no handle");
	played.is_deep = 1;
	expect_deep(handle, DEEP + 100, DEEP, 3, KUNWIND_STOP_COMPLETE);
	expect_deep(handle, DEEP, DEEP, 3, KUNWIND_STOP_COMPLETE);
	expect_deep(handle, DEEP - 1, DEEP - 1, 3, KUNWIND_STOP_CAPACITY);
	expect_deep(handle, 2048, 2048, 2, KUNWIND_STOP_MAX_FRAMES);
	expect_deep(handle, 1025, 1025, 2, KUNWIND_STOP_CAPACITY);
	expect_deep(handle, 1024, 1024, 1, KUNWIND_STOP_MAX_FRAMES);
	expect_deep(handle, 1000, 1000, 1, KUNWIND_STOP_CAPACITY);
	bt = kunwind_backtrace_new(DEEP);
	if (!bt)
		tap_bail("no room");
	played.failing = 2;
	played.requests = 0;
	tap_ok(kunwind_backtrace(handle, bt) == -ENOMEM && played.requests == 2 && is_empty(bt),
	       "deep: the second request fails: no stack");
	played.failing = 0;
	played.is_deep = 0;
	kunwind_backtrace_free(bt);
	kunwind_close(handle);
}

/* Async-signal-safe: nothing is called, and no system call but one is made. */
static void test_one_call(void)
{
	struct kunwind_bt *bt = kunwind_backtrace_new(FRAMES);
	struct kunwind_handle *handle;
	int status = -1;
	pid_t child;

	if (!bt || kunwind_open(&handle))
		tap_bail("no handle");
	child = fork();
	if (child == 0) {
		int good = 1;

		played.requests = 0;
		if (played_kill_others())
			_exit(2);
		for (int i = 0; i < CALLS; i++)
			good &= kunwind_backtrace(handle, bt) == FRAMES;
		syscall(SYS_exit_group, !(good && played.requests == CALLS));
	}
	if (child < 0 || waitpid(child, &status, 0) != child)
		tap_bail("fork: %s", strerror(errno));
	tap_ok(WIFEXITED(status) && WEXITSTATUS(status) == 0,
	       "backtrace: no system call except the request");
	kunwind_close(handle);
	kunwind_backtrace_free(bt);
}

/* Return: what the library says of a child; ENOTTY if it asked this device, which has no answer. */
static int ask_of_child(struct kunwind_handle *handle, struct kunwind_bt *bt)
{
	pid_t child = fork();
	int pidfd, ret;

	if (!child)
		for (;;)
			pause();
	/* Not tap_bail(): a child of the test calls this, too. */
	if (child < 0)
		_exit(errno);
	pidfd = syscall(SYS_pidfd_open, child, 0);
	ret = kunwind_backtrace_thread(handle, pidfd, 0, bt);
	close(pidfd);
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	return -ret;
}

/* In a process whose first thread has ended. */
static void *ask_alone(void *data)
{
	struct kunwind_bt *bt = kunwind_backtrace_new(FRAMES);
	struct kunwind_handle *handle;
	char path[64];

	/* Until it is a zombie, /proc/self has its descriptors. */
	snprintf(path, sizeof(path), "/proc/self/fd/%d", open("/dev/null", O_RDONLY));
	while (!access(path, F_OK))
		usleep(1000);
	(void)data;
	if (!bt || kunwind_open(&handle))
		_exit(1);
	_exit(ask_of_child(handle, bt));
}

static void test_no_first_thread(void)
{
	pid_t child = fork();
	pthread_t thread;
	int status = 0;

	if (!child) {
		if (pthread_create(&thread, NULL, ask_alone, NULL))
			_exit(1);
		pthread_exit(NULL);
	}
	if (child < 0 || waitpid(child, &status, 0) != child)
		tap_bail("fork: %s", strerror(errno));
	tap_ok(WIFEXITED(status) && WEXITSTATUS(status) == ENOTTY,
	       "the process's first thread has ended: another one asks by a pidfd");
	tap_diag("status %#x", status);
}

/* The kernel has the numbers of the caller's PID namespace, and /proc may have another's. */
static void test_namespace(void)
{
	struct kunwind_bt *bt = kunwind_backtrace_new(FRAMES);
	struct kunwind_handle *handle;
	int status = 0;
	pid_t child;

	if (!bt || kunwind_open(&handle))
		tap_bail("no handle");
	tap_ok(ask_of_child(handle, bt) == ENOTTY, "thread: of this PID namespace");
	child = fork();
	if (!child) {
		if (unshare(CLONE_NEWUSER | CLONE_NEWPID))
			_exit(0);
		child = fork();
		if (!child)
			_exit(ask_of_child(handle, bt));
		waitpid(child, &status, 0);
		_exit(WEXITSTATUS(status));
	}
	if (child < 0 || waitpid(child, &status, 0) != child)
		tap_bail("fork: %s", strerror(errno));
	if (!WEXITSTATUS(status))
		tap_skip("thread: of another one", "this system has no user namespaces");
	else
		tap_ok(WEXITSTATUS(status) == ESRCH, "thread: of another one than /proc: ESRCH");
	kunwind_close(handle);
	kunwind_backtrace_free(bt);
}

static void test_stops(void)
{
	tap_ok(!strcmp(kunwind_stop_name(0), "NONE"),
	       "stop: the name of the first");
	tap_ok(!strcmp(kunwind_stop_name(KUNWIND_NR_STOPS - 1), "SIGNAL_BUDGET"),
	       "stop: the name of the last");
	tap_ok(!strcmp(kunwind_stop_text(KUNWIND_STOP_COMPLETE),
		       "the outermost frame was reached"), "stop: the text of the first");
	for (uint32_t stop = 0; stop < KUNWIND_NR_STOPS; stop++) {
		if (!kunwind_stop_name(stop)[1] || !kunwind_stop_text(stop)[10])
			tap_ok(0, "stop: number %u has a name and a text", stop);
		for (uint32_t other = 0; other < stop; other++) {
			if (!strcmp(kunwind_stop_name(stop), kunwind_stop_name(other)))
				tap_ok(0, "stop: the name of %u is its own", stop);
		}
	}
	tap_ok(!strcmp(kunwind_stop_name(KUNWIND_NR_STOPS), "?") &&
	       !strcmp(kunwind_stop_name(UINT32_MAX), "?") &&
	       !strcmp(kunwind_stop_text(KUNWIND_NR_STOPS), "unknown reason"),
	       "stop: unknown numbers");
}

int main(void)
{
	test_new();
	test_stops();
	test_open();
	if (played_trap_requests()) {
		tap_skip("requests", "this system has no seccomp filters");
		return tap_done();
	}
	test_version();
	test_standard_files();
	test_backtrace();
	test_deep();
	test_one_call();
	test_no_first_thread();
	test_namespace();
	return tap_done();
}
