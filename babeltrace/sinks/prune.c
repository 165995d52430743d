// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* A profile with fewer frames. */
#include <inttypes.h>
#include <stdbool.h>
#include "prune.h"

/**
 * struct kr_sums - what everything of a profile weighs
 * @nr_nodes: nodes, that where stacks begin included
 * @nodes: each with all above it
 * @processes: by the number of their name
 * @events: likewise
 * @total: all
 */
struct kr_sums {
	uint32_t nr_nodes;
	struct kr_weights *nodes;
	struct kr_weights *processes;
	struct kr_weights *events;
	struct kr_weights total;
};

static void add(struct kr_weights *to, struct kr_weights from)
{
	to->of[KR_EVENTS] += from.of[KR_EVENTS];
	to->of[KR_NS] += from.of[KR_NS];
}

struct kr_sums *kr_sums_of(const struct kr_profile *profile)
{
	struct kr_sums *sums = g_new0(struct kr_sums, 1);
	uint32_t i, nr_names = kr_strings_count(profile->strings);

	sums->nr_nodes = kr_pairs_count(profile->nodes) + 1;
	sums->nodes = g_new0(struct kr_weights, sums->nr_nodes);
	sums->processes = g_new0(struct kr_weights, nr_names);
	sums->events = g_new0(struct kr_weights, nr_names);
	for (i = 0; i < kr_pairs_count(profile->samples); i++) {
		struct kr_pair sample = kr_pairs_get(profile->samples, i);
		struct kr_pair kind = kr_pairs_get(profile->kinds, sample.a);
		struct kr_weights weights = kr_profile_weights(profile, i);

		add(&sums->nodes[sample.b], weights);
		add(&sums->processes[kind.a], weights);
		add(&sums->events[kind.b], weights);
	}
	/* A node's number is greater than its caller's. */
	for (i = sums->nr_nodes - 1; i; i--)
		add(&sums->nodes[kr_pairs_get(profile->nodes, i - 1).a],
		    sums->nodes[i]);
	sums->total = profile->total;
	return sums;
}

void kr_sums_free(struct kr_sums *sums)
{
	g_free(sums->nodes);
	g_free(sums->processes);
	g_free(sums->events);
	g_free(sums);
}

static bool is_light(const struct kr_sums *sums, struct kr_weights weights,
		     double least)
{
	return weights.of[KR_EVENTS] < least * sums->total.of[KR_EVENTS] &&
	       weights.of[KR_NS] <= least * sums->total.of[KR_NS];
}

uint64_t kr_sums_heavier(const struct kr_sums *sums, double least)
{
	uint64_t count = 0;
	uint32_t i;

	for (i = 0; i < sums->nr_nodes; i++)
		count += !is_light(sums, sums->nodes[i], least);
	return count;
}

static uint32_t copy_name(struct kr_profile *to, const struct kr_profile *from,
			  uint32_t name)
{
	return kr_strings_add(to->strings, kr_strings_get(from->strings, name));
}

/* Return: the new number of each node; @folded of them are none of their own. */
static uint32_t *copy_nodes(struct kr_profile *to, const struct kr_profile *from,
			    const struct kr_sums *sums, double least,
			    uint32_t *folded)
{
	uint32_t *numbers = g_new0(uint32_t, sums->nr_nodes);
	bool *is_folded = g_new0(bool, sums->nr_nodes);
	uint32_t i, smaller = kr_strings_add(to->strings, "[smaller]\t");

	*folded = 0;
	for (i = 1; i < sums->nr_nodes; i++) {
		struct kr_pair node = kr_pairs_get(from->nodes, i - 1);

		is_folded[i] = is_folded[node.a] ||
			       is_light(sums, sums->nodes[i], least);
		*folded += is_folded[i];
		if (is_folded[node.a])
			numbers[i] = numbers[node.a];
		else
			numbers[i] = 1 + kr_pairs_add(to->nodes, numbers[node.a],
				is_folded[i] ? smaller :
				copy_name(to, from, node.b));
	}
	g_free(is_folded);
	return numbers;
}

struct kr_profile *kr_prune(const struct kr_profile *profile,
			    const struct kr_sums *sums, double least)
{
	struct kr_profile *to = kr_profile_new();
	uint32_t folded, i, *numbers;

	numbers = copy_nodes(to, profile, sums, least, &folded);
	for (i = 0; i < kr_pairs_count(profile->samples); i++) {
		struct kr_pair sample = kr_pairs_get(profile->samples, i);
		struct kr_pair kind = kr_pairs_get(profile->kinds, sample.a);
		struct kr_weights weights = kr_profile_weights(profile, i);
		uint32_t process, event, at;

		process = is_light(sums, sums->processes[kind.a], least) ?
			  kr_strings_add(to->strings, "[other processes]\t") :
			  copy_name(to, profile, kind.a);
		event = is_light(sums, sums->events[kind.b], least) ?
			kr_strings_add(to->strings, "[other events]\t") :
			copy_name(to, profile, kind.b);
		at = kr_profile_sample(to, kr_pairs_add(to->kinds, process, event),
				       numbers[sample.b]);
		kr_profile_add(to, at, KR_EVENTS, weights.of[KR_EVENTS]);
		kr_profile_add(to, at, KR_NS, weights.of[KR_NS]);
	}
	g_free(numbers);
	for (i = 0; i < profile->notes->len; i++)
		g_ptr_array_add(to->notes,
			g_strdup(g_ptr_array_index(profile->notes, i)));
	g_ptr_array_add(to->notes, g_strdup_printf(
		"%" PRIu32 " of %" PRIu32 " frames are less than %.2g %% of all each: they are drawn as [smaller], and processes and events of as little as [other]",
		folded, sums->nr_nodes - 1, 100 * least));
	return to;
}
