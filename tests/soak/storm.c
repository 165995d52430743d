// SPDX-License-Identifier: MIT
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <libgen.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "storm.h"
#include "tap.h"

static const struct storm {
	const char *name;
	void (*round)(void);
	const char *what;
} storms[] = {
	{ "fork", storm_fork, "children and grandchildren at various depths" },
	{ "vfork", storm_vfork, "a child in its parent's memory, then a new program" },
	{ "spawn", storm_spawn, "posix_spawn() of a program that looks at itself" },
	{ "threads", storm_threads, "threads that come and go" },
	{ "dlopen", storm_dlopen, "different libraries, mostly at the same address" },
	{ "mmap", storm_mmap, "libraries' code over each other, without the loader" },
	{ "mprotect", storm_mprotect, "code that was data a moment ago" },
	{ "mremap", storm_mremap, "code that is moved" },
	{ "replace", storm_replace, "a library that is replaced on disk while it is mapped" },
	{ "memfd", storm_memfd, "code in files that have no name" },
	{ "deleted", storm_deleted, "a program that is deleted while it runs" },
	{ "namespaces", storm_namespaces, "a program of an overlay, in namespaces of its own" },
	{ "fuse", storm_fuse, "code from a slow file server, and one that hangs" },
	{ "own-fuse", storm_own_fuse, "code from a file server that is a thread of its client" },
	{ "lies", storm_lies, "code from a file server that lies; any stack will do" },
};

/* What is given to a program that looks at itself. */
#define TALLY_NAME	"KUNWIND_STORM_TALLY"
#define TRACER_NAME	"KUNWIND_STORM_TRACER"
#define TRACER		"/dev/kunwind-test"

#define MAX_SHOWN	3

struct tally *tally;

static char folder[PATH_MAX];
static char *self;
static unsigned int depth_seed;

void trouble(const char *what)
{
	atomic_fetch_add(&tally->errors, 1);
	fprintf(stderr, "# %s: %s\n", what, strerror(errno));
}

unsigned int chance(unsigned int below)
{
	static _Thread_local unsigned int state;

	if (!state)
		state = depth_seed + getpid() * 31 + (unsigned int)(uintptr_t)&state;
	return rand_r(&state) % below;
}

/*
 * What libunwind knows is kept per address, and it does not notice that another
 * library is there now: live.c is told to step without any cache.
 */
static void judge(const struct live_stacks *stacks, enum live_bottom bottom,
		  enum peer peer, const char *where)
{
	static atomic_uint shown;
	struct live_verdict verdict = live_judge(stacks, bottom);
	bool bad = true;

	atomic_fetch_add(&tally->stacks, 1);
	if (peer == PEER_ASKED && stacks->libunwind.count > 1)
		atomic_fetch_add(&tally->compared, 1);
	if (stacks->kunwind.count < 0) {
		errno = -stacks->kunwind.count;
		trouble("kunwind_backtrace");
	} else if (stacks->stop != KUNWIND_STOP_COMPLETE) {
		atomic_fetch_add(&tally->incomplete[stacks->stop], 1);
		if (!live_begins_true(stacks))
			atomic_fetch_add(&tally->wrong, 1);
	} else if (!verdict.true_calls || !verdict.complete) {
		atomic_fetch_add(&tally->wrong, 1);
	} else if (peer == PEER_ASKED && !verdict.like_libunwind) {
		atomic_fetch_add(&tally->unlike_libunwind, 1);
	} else {
		bad = false;
	}
	if (bad && atomic_fetch_add(&shown, 1) < MAX_SHOWN) {
		printf("# %s, pid %d:\n", where, getpid());
		live_print(stacks);
		fflush(stdout);
	}
}

static _Thread_local struct {
	enum live_bottom bottom;
	enum peer peer;
	const char *where;
} looking;

static void take_and_judge(struct live_stacks *stacks)
{
	CALLED();
	live_take(stacks);
	RETURNS();
	judge(stacks, looking.bottom, looking.peer, looking.where);
}

const struct live_calls *look_calls(enum live_bottom bottom, enum peer peer,
				    const char *where)
{
	static const struct live_calls calls = { live_push, live_pop, take_and_judge };

	looking.bottom = bottom;
	looking.peer = peer;
	looking.where = where;
	return &calls;
}

NOINLINE void look(enum live_bottom bottom, enum peer peer, const char *where)
{
	struct live_stacks *stacks = live_new();

	CALLED();
	live_take(stacks);
	RETURNS();
	judge(stacks, bottom, peer, where);
	live_free(stacks);
}

void look_again(void)
{
	live_reopen();
}

const char *variant_path(unsigned int number)
{
	static _Thread_local char path[PATH_MAX + 32];

	snprintf(path, sizeof(path), "%s/.libs/variant%u.so", folder,
		 number % NR_VARIANTS);
	return path;
}

void become_check(const char *path)
{
	char *argv[] = { self, "--check", NULL };

	execv(path ? path : self, argv);
	_exit(127);
}

void reap(int pid, const char *what)
{
	int status;

	if (pid < 0) {
		trouble(what);
		return;
	}
	while (waitpid(pid, &status, 0) < 0) {
		if (errno != EINTR) {
			trouble(what);
			return;
		}
	}
	if (status) {
		errno = 0;
		fprintf(stderr, "# %s: the child's status is %#x\n", what, status);
		trouble(what);
	}
}

