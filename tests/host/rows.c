// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * rows [--sample N] [--jobs N] [--examples N] [--tap] [--go] FILE|DIR ...
 *
 * Compares the tables of files with libdwarf. Differences go to stderr, figures
 * to stdout; the exit status is 1 if a row is different. With --go, it compares what the
 * tables have of .gopclntab with .debug_frame.
 */
#include <ftw.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include "rows.h"

struct file {
	char *path;
	uint64_t size, dev, ino;
};

/* Shared with the workers, which are processes: libdwarf may crash. */
struct shared {
	uint64_t next;
	uint64_t done;
	struct rows_stats stats[];
};

static struct file *files;
static size_t nr_files;

static int add_file(const char *path, const struct stat *st, int type,
		    struct FTW *ftw)
{
	static size_t room;

	(void)ftw;
	if (type != FTW_F || !S_ISREG(st->st_mode) || !st->st_size)
		return 0;
	if (nr_files == room) {
		room = room ? 2 * room : 1024;
		files = realloc(files, room * sizeof(*files));
		if (!files)
			return -1;
	}
	files[nr_files++] = (struct file){
		.path = strdup(path),
		.size = (uint64_t)st->st_size,
		.dev = st->st_dev,
		.ino = st->st_ino,
	};
	return 0;
}

static int by_inode(const void *pa, const void *pb)
{
	const struct file *a = pa, *b = pb;

	if (a->ino != b->ino)
		return a->ino < b->ino ? -1 : 1;
	return a->dev < b->dev ? -1 : a->dev > b->dev;
}

static int by_size(const void *pa, const void *pb)
{
	const struct file *a = pa, *b = pb;

	return a->size > b->size ? -1 : a->size < b->size;
}

/* Every file once, the largest first, so that no worker ends late. */
static void sort_files(void)
{
	size_t i, n = 0;

	qsort(files, nr_files, sizeof(*files), by_inode);
	for (i = 0; i < nr_files; i++)
		if (!i || by_inode(&files[i], &files[n - 1]))
			files[n++] = files[i];
	nr_files = n;
	qsort(files, nr_files, sizeof(*files), by_size);
}

static void work(struct shared *shared, const struct rows_options *options)
{
	struct rows_stats stats;
	size_t i;

	for (;;) {
		i = __atomic_fetch_add(&shared->next, 1, __ATOMIC_RELAXED);
		if (i >= nr_files)
			return;
		/* An answer for the case that the worker dies on it. */
		shared->stats[i].not_read = 1;
		memset(&stats, 0, sizeof(stats));
		rows_file(files[i].path, options, &stats);
		shared->stats[i] = stats;
		__atomic_fetch_add(&shared->done, 1, __ATOMIC_RELAXED);
	}
}

