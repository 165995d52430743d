/* SPDX-License-Identifier: MIT */
/*
 * Each allocation of kunwind, and each copy from or to user memory, fails once:
 * /proc/self/fail-nth, for the first, the second … until an operation comes to its
 * end without a failure. The kernel's filter by stack trace lets only those fail
 * that are made on behalf of the module.
 *
 * After each the stack must be whole again, as glibc's backtrace() says it is.
 *
 * usage: faults LIBRARY FOLDER MODULE-FILE others|alone|module, as root, in a kernel
 * with fault injection; kunwind and kunwind-test are loaded, and nobody uses them. What
 * is swept are the operations next to another consumer; those of the first and of the
 * last one; or loading and removing the module, which is not there any more then.
 */
#include <dlfcn.h>
#include <err.h>
#include <execinfo.h>
#include <stdbool.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "request.h"

#define DEBUG		"/sys/kernel/debug/"
#define FIGURES		"/sys/kernel/kunwind/"
#define ATTACH		"/sys/module/kunwind_test/parameters/attach"
#define SECTION		"/sys/module/kunwind/sections/.text"
#define MAX_FAULTS	3000

static const char *library, *folder, *module_file;
static char self[4096], copy[4096];
static int fail_nth;

/* What a round came to, as an exit status. */
enum { FAILED_ONCE, NO_FAULT, WRONG, CRASHED };

static void write_file(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);

	if (fd < 0 || write(fd, text, strlen(text)) < 0)
		err(2, "%s", path);
	close(fd);
}

static unsigned long read_number(const char *path, int base)
{
	char text[64] = "";
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd < 0 || read(fd, text, sizeof(text) - 1) < 0)
		err(2, "%s", path);
	close(fd);
	return strtoul(text, NULL, base);
}

static unsigned long figure(const char *name)
{
	char path[256];

	snprintf(path, sizeof(path), FIGURES "%s", name);
	return read_number(path, 10);
}

static void filter(unsigned long start, unsigned long end)
{
	static const char * const kinds[] = {
		"failslab", "fail_page_alloc", "fail_usercopy",
	};
	const struct {
		const char *name;
		unsigned long value;
	} settings[] = {
		{ "verbose", 0 }, { "require-start", start },
		{ "require-end", end }, { "stacktrace-depth", 32 },
		{ "reject-start", 0 }, { "reject-end", 0 },
		{ "ignore-gfp-wait", 0 }, { "ignore-gfp-highmem", 0 },
		{ "min-order", 0 },
	};
	char path[256], text[32];
	unsigned int i, k;

	for (k = 0; k < 3; k++) {
		for (i = 0; i < sizeof(settings) / sizeof(settings[0]); i++) {
			snprintf(path, sizeof(path), DEBUG "%s/%s", kinds[k],
				 settings[i].name);
			if (access(path, F_OK))
				continue;
			snprintf(text, sizeof(text), "%lu", settings[i].value);
			write_file(path, text);
		}
	}
}

/* The module's code lies at another address each time that it is loaded. */
static void filter_module(void)
{
	unsigned long start = read_number(SECTION, 16);

	filter(start, start + read_number("/sys/module/kunwind/coresize", 10));
}

/* The kernel's own symbols are in the order of their addresses. */
static void filter_function(const char *name)
{
	char line[512], found[256];
	unsigned long at, start = 0, end = 0;
	FILE *symbols = fopen("/proc/kallsyms", "re");

	if (!symbols)
		err(2, "/proc/kallsyms");
	while (!end && fgets(line, sizeof(line), symbols)) {
		if (sscanf(line, "%lx %*c %255s", &at, found) != 2)
			continue;
		if (start && at > start)
			end = at;
		else if (!strcmp(found, name))
			start = at;
	}
	fclose(symbols);
	if (!end)
		errx(2, "%s is not there", name);
	filter(start, end);
}

static void arm(unsigned int nth)
{
	char text[16];

	snprintf(text, sizeof(text), "%u", nth);
	if (pwrite(fail_nth, text, strlen(text), 0) < 0)
		err(2, "fail-nth");
}

/* Return: whether something failed since arm(). */
static bool disarm(void)
{
	char text[16] = "";

	if (pread(fail_nth, text, sizeof(text) - 1, 0) < 0)
		err(2, "fail-nth");
	arm(0);
	return !strtoul(text, NULL, 10);
}

