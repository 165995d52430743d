// SPDX-License-Identifier: MIT
/*
 * What else a process may do while it samples itself: call in several threads, and fork.
 * There is no module: the device's answers come from here. Each test is a process.
 */
#include <unistd.h>
#include <time.h>
#include <signal.h>

#define kunwind_ioctl no_ioctl
#include "internal.h"
#undef kunwind_ioctl
#define kunwind_ioctl give_stack

static long give_stack(int fd, unsigned long request, void *arg);
static pid_t which_pid(void);
static int make_timer(clockid_t clock, struct sigevent *event, timer_t *timer);

/* The files are part of this program, so that a test can act between two of their steps. */
#define getpid which_pid
#define timer_create make_timer
#include <profile.c>
#undef getpid
#undef timer_create
#include <sample.c>

#include <sys/auxv.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include "tap.h"

static struct kunwind_handle handle;
/* What the module would count. */
static uint64_t mappings = 7;
/* Called once, instead of another thread that comes at that moment. */
static void (*at_getpid)(void), (*at_timer)(void);
static int answer;
/* As the first process of a PID namespace has it, and its child in a namespace of its own. */
static pid_t number;

static long give_stack(int fd, unsigned long request, void *arg)
{
	struct answer *to = arg;

	(void)fd;
	(void)request;
	to->at.stack.count = 1;
	to->at.stack.proven = 1;
	to->at.stack.stop = KUNWIND_STOP_COMPLETE;
	to->at.mappings = mappings;
	to->frames[0] = (struct kunwind_frame) {
		.address = to->at.registers.ip, .flags = KUNWIND_FRAME_INTERRUPTED,
	};
	return 0;
}

static void call_once(void (**function)(void))
{
	void (*once)(void) = *function;

	*function = NULL;
	if (once)
		once();
}

static pid_t which_pid(void)
{
	call_once(&at_getpid);
	return number ?: getpid();
}

static int make_timer(clockid_t clock, struct sigevent *event, timer_t *timer)
{
	call_once(&at_timer);
	return timer_create(clock, event, timer);
}

static void use_cpu(unsigned int ms)
{
	uint64_t until = read_clock(CLOCK_PROCESS_CPUTIME_ID) + ms * 1000000ull;

	while (read_clock(CLOCK_PROCESS_CPUTIME_ID) < until)
		;
}

static int start_one(const char *name)
{
	return kunwind_profile_start(&handle, 250, name);
}

static void stop_meanwhile(void)
{
	answer = kunwind_profile_stop();
}

/* SIGPROF would end the process if the timer were left. */
static int stop_during_start(void)
{
	int ret;

	at_timer = stop_meanwhile;
	ret = start_one("during");
	use_cpu(200);
	tap_diag("start: %d; stop meanwhile: %d", ret, answer);
	return !ret && answer == -EBUSY && kunwind_profile_stop() == 0;
}

static void start_meanwhile(void)
{
	answer = start_one("other");
}

static int two_starts(void)
{
	int ret;

	at_getpid = start_meanwhile;
	ret = start_one("one");
	tap_diag("start: %d; start meanwhile: %d", ret, answer);
	return !ret != !answer && (ret == -EBUSY || answer == -EBUSY) &&
	       kunwind_profile_stop() == 0;
}

/* Return: the exit status of a child, or -1. */
static int status_of(pid_t child)
{
	int status;

	return child > 0 && waitpid(child, &status, 0) == child && WIFEXITED(status) ?
	       WEXITSTATUS(status) : -1;
}

static int child_samples(const char *name)
{
	int lost;

	if (start_one(name))
		return 0;
	mappings++;
	use_cpu(400);
	lost = kunwind_profile_stop();
	tap_diag("the child lost %d samples", lost);
	return lost == 0;
}