static double seconds(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static void progress(const struct shared *shared, double start)
{
	struct rows_stats sum = { 0 };
	size_t i, taken = shared->next < nr_files ? shared->next : nr_files;

	for (i = 0; i < taken; i++)
		rows_add(&sum, &shared->stats[i]);
	fprintf(stderr, "\r%zu of %zu files, %" PRIu64 " rows, %" PRIu64
		" different, %.0f s ", (size_t)shared->done, nr_files, sum.rows,
		sum.different, seconds() - start);
}

/* A worker that dies is replaced; the file it died of counts as not read. */
static int run(struct shared *shared, const struct rows_options *options,
	       long jobs)
{
	double start = seconds(), shown = start;
	long running = 0;
	int crashes = 0;

	while (running < jobs || shared->next < nr_files || running) {
		pid_t pid;
		int status;

		if (running < jobs && shared->next < nr_files) {
			fflush(NULL);
			pid = fork();
			if (!pid) {
				work(shared, options);
				fflush(NULL);
				_exit(0);
			}
			if (pid < 0) {
				perror("fork");
				exit(2);
			}
			running++;
			continue;
		}
		if (!running)
			break;
		pid = waitpid(-1, &status, WNOHANG);
		if (pid > 0) {
			running--;
			if (!WIFEXITED(status) || WEXITSTATUS(status)) {
				crashes++;
				fprintf(stderr, "# a worker died: %#x\n",
					status);
			}
			continue;
		}
		usleep(20000);
		if (isatty(2) && seconds() - shown > 0.5) {
			shown = seconds();
			progress(shared, start);
		}
	}
	if (isatty(2)) {
		progress(shared, start);
		fputc('\n', stderr);
	}
	return crashes;
}

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

static void print_tap(const struct shared *shared)
{
	size_t i;

	printf("1..%zu\n", nr_files);
	for (i = 0; i < nr_files; i++) {
		const struct rows_stats *s = &shared->stats[i];
		/* Few of Go's functions may be without rows. */
		bool bad = rows_failed(s) || s->not_read || s->not_elf ||
			   !s->rows || s->partial[ROWS_GO_SP] > s->rows / 20;

		printf("%sok %zu - %s: %" PRIu64 " rows compared, %" PRIu64
		       " different\n", bad ? "not " : "", i + 1,
		       base_name(files[i].path), s->rows, s->different);
	}
}

static void print_sum(const struct rows_stats *sum, const char *prefix)
{
	static const char *const reasons[] = {
#define ROWS_SENTENCE(name, sentence) [ROWS_##name] = sentence,
		ROWS_REASONS(ROWS_SENTENCE)
#undef ROWS_SENTENCE
	};
	unsigned int i;

	printf("%sfiles compared: %" PRIu64 "\n", prefix, sum->files);
	printf("%sfiles without an .eh_frame for x86: %" PRIu64 "\n", prefix,
	       sum->not_elf);
	printf("%sfiles that only libdwarf reads: %" PRIu64 "\n", prefix,
	       sum->not_compiled);
	printf("%sfiles that libdwarf does not read: %" PRIu64 "\n", prefix,
	       sum->not_read);
	printf("%sFDEs: %" PRIu64 ", unreadable for libdwarf: %" PRIu64 "\n",
	       prefix, sum->fdes, sum->fde_errors);
	printf("%sgaps between FDEs: %" PRIu64 ", with a rule: %" PRIu64 "\n",
	       prefix, sum->gaps, sum->gap_rules);
	printf("%srows of an overlapped FDE, left out: %" PRIu64 "\n", prefix,
	       sum->shadowed);
	for (i = 0; i < ROWS_NR_REASONS; i++)
		if (sum->partial[i])
			printf("%snot compared in full: %" PRIu64 ": %s\n", prefix,
			       sum->partial[i], reasons[i]);
	if (sum->eh_frame)
		printf("%stables: %" PRIu64 " bytes, %.1f %% of .eh_frame\n",
		       prefix, sum->table, 100. * (double)sum->table /
		       (double)sum->eh_frame);
	printf("%srows compared: %" PRIu64 "\n", prefix, sum->rows);
	printf("%srows different: %" PRIu64 "\n", prefix, sum->different);
}

static int usage(void)
{
	fputs("usage: rows [--sample N] [--jobs N] [--examples N] [--tap] [--go] "
	      "FILE|DIR ...\n", stderr);
	return 2;
}

int main(int argc, char **argv)
{
	static const struct option options[] = {
		{ "sample", required_argument, NULL, 's' },
		{ "jobs", required_argument, NULL, 'j' },
		{ "examples", required_argument, NULL, 'e' },
		{ "tap", no_argument, NULL, 't' },
		{ "go", no_argument, NULL, 'g' },
		{ NULL, 0, NULL, 0 },
	};
	struct rows_options how = { .sample = 1, .examples = 3 };
	long jobs = sysconf(_SC_NPROCESSORS_ONLN);
	struct rows_stats sum = { 0 };
	struct shared *shared;
	bool tap = false;
	int opt, crashes;
	size_t i;

	while ((opt = getopt_long(argc, argv, "", options, NULL)) != -1) {
		if (opt == 's')
			how.sample = (unsigned int)atoi(optarg);
		else if (opt == 'e')
			how.examples = (unsigned int)atoi(optarg);
		else if (opt == 'j')
			jobs = atol(optarg);
		else if (opt == 't')
			tap = true;
		else if (opt == 'g')
			how.go = true;
		else
			return usage();
	}
	if (optind == argc || !how.sample || jobs < 1)
		return usage();
	for (; optind < argc; optind++) {
		/* A link that is named is followed, one in a directory is not. */
		char *path = realpath(argv[optind], NULL);

		if (!path || nftw(path, add_file, 32, FTW_PHYS)) {
			perror(argv[optind]);
			return 2;
		}
		free(path);
	}
	sort_files();

	shared = mmap(NULL, sizeof(*shared) +
		      nr_files * sizeof(shared->stats[0]),
		      PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (shared == MAP_FAILED) {
		perror("mmap");
		return 2;
	}
	crashes = run(shared, &how, jobs);
	for (i = 0; i < nr_files; i++)
		rows_add(&sum, &shared->stats[i]);
	if (tap)
		print_tap(shared);
	print_sum(&sum, tap ? "# " : "");
	return crashes || rows_failed(&sum);
}
