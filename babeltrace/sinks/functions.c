// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* What each function of a profile costs. */
#include "functions.h"

static gint compare_functions(gconstpointer a, gconstpointer b)
{
	const struct kr_function *x = a, *y = b;

	if (x->total != y->total)
		return x->total < y->total ? 1 : -1;
	if (x->self != y->self)
		return x->self < y->self ? 1 : -1;
	return x->name < y->name ? -1 : x->name > y->name;
}

/* A function that calls itself is counted once for each stack. */
GArray *kr_functions_of(const struct kr_profile *profile, enum kr_weight what)
{
	struct kr_function *by_name = g_new0(struct kr_function,
					  kr_strings_count(profile->strings));
	GArray *functions = g_array_new(FALSE, FALSE, sizeof(struct kr_function));
	uint32_t i, node;

	for (i = 0; i < kr_pairs_count(profile->samples); i++) {
		struct kr_weights weights = kr_profile_weights(profile, i);
		bool innermost = true;

		node = kr_pairs_get(profile->samples, i).b;
		while (node) {
			struct kr_pair pair = kr_pairs_get(profile->nodes, node - 1);
			struct kr_function *function = &by_name[pair.b];

			if (innermost)
				function->self += weights.of[what];
			innermost = false;
			if (function->stamp != i + 1) {
				function->total += weights.of[what];
				function->events += weights.of[KR_EVENTS];
			}
			function->stamp = i + 1;
			node = pair.a;
		}
	}
	for (i = 0; i < kr_strings_count(profile->strings); i++) {
		by_name[i].name = i;
		if (by_name[i].events)
			g_array_append_val(functions, by_name[i]);
	}
	g_free(by_name);
	g_array_sort(functions, compare_functions);
	return functions;
}
