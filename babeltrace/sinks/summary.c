// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * A profile as text for people.
 *
 * What costs is time, of system calls and off the CPU. Where a trace has none, as
 * one of tracepoints, it is the number of events.
 */
#include <inttypes.h>
#include <string.h>
#include "functions.h"
#include "summary.h"

/* Fewer lines would say nothing, however small the screen is. */
#define LEAST_KINDS	4
#define LEAST_FRAMES	4
#define STACKS		3

/* Of all events with a name. */
struct kind {
	uint32_t name;
	uint64_t calls;
	uint64_t failed;
	uint64_t ns;
	uint64_t longest;
};

/* A stack of events with a name. */
struct stack {
	uint32_t sample;
	struct kr_weights weights;
};

static enum kr_weight cost_of(const struct kr_profile *profile)
{
	return profile->total.of[KR_NS] ? KR_NS : KR_EVENTS;
}

static const char *plural(uint64_t count, const char *one, const char *many)
{
	return count == 1 ? one : many;
}

/* By cost, then by number, then by name. */
static gint compare_kinds(gconstpointer a, gconstpointer b)
{
	const struct kind *x = a, *y = b;

	if (x->ns != y->ns)
		return x->ns < y->ns ? 1 : -1;
	if (x->calls != y->calls)
		return x->calls < y->calls ? 1 : -1;
	return x->name < y->name ? -1 : x->name > y->name;
}

static GArray *kinds_of(const struct kr_profile *profile)
{
	GArray *kinds = g_array_new(FALSE, FALSE, sizeof(struct kind));
	struct kind *by_name = g_new0(struct kind, kr_strings_count(profile->strings));
	uint32_t i, n = kr_pairs_count(profile->samples);

	for (i = 0; i < n; i++) {
		struct kr_weights weights = kr_profile_weights(profile, i);
		uint32_t kind = kr_pairs_get(profile->samples, i).a;
		struct kind *to = &by_name[kr_pairs_get(profile->kinds, kind).b];

		to->calls += weights.of[KR_EVENTS];
		to->ns += weights.of[KR_NS];
	}
	for (i = 0; i < kr_pairs_count(profile->kinds); i++) {
		struct kr_outcome outcome = kr_profile_outcome(profile, i);
		struct kind *to = &by_name[kr_pairs_get(profile->kinds, i).b];

		to->failed += outcome.failed;
		to->longest = MAX(to->longest, outcome.longest);
	}
	for (i = 0; i < kr_strings_count(profile->strings); i++) {
		by_name[i].name = i;
		if (by_name[i].calls)
			g_array_append_val(kinds, by_name[i]);
	}
	g_free(by_name);
	g_array_sort(kinds, compare_kinds);
	return kinds;
}

static gint compare_stacks(gconstpointer a, gconstpointer b)
{
	const struct stack *x = a, *y = b;

	if (x->weights.of[KR_NS] != y->weights.of[KR_NS])
		return x->weights.of[KR_NS] < y->weights.of[KR_NS] ? 1 : -1;
	if (x->weights.of[KR_EVENTS] != y->weights.of[KR_EVENTS])
		return x->weights.of[KR_EVENTS] < y->weights.of[KR_EVENTS] ? 1 : -1;
	return x->sample < y->sample ? -1 : 1;
}

static GArray *stacks_of(const struct kr_profile *profile)
{
	GArray *stacks = g_array_new(FALSE, FALSE, sizeof(struct stack));
	uint32_t i, n = kr_pairs_count(profile->samples);

	for (i = 0; i < n; i++) {
		struct stack stack = {
			.sample = i, .weights = kr_profile_weights(profile, i),
		};

		if (stack.weights.of[KR_EVENTS])
			g_array_append_val(stacks, stack);
	}
	g_array_sort(stacks, compare_stacks);
	return stacks;
}