/* The tally of all processes: a file without a name, that outlives execve(). */
static void make_tally(void)
{
	const char *given = getenv(TALLY_NAME);
	char number[16];
	int fd = given ? atoi(given) : memfd_create("tally", 0);

	if (fd < 0 || (!given && ftruncate(fd, sizeof(*tally))))
		tap_bail("the tally: %s", strerror(errno));
	tally = mmap(NULL, sizeof(*tally), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (tally == MAP_FAILED)
		tap_bail("the tally: %s", strerror(errno));
	snprintf(number, sizeof(number), "%d", fd);
	setenv(TALLY_NAME, number, 1);
}

/* The open file is handed on, as the tally is: a new program may not see the device. */
static void find_tracer(bool wanted)
{
	const char *given = getenv(TRACER_NAME);
	char number[16];
	int fd = given ? atoi(given) : -1;

	if (wanted && fd < 0) {
		fd = open(TRACER, O_RDONLY);
		if (fd < 0)
			tap_bail(TRACER ": %s", strerror(errno));
		snprintf(number, sizeof(number), "%d", fd);
		setenv(TRACER_NAME, number, 1);
	}
	live_use_tracer(fd);
}

static NOINLINE int check(void)
{
	CALLED();
	look(LIVE_MAIN, PEER_ASKED, "a new program");
	RETURNS();
	return 0;
}

/* Return: 1 if a stack was wrong or the storm itself failed. */
static int report(const struct storm *storm)
{
	unsigned long incomplete = 0;
	unsigned int stop;

	for (stop = 0; stop < KUNWIND_NR_STOPS; stop++)
		incomplete += tally->incomplete[stop];
	printf("%s: %lu rounds, %lu stacks, %lu wrong, %lu of %lu unlike libunwind's, ",
	       storm->name, tally->rounds, tally->stacks, tally->wrong,
	       tally->unlike_libunwind, tally->compared);
	if (tally->reused)
		printf("%lu in code where other code was, ", tally->reused);
	printf("%lu not whole", incomplete);
	for (stop = 0; stop < KUNWIND_NR_STOPS; stop++)
		if (tally->incomplete[stop])
			printf(" (%s %lu)", kunwind_stop_name(stop),
			       tally->incomplete[stop]);
	printf(", %lu errors\n", tally->errors);
	/* These two are about nothing else. */
	if ((storm->round == storm_dlopen || storm->round == storm_mmap) && !tally->reused)
		return 1;
	/* Where the file server lies, its own processes' stacks may be anything. */
	if (storm->round == storm_lies)
		return tally->errors || !tally->stacks;
	return tally->wrong || incomplete || tally->errors || !tally->stacks ||
	       tally->unlike_libunwind;
}

static NOINLINE void blow(const struct storm *storm, time_t end)
{
	CALLED();
	do {
		storm->round();
		atomic_fetch_add(&tally->rounds, 1);
	} while (time(NULL) < end);
	RETURNS();
}

static const struct storm *find(const char *name)
{
	for (unsigned int i = 0; i < sizeof(storms) / sizeof(storms[0]); i++)
		if (!strcmp(name, storms[i].name))
			return &storms[i];
	return NULL;
}

static void usage(void)
{
	printf("usage: storm [--seed N] [--tracer] NAME SECONDS\n"
	       "       storm --list\n\n"
	       "Does to its address space, for so long, what NAME says, and looks at its own stacks\n"
	       "meanwhile: those that it asks for itself, or, with --tracer, those that a tracer of\n"
	       "the whole system would get. Exit status 0: each stack was whole, true, and libunwind's.\n\n");
	for (unsigned int i = 0; i < sizeof(storms) / sizeof(storms[0]); i++)
		printf("  %-12s %s\n", storms[i].name, storms[i].what);
}

int main(int argc, char **argv)
{
	static const struct option options[] = {
		{ "seed", required_argument, NULL, 's' },
		{ "tracer", no_argument, NULL, 't' },
		{ "list", no_argument, NULL, 'l' },
		{ "check", no_argument, NULL, 'c' },
		{ "help", no_argument, NULL, 'h' },
		{ }
	};
	const struct storm *storm;
	bool is_check = false, is_tracer = false;
	int option, status;

	while ((option = getopt_long(argc, argv, "", options, NULL)) >= 0) {
		switch (option) {
		case 's':
			depth_seed = strtoul(optarg, NULL, 0);
			break;
		case 't':
			is_tracer = true;
			break;
		case 'l':
			for (unsigned int i = 0; i < sizeof(storms) / sizeof(storms[0]); i++)
				puts(storms[i].name);
			return 0;
		case 'c':
			is_check = true;
			break;
		case 'h':
			usage();
			return 0;
		default:
			usage();
			return 2;
		}
	}
	/* The one that was built, also when a copy of it runs. */
	self = is_check ? argv[0] : realpath(argv[0], NULL);
	snprintf(folder, sizeof(folder), "%s", self ? self : ".");
	dirname(folder);
	make_tally();
	find_tracer(is_tracer);
	live_init();
	if (!live_use_steps())
		tap_bail("libunwind cannot go step by step");
	CALLED();
	if (is_check) {
		status = check();
		/* Keeps the call from being a jump, which would leave main() out of the stack. */
		RETURNS();
		return status;
	}
	storm = optind + 2 == argc ? find(argv[optind]) : NULL;
	if (!storm) {
		usage();
		return 2;
	}
	blow(storm, time(NULL) + strtoul(argv[optind + 1], NULL, 0));
	return report(storm);
}