struct answer {
	struct request request;
	long error;
	void *callers[64];
	int nr_callers;
};

static struct answer answer;

/* The two are made at different places of this function: its callers count. */
static NOINLINE void ask(int fd)
{
	answer.request.stack = good_stack(64);
	answer.error = raw_ioctl(fd, KUNWIND_IOC_STACK, &answer.request);
	answer.nr_callers = backtrace(answer.callers, 64);
	__asm__ volatile("" ::: "memory");
}

/* Without its table, the library's frame is guessed. */
static bool is_whole(void)
{
	const struct kunwind_stack *s = &answer.request.stack;

	return s->stop == KUNWIND_STOP_COMPLETE && s->proven == s->count;
}

/* Everything that is there is right, and what is not there has a reason. */
static bool is_right(bool must_be_whole)
{
	const struct kunwind_stack *s = &answer.request.stack;
	uint32_t i, count = answer.nr_callers;

	if (answer.error) {
		if (!must_be_whole &&
		    (answer.error == -ENOMEM || answer.error == -EFAULT))
			return true;
		printf("# the ioctl: %s\n", strerror(-answer.error));
		return false;
	}
	for (i = 1; i < s->count && i < count; i++)
		if (answer.request.frames[i].address != (uintptr_t)answer.callers[i])
			break;
	if (i == s->count && s->count &&
	    (s->stop != KUNWIND_STOP_COMPLETE || i == count) &&
	    (is_whole() || !must_be_whole))
		return true;
	printf("# %u frames of %u are right, %u proven, stop %u, %u callers\n", i,
	       s->count, s->proven, s->stop, count);
	return false;
}

static int ask_anew(void)
{
	int fd = open(DEVICE, O_RDONLY | O_CLOEXEC);

	if (fd < 0) {
		printf("# open: %s\n", strerror(errno));
		return WRONG;
	}
	ask(fd);
	close(fd);
	return is_right(true) ? FAILED_ONCE : WRONG;
}

static int round_end(bool failed)
{
	int status = ask_anew();

	return status == FAILED_ONCE && !failed ? NO_FAULT : status;
}

static int unexpected(const char *what)
{
	printf("# %s: %s\n", what, strerror(errno));
	return WRONG;
}

static void copy_library(void)
{
	char bytes[65536];
	int from, to;
	ssize_t n;

	unlink(copy);
	from = open(library, O_RDONLY | O_CLOEXEC);
	to = open(copy, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0755);
	if (from < 0 || to < 0)
		err(2, "%s", copy);
	while ((n = read(from, bytes, sizeof(bytes))) > 0)
		if (write(to, bytes, n) != n)
			err(2, "%s", copy);
	close(from);
	close(to);
}

static int do_open(unsigned int nth)
{
	bool failed;
	int fd;

	arm(nth);
	fd = open(DEVICE, O_RDONLY | O_CLOEXEC);
	failed = disarm();
	if (fd < 0 && errno != ENOMEM)
		return unexpected("open");
	if (fd >= 0)
		close(fd);
	return round_end(failed);
}

static int do_version(unsigned int nth)
{
	struct kunwind_version v = { .size = sizeof(v) };
	int fd = open_device();
	bool failed;
	long ret;

	arm(nth);
	ret = raw_ioctl(fd, KUNWIND_IOC_VERSION, &v);
	failed = disarm();
	close(fd);
	if (ret && ret != -EFAULT)
		return unexpected("version");
	return round_end(failed);
}

static int do_stack(unsigned int nth)
{
	int fd = open_device();
	bool failed;

	arm(nth);
	ask(fd);
	failed = disarm();
	close(fd);
	return is_right(false) ? round_end(failed) : WRONG;
}

/* In the middle of it, so that the stack goes through the new code. */
static int called_fd, called_status;

static void called_back(void *arg)
{
	ask(called_fd);
	called_status = is_right(arg) ? FAILED_ONCE : WRONG;
	__asm__ volatile("" ::: "memory");
}

static int call_through(void *handle, bool must_be_whole)
{
	int (*call_back)(void (*f)(void *), void *arg) =
		(int (*)(void (*)(void *), void *))dlsym(handle, "call_back");

	called_status = WRONG;
	if (call_back)
		call_back(called_back, must_be_whole ? &called_status : NULL);
	return called_status;
}