/* The thread that tells of code is not in the child. */
static int fork_while_telling(void)
{
	pid_t child;

	if (start_one("parent"))
		return 0;
	kunwind_profile.threads->telling = 1;
	child = fork();
	if (!child)
		_exit(child_samples("child"));
	kunwind_profile.threads->telling = 0;
	return status_of(child) == 1;
}

/* The parent's trace is not the child's to end. */
static int same_number(void)
{
	pid_t child;

	number = 1;
	if (start_one("first"))
		return 0;
	child = fork();
	if (!child)
		_exit(kunwind_profile_stop() == -EALREADY && child_samples("second"));
	return status_of(child) == 1 && kunwind_profile_stop() == 0;
}

static int count_descriptors(void)
{
	int fd, count = 0;

	for (fd = 0; fd < 256; fd++)
		count += fcntl(fd, F_GETFD) >= 0;
	return count;
}

/* The device would stay open, and its module loaded, for as long as the child lives. */
static int child_gives_back(void)
{
	int before = count_descriptors(), left = before, inherited = before;
	pid_t child;

	if (start_one("inherited"))
		return 0;
	child = fork();
	if (!child) {
		inherited = count_descriptors();
		answer = kunwind_profile_stop();
		left = count_descriptors();
		tap_diag("%d descriptors, %d in the child, %d left", before, inherited, left);
		fflush(stdout);
		_exit(answer == -EALREADY && inherited > before && left == before &&
		      child_samples("own"));
	}
	return status_of(child) == 1 && kunwind_profile_stop() == 0;
}

static void *start_cancelled(void *unused)
{
	(void)unused;
	pthread_cancel(pthread_self());
	answer = start_one("cancelled");
	return NULL;
}

/* If it ended in the middle, nobody could stop the profile, or start another. */
static int cancelled_thread(void)
{
	pthread_t thread;

	answer = -1;
	if (pthread_create(&thread, NULL, start_cancelled, NULL) || pthread_join(thread, NULL))
		return 0;
	tap_diag("start: %d", answer);
	return !answer && kunwind_profile_stop() == 0;
}

/* Others have the numbers then. */
static int all_files_closed(void)
{
	int files[60], i, left = 0, ret;

	if (start_one("closed"))
		return 0;
	close_range(3, ~0u, 0);
	for (i = 0; i < 60; i++)
		files[i] = open("/proc/self/exe", O_RDONLY);
	ret = kunwind_profile_stop();
	for (i = 0; i < 60; i++)
		left += fcntl(files[i], F_GETFD) >= 0;
	tap_diag("stop: %d; files that are left: %d of 60", ret, left);
	return left == 60;
}

/* A daemon has closed them, and a line to stderr would be in the trace. */
static int standard_files_closed(void)
{
	int fd, taken = 0;

	close_range(0, 2, 0);
	if (start_one("daemon"))
		return 0;
	for (fd = 0; fd < 3; fd++)
		taken += fcntl(fd, F_GETFD) >= 0;
	return !taken && kunwind_profile_stop() == 0;
}

static void set_limit(rlim_t bytes)
{
	struct rlimit limit;

	getrlimit(RLIMIT_FSIZE, &limit);
	limit.rlim_cur = bytes;
	setrlimit(RLIMIT_FSIZE, &limit);
}

/* SIGXFSZ would end the process. */
static int limit_at_start(void)
{
	int ret;

	set_limit(1000);
	ret = start_one("limited");
	tap_diag("start: %d", ret);
	return ret == -EFBIG && access("limited", F_OK);
}

static int limit_meanwhile(void)
{
	int ret;

	if (start_one("later"))
		return 0;
	use_cpu(1500);
	set_limit(1000);
	use_cpu(1500);
	ret = kunwind_profile_stop();
	tap_diag("stop: %d", ret);
	return ret == -EFBIG;
}