static uint32_t count_frames(const struct kr_profile *profile, uint32_t node)
{
	uint32_t n = 0;

	for (; node; node = kr_pairs_get(profile->nodes, node - 1).a)
		n++;
	return n;
}

static void append_stack(GString *to, const struct kr_profile *profile,
			 const struct kr_screen *screen, const struct stack *stack,
			 uint32_t frames)
{
	enum kr_weight what = cost_of(profile);
	struct kr_pair sample = kr_pairs_get(profile->samples, stack->sample);
	struct kr_pair kind = kr_pairs_get(profile->kinds, sample.a);
	GString *line = g_string_new(NULL);
	uint32_t node = sample.b, i;

	g_string_printf(line, "%5.1f %%  ", kr_percent(stack->weights.of[what],
						    profile->total.of[what]));
	kr_append_cost(line, what, stack->weights.of[what]);
	g_string_append_printf(line, "  %" PRIu64 " x %s", stack->weights.of[KR_EVENTS],
			       screen->colors->name);
	kr_append_first(line, kr_strings_get(profile->strings, kind.b));
	g_string_append_printf(line, "%s by %s", screen->colors->off,
			       screen->colors->task);
	kr_append_first(line, kr_strings_get(profile->strings, kind.a));
	g_string_append(line, screen->colors->off);
	kr_screen_line(to, screen, line->str);
	for (i = 0; i < frames && node; i++) {
		struct kr_pair pair = kr_pairs_get(profile->nodes, node - 1);

		g_string_assign(line, "    ");
		kr_append_function(line, screen, kr_strings_get(profile->strings, pair.b));
		kr_screen_line(to, screen, line->str);
		node = pair.a;
	}
	if (node) {
		i = count_frames(profile, node);
		g_string_printf(line, "    ... %" PRIu32 " more %s", i,
				plural(i, "frame", "frames"));
		kr_screen_line(to, screen, line->str);
	}
	g_string_free(line, TRUE);
}

/* Return: how many lines were used. */
static unsigned int append_kinds(GString *to, const struct kr_profile *profile,
				 const struct kr_screen *screen, const GArray *kinds)
{
	unsigned int most = MAX(screen->rows / 4, LEAST_KINDS), i, n;
	bool timed = cost_of(profile) == KR_NS;
	GString *line = g_string_new(NULL);
	uint64_t calls = 0;

	/* A line that says "1 more" could have had that one. */
	n = kinds->len <= most + 1 ? kinds->len : most;
	kr_screen_line(to, screen, timed ?
		    "    count   failed       total    longest" :
		    "    count");
	for (i = 0; i < n; i++) {
		const struct kind *kind = &g_array_index(kinds, struct kind, i);

		g_string_printf(line, "%9" PRIu64, kind->calls);
		if (timed) {
			g_string_append_printf(line, "%9" PRIu64 "  ", kind->failed);
			kr_append_ns(line, kind->ns);
			g_string_append(line, " ");
			kr_append_ns(line, kind->longest);
		}
		g_string_append_printf(line, "  %s", screen->colors->name);
		kr_append_first(line, kr_strings_get(profile->strings, kind->name));
		g_string_append(line, screen->colors->off);
		kr_screen_line(to, screen, line->str);
	}
	for (; i < kinds->len; i++)
		calls += g_array_index(kinds, struct kind, i).calls;
	if (n < kinds->len) {
		g_string_printf(line, "%9" PRIu64 "  of %u others", calls,
				kinds->len - n);
		kr_screen_line(to, screen, line->str);
	}
	g_string_free(line, TRUE);
	return n + 1 + (n < kinds->len);
}