/* What could not be made for want of memory is, a second later (kmod/times.h). */
static int call_when_whole(void *handle)
{
	unsigned int round;

	for (round = 0; round < 50; round++) {
		if (call_through(handle, false) != FAILED_ONCE)
			return WRONG;
		if (!answer.error && is_whole())
			break;
		usleep(100000);
	}
	return call_through(handle, true);
}

/* Call through the library, with a fault ahead or behind, and let go of it. */
static int call_and_unload(void *handle)
{
	int status = call_through(handle, false);
	bool failed = disarm();

	if (status == FAILED_ONCE)
		status = call_when_whole(handle);
	dlclose(handle);
	close(called_fd);
	return status == FAILED_ONCE ? round_end(failed) : status;
}

static int do_load(unsigned int nth)
{
	void *handle;

	called_fd = open_device();
	copy_library();
	arm(nth);
	handle = dlopen(copy, RTLD_NOW);
	if (!handle) {
		disarm();
		printf("# dlopen: %s\n", dlerror());
		return WRONG;
	}
	return call_and_unload(handle);
}

/*
 * Load the library, with the first fault that leaves it without a table. On a slow machine,
 * what is missing can be tried again before the stack is asked for: so look for it again.
 * Return: NULL if there is none, or if a stack is wrong.
 */
static void *load_without_table(void)
{
	unsigned int nth, searches = 0;
	void *handle;
	bool failed;

	for (nth = 1; ; nth++) {
		copy_library();
		arm(nth);
		handle = dlopen(copy, RTLD_NOW);
		failed = disarm();
		if (!handle) {
			printf("# dlopen: %s\n", dlerror());
			return NULL;
		}
		if (call_through(handle, false) != FAILED_ONCE || answer.error)
			return NULL;
		if (!is_whole())
			return handle;
		dlclose(handle);
		if (failed)
			continue;
		if (++searches == 5) {
			printf("# each fault leaves a whole stack\n");
			return NULL;
		}
		nth = 0;
	}
}

/* What could not be made is tried again, and fails again. */
static int do_retry(unsigned int nth)
{
	void *handle;

	called_fd = open_device();
	handle = load_without_table();
	if (!handle)
		return WRONG;
	/* KW_RETRY_FIRST of kmod/times.h, and some more. */
	usleep(1100000);
	arm(nth);
	return call_and_unload(handle);
}

