// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* What became slower from one profile to another. */
#include <inttypes.h>
#include <string.h>
#include "difference.h"
#include "functions.h"
#include "secret_hash.h"

/* Narrower screens have room for the changes alone. */
#define WIDE	110

/**
 * struct change - a function in both profiles
 * @name: of the function
 * @before: what it cost
 * @after: what it costs
 * @share: how much larger its part of all is, in percent of all
 */
struct change {
	const char *name;
	struct kr_function before;
	struct kr_function after;
	double share;
};

/* A profile, and the part of struct change that it is for. */
struct side {
	const struct kr_profile *profile;
	enum kr_weight what;
	size_t offset;
};

static void add_side(GHashTable *changes, const struct side *side)
{
	GArray *functions = kr_functions_of(side->profile, side->what);
	guint i;

	for (i = 0; i < functions->len; i++) {
		const struct kr_function *function =
			&g_array_index(functions, struct kr_function, i);
		const char *name = kr_strings_get(side->profile->strings, function->name);
		struct change *change = g_hash_table_lookup(changes, name);

		if (!change) {
			change = g_new0(struct change, 1);
			change->name = name;
			g_hash_table_insert(changes, (void *)name, change);
		}
		memcpy((char *)change + side->offset, function, sizeof(*function));
	}
	g_array_unref(functions);
}

static int64_t growth(uint64_t before, uint64_t after)
{
	return (int64_t)(after - before);
}

static gint compare_changes(gconstpointer a, gconstpointer b)
{
	const struct change *x = a, *y = b;
	int64_t more = growth(x->before.total, x->after.total);
	int64_t other = growth(y->before.total, y->after.total);

	if (x->share != y->share)
		return x->share < y->share ? 1 : -1;
	if (more != other)
		return more < other ? 1 : -1;
	return strcmp(x->name, y->name);
}

static void append_growth(GString *to, enum kr_weight what, uint64_t before, uint64_t after)
{
	int64_t more = growth(before, after);

	g_string_append_c(to, !more ? ' ' : more < 0 ? '-' : '+');
	kr_append_cost(to, what, more < 0 ? -(uint64_t)more : (uint64_t)more);
}

static void append_both(GString *to, enum kr_weight what, uint64_t before, uint64_t after)
{
	g_string_append_c(to, ' ');
	kr_append_cost(to, what, before);
	g_string_append_c(to, ' ');
	kr_append_cost(to, what, after);
}

static void append_change(GString *to, const struct kr_screen *screen, enum kr_weight what,
			  const struct change *change, GString *line)
{
	g_string_printf(line, "%+6.1f %%  ", change->share);
	append_growth(line, what, change->before.total, change->after.total);
	g_string_append(line, "  ");
	append_growth(line, what, change->before.self, change->after.self);
	if (!screen->columns || screen->columns >= WIDE) {
		append_both(line, what, change->before.total, change->after.total);
		append_both(line, what, change->before.self, change->after.self);
	}
	g_string_append(line, "  ");
	kr_append_function(line, screen, change->name);
	kr_screen_line(to, screen, line->str);
}

static void append_whole(GString *line, const char *when, const struct kr_profile *profile,
			 enum kr_weight what)
{
	uint64_t events = profile->total.of[KR_EVENTS];

	g_string_append_printf(line, "%s: %" PRIu64 " %s", when, events,
			       events == 1 ? "event" : "events");
	if (what == KR_NS) {
		GString *time = g_string_new(NULL);

		kr_append_ns(time, profile->total.of[KR_NS]);
		g_string_append_printf(line, " of %s", g_strchug(time->str));
		g_string_free(time, TRUE);
	}
}

static void append_heading(GString *to, const struct kr_screen *screen,
			   const struct side sides[2], GString *line)
{
	bool wide = !screen->columns || screen->columns >= WIDE;

	append_whole(line, "before", sides[0].profile, sides[0].what);
	g_string_append(line, "; ");
	append_whole(line, "after", sides[1].profile, sides[1].what);
	kr_screen_line(to, screen, line->str);
	g_string_append_c(to, '\n');
	kr_screen_line(to, screen, wide ?
		       "   share        total         self  total: before, after   self: before, after  function" :
		       "   share        total         self  function");
}

/* Return: struct change, sorted. */
static GArray *changes_of(const struct side sides[2])
{
	GHashTable *known = g_hash_table_new_full(kr_hash_string, g_str_equal, NULL, g_free);
	GArray *changes = g_array_new(FALSE, FALSE, sizeof(struct change));
	GHashTableIter iter;
	gpointer value;
	int i;

	for (i = 0; i < 2; i++)
		add_side(known, &sides[i]);
	g_hash_table_iter_init(&iter, known);
	while (g_hash_table_iter_next(&iter, NULL, &value)) {
		struct change *change = value;

		change->share = kr_percent(change->after.total,
					sides[1].profile->total.of[sides[1].what]) -
				kr_percent(change->before.total,
					sides[0].profile->total.of[sides[0].what]);
		g_array_append_vals(changes, change, 1);
	}
	g_hash_table_destroy(known);
	g_array_sort(changes, compare_changes);
	return changes;
}

GString *kr_difference(const struct kr_profile *before, const struct kr_profile *after,
		       const struct kr_screen *screen)
{
	enum kr_weight what = before->total.of[KR_NS] && after->total.of[KR_NS] ? KR_NS :
										  KR_EVENTS;
	const struct side sides[2] = {
		{ before, what, offsetof(struct change, before) },
		{ after, what, offsetof(struct change, after) },
	};
	GString *to = g_string_new(NULL), *line = g_string_new(NULL);
	GArray *changes = changes_of(sides);
	guint i, n = changes->len;

	append_heading(to, screen, sides, line);
	n = kr_screen_fit(screen, n);
	for (i = 0; i < n; i++)
		append_change(to, screen, what, &g_array_index(changes, struct change, i),
			      line);
	if (n < changes->len) {
		g_string_printf(line, "... %u more functions", changes->len - n);
		kr_screen_line(to, screen, line->str);
	}
	g_array_unref(changes);
	g_string_free(line, TRUE);
	return to;
}
