/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * What is mapped in an address space: ranges that do not overlap, by address.
 *
 * They are a treap, whose depth is logarithmic whatever a trace has in which order, as its
 * priorities are random. Spaces share its nodes: a node that has several owners is never
 * changed but copied, and with it those above it. So a fork costs nothing, and each later
 * change of parent or child a path.
 */
#ifndef KR_MAPPINGS_H
#define KR_MAPPINGS_H

#include <stdbool.h>
#include <stdint.h>

struct kr_module;

/**
 * struct kr_mapping - a range of addresses
 * @start: its first address
 * @end: the first one behind it
 * @offset: what of @module is at @start, in bytes
 * @module: the file; NULL: something of which nobody tells
 * @told: when it was told, of struct kr_spaces
 * @doubted: events were being lost then
 */
struct kr_mapping {
	uint64_t start;
	uint64_t end;
	uint64_t offset;
	struct kr_module *module;
	uint32_t told;
	bool doubted;
};

/* All of a space. NULL: there are none. */
struct kr_mappings;

/* @count: how many nodes there are, which changes by those that are made and freed. */
struct kr_mappings *kr_mappings_ref(struct kr_mappings *mappings);
void kr_mappings_unref(struct kr_mappings *mappings, uint64_t *count);

/*
 * These take the caller's reference, and return one of what is mapped then. A range that
 * is empty or inverted changes nothing.
 */
struct kr_mappings *kr_mappings_cut(struct kr_mappings *mappings, uint64_t start,
				    uint64_t end, uint64_t *count);
struct kr_mappings *kr_mappings_put(struct kr_mappings *mappings,
				    const struct kr_mapping *mapping, uint64_t *count);

/* As kr_mappings_put(), but what was there stays. */
struct kr_mappings *kr_mappings_fill(struct kr_mappings *mappings,
				     const struct kr_mapping *mapping, uint64_t *count);

/* Return: the first one that ends after an address; or NULL. */
const struct kr_mapping *kr_mappings_after(const struct kr_mappings *mappings,
					   uint64_t address);

#endif /* KR_MAPPINGS_H */
