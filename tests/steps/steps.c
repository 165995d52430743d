// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * Single-steps a program and compares the walk of core/ with what the program
 * will really return to; see Documentation/steps.md.
 *
 * usage: steps [OPTION]... -- COMMAND ARGUMENT...
 */
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include "oracle.h"

#define EXIT_SKIP	77

static double seconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static int usage(void)
{
	fputs("usage: steps [OPTION]... -- COMMAND ARGUMENT...\n"
	      "  --every N    compare at every N-th instruction\n"
	      "  --max N      end after N instructions\n"
	      "  --thread N   follow the N-th thread that the main thread starts\n"
	      "  --skip N     begin behind the N-th system call\n"
	      "  --open       what is on the stack then is not known\n"
	      "  --after MS   begin MS milliseconds later; implies --open\n"
	      "  --end NAME   stacks that the program makes may end in this function\n"
	      "  --tap        any disagreement is a failure\n",
	      stderr);
	return 2;
}

static const char *how_it_ended(const struct oracle *o, char *text, size_t room)
{
	int status = o->tracee.status;

	if (o->max && o->steps >= o->max)
		snprintf(text, room, "stopped by --max");
	else if (WIFSIGNALED(status))
		snprintf(text, room, "killed by signal %d", WTERMSIG(status));
	else
		snprintf(text, room, "exit status %d", WEXITSTATUS(status));
	return text;
}

static void print(struct oracle *o, const char *name, double took)
{
	char text[64];

	printf("%s: %" PRIu64 " instructions, %" PRIu64 " checked, %" PRIu64
	       " disagreements, %u unexplained kinds, %" PRIu64 " cut, %" PRIu64
	       " right by a guess\n"
	       "  %u frames deep, %" PRIu64 " signals, %" PRIu64
	       " on own stacks, %" PRIu64 " on unknown ones, %.0f s, %s\n",
	       name, (uint64_t)o->steps, (uint64_t)o->checked,
	       (uint64_t)tally_disagreements(&o->tally),
	       tally_unexplained(&o->tally),
	       (uint64_t)tally_count(&o->tally, KIND_CUT),
	       (uint64_t)tally_count(&o->tally, KIND_GUESS),
	       o->shadow.deepest + 1, (uint64_t)o->shadow.signals,
	       (uint64_t)o->own, (uint64_t)o->lost, took, how_it_ended(o, text, sizeof(text)));
	tally_print(&o->tally);
}

static int run(struct oracle *o, char **argv, bool tap)
{
	double start = seconds();
	bool good;
	int ret = oracle_run(o, argv);

	if (ret == -EPERM || ret == -ENOSYS) {
		printf("1..0 # SKIP no ptrace here\n");
		return EXIT_SKIP;
	}
	if (ret) {
		fprintf(stderr, "steps: %s: %s\n", argv[0], strerror(-ret));
		return 2;
	}
	print(o, argv[0], seconds() - start);
	good = o->checked && !tally_unexplained(&o->tally);
	if (tap) {
		good = o->checked && !o->lost &&
		       WIFEXITED(o->tracee.status) &&
		       !WEXITSTATUS(o->tracee.status) &&
		       !tally_disagreements(&o->tally);
		printf("%sok 1 - the walk is right at each of %" PRIu64
		       " instructions\n1..1\n", good ? "" : "not ",
		       (uint64_t)o->checked);
	}
	return !good;
}

int main(int argc, char **argv)
{
	static const struct option options[] = {
		{ "every", required_argument, NULL, 'e' },
		{ "max", required_argument, NULL, 'm' },
		{ "skip", required_argument, NULL, 's' },
		{ "thread", required_argument, NULL, 'h' },
		{ "open", no_argument, NULL, 'o' },
		{ "after", required_argument, NULL, 'a' },
		{ "end", required_argument, NULL, 'n' },
		{ "tap", no_argument, NULL, 't' },
		{ NULL, 0, NULL, 0 },
	};
	static struct oracle o = { .every = 1 };
	bool tap = false;
	int c, ret;

	while ((c = getopt_long(argc, argv, "+", options, NULL)) != -1) {
		switch (c) {
		case 'e':
			o.every = strtoull(optarg, NULL, 0);
			break;
		case 'm':
			o.max = strtoull(optarg, NULL, 0);
			break;
		case 's':
			o.skip = strtoull(optarg, NULL, 0);
			break;
		case 'h':
			o.thread = (u32)strtoul(optarg, NULL, 0);
			break;
		case 'o':
			o.open = true;
			break;
		case 'a':
			o.after = (u32)strtoul(optarg, NULL, 0);
			break;
		case 'n':
			if (o.nr_ends == ARRAY_SIZE(o.ends))
				return usage();
			o.ends[o.nr_ends++] = optarg;
			break;
		case 't':
			tap = true;
			break;
		default:
			return usage();
		}
	}
	if (optind == argc || !o.every)
		return usage();
	ret = run(&o, argv + optind, tap);
	oracle_free(&o);
	return ret;
}