/* A connection of the program has the number of the socket that it inherited, and closed. */
static int another_connection(void)
{
	char byte, variable[64];
	int ends[2], ret;
	struct stat st;

	if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends) || fstat(ends[0], &st))
		return 0;
	snprintf(variable, sizeof(variable), "%d:%lu", ends[0], (unsigned long)st.st_ino + 1);
	setenv("KUNWIND_PROFILE_FD", variable, 1);
	ret = start_one("none");
	tap_diag("start: %d", ret);
	return ret == -EBADF && recv(ends[1], &byte, 1, MSG_DONTWAIT) < 0 &&
	       kunwind_profile_stop() == -EALREADY;
}

/* What the handler needs, as the manual says, next to what the kernel puts there. */
#define HANDLER_STACK	2048
#define UNTOUCHED	0xa5

#ifdef __SANITIZE_ADDRESS__
#define IS_SANITIZED	1
#else
#define IS_SANITIZED	0
#endif

static unsigned char *kernels_part;

static void on_user_signal(int signal)
{
	(void)signal;
	kernels_part = (unsigned char *)__builtin_frame_address(0) + sizeof(void *);
}

/* Samples with code to tell of, on an alternate stack. */
static int small_stack(void)
{
	struct sigaction action = { .sa_handler = on_user_signal, .sa_flags = SA_ONSTACK };
	size_t size = getauxval(AT_MINSIGSTKSZ) + 16384;
	stack_t stack = { .ss_sp = malloc(size), .ss_size = size };
	int program = open("/proc/self/exe", O_RDONLY | O_CLOEXEC), i, ret;
	unsigned char *low = stack.ss_sp;

	if (!low || sigaltstack(&stack, NULL) || sigaction(SIGUSR1, &action, NULL) ||
	    raise(SIGUSR1))
		return 0;
	memset(low, UNTOUCHED, size);
	if (start_one("small"))
		return 0;
	for (i = 0; i < 20; i++) {
		mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, program, 0);
		mappings++;
		use_cpu(20);
	}
	ret = kunwind_profile_stop();
	while (low < kernels_part && *low == UNTOUCHED)
		low++;
	tap_diag("stop: %d; the handler used %td bytes", ret, kernels_part - low);
	return ret == 0 && low < kernels_part && kernels_part - low <= HANDLER_STACK;
}

static void test(int (*what)(void), const char *name)
{
	pid_t child;
	int status = 0;

	fflush(stdout);
	child = fork();
	if (!child) {
		status = what();
		fflush(stdout);
		_exit(!status);
	}
	waitpid(child, &status, 0);
	if (!tap_ok(child > 0 && !status, "%s", name) && WIFSIGNALED(status))
		tap_diag("it was ended by %s", strsignal(WTERMSIG(status)));
}

int main(void)
{
	char folder[] = "/tmp/kunwind-process-XXXXXX";

	handle.fd = open("/dev/null", O_RDWR | O_CLOEXEC);
	if (!mkdtemp(folder) || chdir(folder) || setenv("PWD", folder, 1))
		tap_bail("%s: %s", folder, strerror(errno));
	test(stop_during_start, "another thread stops during the start");
	test(two_starts, "two threads make the first start");
	test(fork_while_telling, "a child of a process that was telling of code");
	test(same_number, "a child with the same number");
	test(child_gives_back, "a child gives back what it has inherited");
	test(cancelled_thread, "a thread that is cancelled in the start");
	test(all_files_closed, "all files were closed, and others opened");
	test(standard_files_closed, "files 0 to 2 were closed, and stay so");
	test(limit_at_start, "files may not be large at the start");
	test(limit_meanwhile, "files may not be large any more");
	if (IS_SANITIZED)
		tap_skip("a small alternate stack", "the sanitizer's frames are larger");
	else
		test(small_stack, "a small alternate stack");
	test(another_connection, "a connection has the number of the recorder's socket");
	close(handle.fd);
	if (system("rm -rf -- \"$PWD\""))
		tap_diag("%s is left", folder);
	return tap_done();
}