/* As many as there is room for, but one at least. */
static void append_stacks(GString *to, const struct kr_profile *profile,
			  const struct kr_screen *screen, unsigned int room)
{
	GArray *stacks = stacks_of(profile);
	unsigned int frames = screen->max_stack, used = 0, i, n;

	if (!frames)
		frames = MAX(room / STACKS, LEAST_FRAMES + 2) - 2;
	g_string_append_printf(to, "\nThe stacks that cost most, of %u:\n", stacks->len);
	for (i = 0; i < stacks->len && (screen->max_stack ? i < STACKS : true); i++) {
		const struct stack *stack = &g_array_index(stacks, struct stack, i);
		uint32_t depth = count_frames(profile,
			kr_pairs_get(profile->samples, stack->sample).b);

		n = 1 + (depth <= frames + 1 ? depth : frames + 1);
		if (i && !screen->max_stack && used + n > room)
			break;
		append_stack(to, profile, screen, stack,
			     depth == frames + 1 ? depth : frames);
		used += n;
	}
	g_array_unref(stacks);
}

static void append_heading(GString *to, const struct kr_profile *profile,
			   const struct kr_screen *screen, uint64_t failed)
{
	uint64_t events = profile->total.of[KR_EVENTS], stacks = profile->nr_stacks;
	GString *line = g_string_new(NULL);

	g_string_printf(line, "%s%" PRIu64 " %s%s", screen->colors->name, events,
			plural(events, "event", "events"), screen->colors->off);
	if (failed)
		g_string_append_printf(line, ", %s%" PRIu64 " failed%s",
				       screen->colors->error, failed,
				       screen->colors->off);
	g_string_append_printf(line, "; %" PRIu32 " %s", profile->nr_threads,
			       plural(profile->nr_threads, "thread", "threads"));
	if (profile->end > profile->begin)
		g_string_append_printf(line, "; within %.3f s",
				       (double)((uint64_t)profile->end -
						(uint64_t)profile->begin) / 1e9);
	if (stacks)
		g_string_append_printf(line, "; %.1f %% of stacks whole",
				       kr_percent(stacks - profile->nr_cut, stacks));
	kr_screen_line(to, screen, line->str);
	g_string_append_c(to, '\n');
	g_string_free(line, TRUE);
}

GString *kr_summary(const struct kr_profile *profile, const struct kr_screen *screen)
{
	GArray *kinds = kinds_of(profile);
	GString *to = g_string_new(NULL);
	uint64_t failed = 0;
	unsigned int used, i;

	for (i = 0; i < kinds->len; i++)
		failed += g_array_index(kinds, struct kind, i).failed;
	append_heading(to, profile, screen, failed);
	used = 4 + append_kinds(to, profile, screen, kinds);
	/* The heading, and what a shell and others say below. */
	append_stacks(to, profile, screen,
		      screen->rows > used + 5 ? screen->rows - used - 5 : 0);
	g_array_unref(kinds);
	return to;
}

GString *kr_top(const struct kr_profile *profile, const struct kr_screen *screen)
{
	enum kr_weight what = cost_of(profile);
	GArray *functions = kr_functions_of(profile, what);
	uint64_t all = profile->total.of[what];
	GString *to = g_string_new(NULL), *line = g_string_new(NULL);
	unsigned int i, n = functions->len;

	append_heading(to, profile, screen, 0);
	n = kr_screen_fit(screen, n);
	kr_screen_line(to, screen,
		    "  total             self                events  function");
	for (i = 0; i < n; i++) {
		const struct kr_function *function =
			&g_array_index(functions, struct kr_function, i);

		g_string_printf(line, "%5.1f %% ", kr_percent(function->total, all));
		kr_append_cost(line, what, function->total);
		g_string_append_printf(line, "  %5.1f %% ",
				       kr_percent(function->self, all));
		kr_append_cost(line, what, function->self);
		g_string_append_printf(line, "%9" PRIu64 "  ", function->events);
		kr_append_function(line, screen,
				kr_strings_get(profile->strings, function->name));
		kr_screen_line(to, screen, line->str);
	}
	if (n < functions->len) {
		g_string_printf(line, "... %u more functions", functions->len - n);
		kr_screen_line(to, screen, line->str);
	}
	g_string_free(line, TRUE);
	g_array_unref(functions);
	return to;
}