static int do_move(unsigned int nth)
{
	int fd = open_device(), file, status;
	const size_t size = 8 * PAGE;
	char *at, *to;
	bool failed;

	copy_library();
	file = open(copy, O_RDONLY | O_CLOEXEC);
	arm(nth);
	at = mmap(NULL, size, PROT_READ, MAP_PRIVATE, file, 0);
	to = mmap(NULL, size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (at == MAP_FAILED || to == MAP_FAILED ||
	    mprotect(at, size, PROT_READ | PROT_EXEC) ||
	    mprotect(at + PAGE, PAGE, PROT_READ) ||
	    mprotect(at + PAGE, PAGE, PROT_READ | PROT_EXEC) ||
	    mremap(at, size, size, MREMAP_MAYMOVE | MREMAP_FIXED, to) != to ||
	    munmap(to, PAGE)) {
		disarm();
		return unexpected("mappings");
	}
	ask(fd);
	failed = disarm();
	status = is_right(false) ? FAILED_ONCE : WRONG;
	close(fd);
	close(file);
	munmap(to, size);
	return status == FAILED_ONCE ? round_end(failed) : status;
}

/* How many forks take so many spares that the parent makes new ones (kmod/spares.c): a quarter. */
static int nr_forks(void)
{
	return 1 + (32 + 4 * (int)sysconf(_SC_NPROCESSORS_ONLN)) / 4;
}

static int do_fork(unsigned int nth)
{
	int i, forks = nr_forks(), status;
	bool failed;
	pid_t child;

	arm(nth);
	for (i = 0; i < forks; i++) {
		child = fork();
		/* Only the first: if spares are few, what opens the device makes them, too. */
		if (!child)
			_exit(i ? 0 : ask_anew());
		if (child < 0)
			return unexpected("fork");
		if (waitpid(child, &status, 0) != child || status)
			return WRONG;
	}
	failed = disarm();
	return round_end(failed);
}

/* The new program is main() again. */
static int do_exec(unsigned int nth)
{
	arm(nth);
	execl(self, self, "--asked", NULL);
	disarm();
	return unexpected("execve");
}

static int attach_with(unsigned int nth, bool *failed)
{
	int fd = open(ATTACH, O_WRONLY | O_CLOEXEC), error = 0;

	if (fd < 0)
		err(2, ATTACH);
	arm(nth);
	if (write(fd, "1", 1) < 0)
		error = errno;
	*failed = disarm();
	close(fd);
	return error;
}

static int do_attach(unsigned int nth)
{
	bool failed;
	int error = attach_with(nth, &failed), status;

	if (error && error != ENOMEM) {
		errno = error;
		return unexpected("attach");
	}
	status = round_end(failed);
	write_file(ATTACH, "0");
	return status;
}

static int do_detach(unsigned int nth)
{
	int fd = open(ATTACH, O_WRONLY | O_CLOEXEC);
	bool failed;
	ssize_t n;

	write_file(ATTACH, "1");
	arm(nth);
	n = write(fd, "0", 1);
	failed = disarm();
	if (n < 0)
		return unexpected("detach");
	close(fd);
	return round_end(failed);
}

/* After the last close, workers and grace periods follow. */
static bool come_down(void)
{
	static const char * const names[] = {
		"consumers", "spaces", "maps", "tables", "table_bytes",
		"build_bytes", "pending",
	};
	unsigned int round, i;

	for (round = 0; round < 200; round++) {
		for (i = 0; i < sizeof(names) / sizeof(names[0]); i++)
			if (figure(names[i]))
				break;
		if (i == sizeof(names) / sizeof(names[0]))
			return true;
		usleep(50000);
	}
	printf("# left: %s %lu\n", names[i], figure(names[i]));
	return false;
}

/* The module is loaded with hooks_stay_s=0. */
static bool hooks_are_gone(void)
{
	static const char * const hooked[] = {
		"perf_event_mmap ", "mprotect_fixup ", "copy_vma ", "vma_merge_extend ",
		"exit_mmap ", "wake_up_new_task ",
	};
	char line[512];
	bool gone = true;
	unsigned int i;
	FILE *functions = fopen("/sys/kernel/tracing/enabled_functions", "re");

	if (!functions)
		err(2, "enabled_functions");
	while (fgets(line, sizeof(line), functions))
		for (i = 0; i < sizeof(hooked) / sizeof(hooked[0]); i++)
			if (!strncmp(line, hooked[i], strlen(hooked[i])))
				gone = false;
	fclose(functions);
	return gone;
}

static bool all_down(void)
{
	unsigned int round;

	for (round = 0; round < 200; round++) {
		if (hooks_are_gone())
			return come_down();
		usleep(50000);
	}
	printf("# the hooks stay\n");
	return false;
}

static int load_module(void)
{
	int fd = open(module_file, O_RDONLY | O_CLOEXEC), error = 0;

	if (fd < 0)
		err(2, "%s", module_file);
	if (syscall(SYS_finit_module, fd, "", 0))
		error = errno;
	close(fd);
	return error;
}

static int do_insert(unsigned int nth)
{
	bool failed;
	int error;

	arm(nth);
	error = load_module();
	failed = disarm();
	if (error && error != ENOMEM) {
		errno = error;
		return unexpected("finit_module");
	}
	if (error && load_module())
		return unexpected("finit_module again");
	error = round_end(failed);
	if (syscall(SYS_delete_module, "kunwind", O_NONBLOCK))
		return unexpected("delete_module");
	return error;
}

static int do_remove(unsigned int nth)
{
	int status;
	bool failed;

	if (load_module())
		return unexpected("finit_module");
	filter_module();
	status = ask_anew();
	arm(nth);
	if (syscall(SYS_delete_module, "kunwind", O_NONBLOCK)) {
		disarm();
		return unexpected("delete_module");
	}
	failed = disarm();
	return status == FAILED_ONCE && !failed ? NO_FAULT : status;
}

/* Who else consumes during an operation. */
enum others { NOBODY, A_DEVICE, THE_SYSTEM, NO_MODULE };

static const struct operation {
	const char *name;
	int (*run)(unsigned int nth);
	enum others others;
	unsigned int least;	/* faults there must be: half of what there were */
} operations[] = {
	{ "ioctl VERSION", do_version, A_DEVICE, 2 },
	{ "ioctl STACK", do_stack, A_DEVICE, 3 },
	{ "open", do_open, A_DEVICE, 14 },
	{ "dlopen", do_load, A_DEVICE, 27 },
	{ "dlopen, tried again", do_retry, A_DEVICE, 23 },
	{ "mappings that change and move", do_move, A_DEVICE, 36 },
	{ "attach", do_attach, A_DEVICE, 102 },
	{ "fork", do_fork, THE_SYSTEM, 11 },
	{ "exec", do_exec, THE_SYSTEM, 15 },
	{ "dlopen, the system is covered", do_load, THE_SYSTEM, 23 },
	{ "open, the first one", do_open, NOBODY, 160 },
	{ "attach, the first one", do_attach, NOBODY, 350 },
	/* It allocates nothing, but debugobjects may then and there. */
	{ "detach", do_detach, NOBODY, 0 },
	{ "insmod", do_insert, NO_MODULE, 154 },
	{ "rmmod", do_remove, NO_MODULE, 3 },
};

static int run_round(const struct operation *op, unsigned int nth)
{
	int status;
	pid_t child;

	fflush(stdout);
	child = fork();
	if (child < 0)
		err(2, "fork");
	if (!child) {
		fail_nth = open("/proc/self/fail-nth", O_RDWR);
		if (fail_nth < 0)
			err(2, "fail-nth");
		status = op->run(nth);
		fflush(stdout);
		_exit(status);
	}
	if (waitpid(child, &status, 0) != child)
		err(2, "wait");
	if (WIFEXITED(status))
		return WEXITSTATUS(status);
	printf("# killed by signal %d\n", WTERMSIG(status));
	return CRASHED;
}

static void sweep(const struct operation *op)
{
	bool down = true;
	unsigned int nth;
	int held, result;

	held = op->others == A_DEVICE ? open_device() : -1;
	if (op->others == THE_SYSTEM)
		write_file(ATTACH, "1");
	for (nth = 1; nth < MAX_FAULTS; nth++) {
		if (op->others == NOBODY)
			down = all_down();
		result = down ? run_round(op, nth) : WRONG;
		if (result != FAILED_ONCE)
			break;
	}
	tap_ok(result == NO_FAULT && nth > op->least, "%s: each of %u fails once",
	       op->name, nth - 1);
	if (result != NO_FAULT)
		tap_diag("fault %u", nth);
	else if (nth <= op->least)
		tap_diag("there should be %u at least", op->least);
	if (op->others == THE_SYSTEM)
		write_file(ATTACH, "0");
	if (held >= 0)
		close(held);
	if (op->others != NO_MODULE)
		tap_ok(all_down(), "%s: nothing is left", op->name);
	fflush(stdout);
}

/* After do_exec(), with the fault still ahead or behind. */
static int asked(void)
{
	bool failed;

	fail_nth = open("/proc/self/fail-nth", O_RDWR);
	if (fail_nth < 0)
		err(2, "fail-nth");
	failed = disarm();
	backtrace(answer.callers, 1);
	return round_end(failed);
}

static const char *part_of(const struct operation *op)
{
	return op->others == NO_MODULE ? "module" :
	       op->others == NOBODY ? "alone" : "others";
}

int main(int argc, char **argv)
{
	const char *part = argv[argc - 1];
	unsigned int i;

	if (argc == 2 && !strcmp(part, "--asked"))
		return asked();
	if (argc != 5 || (strcmp(part, "others") && strcmp(part, "alone") &&
			  strcmp(part, "module")))
		errx(2, "usage: faults LIBRARY FOLDER MODULE-FILE others|alone|module");
	if (access("/proc/self/fail-nth", F_OK))
		tap_skip_all("this kernel has no fault injection: ./run.sh test debug");
	library = argv[1];
	folder = argv[2];
	module_file = argv[3];
	snprintf(copy, sizeof(copy), "%s/faults.so", folder);
	if (readlink("/proc/self/exe", self, sizeof(self) - 1) < 0)
		err(2, "/proc/self/exe");
	/* It loads libgcc the first time. */
	backtrace(answer.callers, 1);
	if (strcmp(part, "module")) {
		filter_module();
	} else {
		if (syscall(SYS_delete_module, "kunwind_test", O_NONBLOCK) ||
		    syscall(SYS_delete_module, "kunwind", O_NONBLOCK))
			err(2, "delete_module");
		filter_function("do_one_initcall");
	}
	for (i = 0; i < sizeof(operations) / sizeof(operations[0]); i++)
		if (!strcmp(part, part_of(&operations[i])))
			sweep(&operations[i]);
	return tap_done();
}
