// SPDX-License-Identifier: MIT
/*
 * Samples itself while it does what its functions' names say, for tests/vm/self-profile.sh.
 *
 *	sampled WHAT FOLDER [HZ]
 *	sampled libraries FOLDER ONE OTHER
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "libkunwind.h"
#include "sampling.h"

static int plain(void)
{
	begin();
	both(1000);
	return end();
}

static void *in_thread(void *unused)
{
	(void)unused;
	pthread_setname_np(pthread_self(), "worker");
	both(1000);
	return NULL;
}

static int threads(void)
{
	pthread_t threads[4];

	begin();
	for (int i = 0; i < 4; i++)
		if (pthread_create(&threads[i], NULL, in_thread, NULL))
			fail("pthread_create", -errno);
	for (int i = 0; i < 4; i++)
		pthread_join(threads[i], NULL);
	return end();
}

/* The files of two libraries. */
static char **names;

/* Code that comes after the start, and another one's in its place. */
static int libraries(void)
{
	void *bases[2];

	begin();
	for (int i = 0; i < 2; i++) {
		void *library = dlopen(names[i], RTLD_NOW);
		void (*work)(long ms) = library ? dlsym(library, "work_there") : NULL;
		Dl_info info;

		if (!work || !dladdr(work, &info)) {
			fprintf(stderr, "%s\n", dlerror());
			return 1;
		}
		bases[i] = info.dli_fbase;
		work(2000);
		dlclose(library);
	}
	printf("%s place\n", bases[0] == bases[1] ? "the same" : "another");
	return end();
}

/* A child does the same, and is not sampled; then it samples itself. */
static NOINLINE void only_in_child(void)
{
	both(300);
	KEEP_FRAME();
}

static int child(void)
{
	char own[512];
	int status;
	pid_t pid;

	begin();
	both(200);
	pid = fork();
	if (!pid) {
		only_in_child();
		if (kunwind_profile_stop() != -EALREADY)
			_exit(2);
		if (kunwind_profile_start(handle, hz, "none") != -EXDEV)
			_exit(3);
		kunwind_close(handle);
		if (kunwind_open(&handle))
			_exit(4);
		snprintf(own, sizeof(own), "%s-child", folder);
		folder = own;
		begin();
		only_in_child();
		/* exit() ends this one. */
		exit(0);
	}
	if (pid < 0 || waitpid(pid, &status, 0) != pid || status) {
		fprintf(stderr, "the child: %#x\n", status);
		return 1;
	}
	both(200);
	return end();
}

static void forks(void)
{
	for (int i = 0; i < 200; i++) {
		pid_t pid = fork();

		if (!pid)
			exit(0);
		little(5);
		waitpid(pid, NULL, 0);
	}
}

static int storm(void)
{
	begin();
	forks();
	return end();
}

/* It goes away without a stop. */
static int leave(void)
{
	begin();
	both(300);
	exit(0);
}

static int killed(void)
{
	begin();
	both(1500);
	return raise(SIGKILL);
}

/* The files are closed, and others have their numbers: nothing is written to them. */
static int closed(void)
{
	char text[] = "/tmp/kunwind-sampled-XXXXXX";
	struct rlimit limit;
	int fd, ret;

	begin();
	both(300);
	getrlimit(RLIMIT_NOFILE, &limit);
	for (fd = 3; fd < (int)limit.rlim_cur && fd < 1024; fd++)
		close(fd);
	fd = mkstemp(text);
	for (int i = 0; i < 64; i++)
		(void)dup(fd);
	both(1500);
	ret = kunwind_profile_stop();
	fd = open(text, O_RDONLY);
	printf("%s, %ld bytes\n", ret == -EBADF ? "EBADF" : "?", lseek(fd, 0, SEEK_END));
	unlink(text);
	return ret != -EBADF;
}

/* What has no room: the process goes on, and is told. */
static int full(void)
{
	int ret;

	begin();
	both(2000);
	ret = kunwind_profile_stop();
	printf("%s\n", strerrorname_np(-ret) ?: "no error");
	return ret >= 0;
}

static int limited(void)
{
	struct rlimit limit = { 30000, 30000 };

	setrlimit(RLIMIT_FSIZE, &limit);
	return full();
}

/* As Go's and other runtimes' stacks: with no room for a signal's frame. */
static void *on_small_stack(void *unused)
{
	static char room[64 << 10];
	stack_t stack = { .ss_sp = room, .ss_size = sizeof(room) };

	sigaltstack(&stack, NULL);
	return in_thread(unused);
}

static int alternative(void)
{
	pthread_t thread;

	begin();
	if (pthread_create(&thread, NULL, on_small_stack, NULL))
		fail("pthread_create", -errno);
	pthread_join(thread, NULL);
	return end();
}

/* Code that has no file. */
static int made_code(void)
{
	static const unsigned char code[] = {
		/* mov %rdi,%rcx; 1: dec %rcx; jnz 1b; ret */
		0x48, 0x89, 0xf9, 0x48, 0xff, 0xc9, 0x75, 0xfb, 0xc3,
	};
	void (*made)(long rounds);
	void *page;

	begin();
	for (int i = 0; i < 50; i++) {
		page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
			    -1, 0);
		memcpy(page, code, sizeof(code));
		mprotect(page, 4096, PROT_READ | PROT_EXEC);
		memcpy(&made, &page, sizeof(made));
		for (int j = 0; j < 20; j++)
			made(1000000);
		munmap(page, 4096);
	}
	return end();
}

static const struct subject subjects[] = {
	{ "plain", plain }, { "threads", threads }, { "libraries", libraries },
	{ "child", child }, { "storm", storm }, { "leave", leave }, { "killed", killed },
	{ "closed", closed }, { "full", full }, { "limited", limited },
	{ "alternative", alternative }, { "made-code", made_code },
	{ NULL },
};

int main(int argc, char **argv)
{
	const struct subject *subject = prepare(argc, argv, subjects);

	names = argv + 3;
	return subject ? subject->run() : 2;
}
