// SPDX-License-Identifier: MIT
/* Whether a stack is right: see live.h. */
#include <string.h>

#include "live.h"
#include "tap.h"

extern const char _start[];

/* Far more than _start has; what comes behind it is never a caller. */
#define START_BYTES	64

/* The innermost frame is in the tool's own take_*(), all others are the same. */
static int same(const struct live_list *a, const struct live_list *b)
{
	return a->count > 1 && a->count == b->count &&
	       !memcmp(a->frames + 1, b->frames + 1,
		       (a->count - 1) * sizeof(a->frames[0]));
}

static int bottom_is(const struct live_list *list, int at, enum live_bottom bottom)
{
	uint64_t start = (uintptr_t)_start;
	int below = list->count - at;

	if (bottom == LIVE_THREAD)
		return below == 1;
	/* Old versions of libc call main() directly from __libc_start_main(). */
	return below >= 1 && below <= 2 && list->frames[list->count - 1] > start &&
	       list->frames[list->count - 1] < start + START_BYTES;
}

/*
 * How far @list goes along the calls that were made: to behind the last one of them
 * (@whole), or to where it ends. Return: its frames so far, or -1 if one is wrong.
 */
static int follow(const struct live_list *list, const struct live_list *calls,
		  int whole)
{
	int at = 2; /* behind take_*() and live_take() */
	int others = 0;

	for (int i = calls->count - 1; i >= 0; i--) {
		if (calls->frames[i] == LIVE_OTHERS) {
			others = 1;
			at++;
			continue;
		}
		while (others && at < list->count &&
		       list->frames[at] != calls->frames[i])
			at++;
		others = 0;
		if (at >= list->count)
			return whole ? -1 : list->count;
		if (list->frames[at] != calls->frames[i])
			return -1;
		at++;
	}
	return at;
}

static int is_true(const struct live_list *list, const struct live_list *calls,
		   enum live_bottom bottom)
{
	int at = follow(list, calls, 1);

	return at >= 0 && bottom_is(list, at, bottom);
}

int live_begins_true(const struct live_stacks *stacks)
{
	return follow(&stacks->kunwind, &stacks->truth, 0) >= 0;
}

struct live_verdict live_judge(const struct live_stacks *stacks,
			       enum live_bottom bottom)
{
	const struct live_list *mine = &stacks->kunwind;

	return (struct live_verdict) {
		.complete = stacks->stop == KUNWIND_STOP_COMPLETE &&
			mine->count > 0 && stacks->proven == (uint32_t)mine->count,
		.true_calls = is_true(mine, &stacks->truth, bottom),
		.like_libunwind = !live_has_libunwind() ||
			same(mine, &stacks->libunwind),
		.like_libc = same(mine, &stacks->libc),
	};
}

int live_all(const struct live_verdict *verdict)
{
	return verdict->complete && verdict->true_calls &&
	       verdict->like_libunwind && verdict->like_libc;
}

static void print_cell(const struct live_list *list, int i)
{
	if (i >= 0 && i < list->count)
		printf(" %16llx", (unsigned long long)list->frames[i]);
	else
		printf(" %16s", "");
}

void live_print(const struct live_stacks *stacks)
{
	const struct live_list *calls = &stacks->truth;
	int rows = calls->count + 2;

	if (stacks->kunwind.count < 0) {
		tap_diag("kunwind_backtrace: %s", strerror(-stacks->kunwind.count));
		return;
	}
	tap_diag("kunwind: %d frames, %u proven, %s (%s)", stacks->kunwind.count,
		 stacks->proven, kunwind_stop_name(stacks->stop),
		 kunwind_stop_text(stacks->stop));
	if (stacks->kunwind.count > rows)
		rows = stacks->kunwind.count;
	if (stacks->libunwind.count > rows)
		rows = stacks->libunwind.count;
	if (stacks->libc.count > rows)
		rows = stacks->libc.count;
	tap_diag("     %16s %16s %16s %16s (0: others)", "kunwind", "libunwind",
		 "libc", "calls made");
	for (int i = 0; i < rows; i++) {
		printf("# %4d", i);
		print_cell(&stacks->kunwind, i);
		print_cell(&stacks->libunwind, i);
		print_cell(&stacks->libc, i);
		if (i >= 2 && i - 2 < calls->count)
			print_cell(calls, calls->count - 1 - (i - 2));
		putchar('\n');
	}
}

void live_report(const struct live_stacks *stacks, enum live_bottom bottom,
		 const char *name)
{
	struct live_verdict verdict = live_judge(stacks, bottom);

	tap_ok(verdict.complete, "%s: complete and proven", name);
	tap_ok(verdict.true_calls, "%s: the calls that were made, in order", name);
	if (live_has_libunwind())
		tap_ok(verdict.like_libunwind,
		       "%s: the same frames as unw_backtrace()", name);
	tap_ok(verdict.like_libc, "%s: the same frames as libc's backtrace()",
	       name);
	if (!live_all(&verdict))
		live_print(stacks);
}
