// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* A persistent treap of mappings (Seidel, Aragon: Randomized search trees, 1996). */
#include <glib.h>
#include "mappings.h"

/**
 * struct kr_mappings - a node, and all below it
 * @mapping: its own
 * @left: those before it
 * @right: those after it
 * @covered: addresses that all of them have
 * @priority: not less than those of @left and @right
 * @refs: owners
 */
struct kr_mappings {
	struct kr_mapping mapping;
	struct kr_mappings *left;
	struct kr_mappings *right;
	uint64_t covered;
	uint32_t priority;
	uint32_t refs;
};

struct kr_mappings *kr_mappings_ref(struct kr_mappings *node)
{
	if (node)
		node->refs++;
	return node;
}

void kr_mappings_unref(struct kr_mappings *node, uint64_t *count)
{
	if (!node || --node->refs)
		return;
	kr_mappings_unref(node->left, count);
	kr_mappings_unref(node->right, count);
	--*count;
	g_free(node);
}

static uint64_t covered_by(const struct kr_mappings *node)
{
	return node ? node->covered : 0;
}

static struct kr_mappings *update(struct kr_mappings *node)
{
	node->covered = node->mapping.end - node->mapping.start +
			covered_by(node->left) + covered_by(node->right);
	return node;
}

static struct kr_mappings *new_node(const struct kr_mapping *mapping, uint64_t start,
				    uint64_t end, uint64_t *count)
{
	struct kr_mappings *node = g_new0(struct kr_mappings, 1);

	++*count;
	node->mapping = *mapping;
	node->mapping.start = start;
	node->mapping.end = end;
	node->mapping.offset += start - mapping->start;
	node->priority = g_random_int();
	node->refs = 1;
	return update(node);
}

/* Return: a node that may be changed. */
static struct kr_mappings *own(struct kr_mappings *node, uint64_t *count)
{
	struct kr_mappings *copy;

	if (node->refs == 1)
		return node;
	copy = g_memdup2(node, sizeof(*node));
	++*count;
	copy->refs = 1;
	kr_mappings_ref(copy->left);
	kr_mappings_ref(copy->right);
	node->refs--;
	return copy;
}

/* All of @left are before all of @right. */
static struct kr_mappings *merge(struct kr_mappings *left, struct kr_mappings *right,
				 uint64_t *count)
{
	if (!left || !right)
		return left ?: right;
	if (left->priority >= right->priority) {
		left = own(left, count);
		left->right = merge(left->right, right, count);
		return update(left);
	}
	right = own(right, count);
	right->left = merge(left, right->left, count);
	return update(right);
}

/* What lies across the address becomes two. */
static void split(struct kr_mappings *node, uint64_t address, struct kr_mappings **left,
		  struct kr_mappings **right, uint64_t *count)
{
	struct kr_mappings *tail;

	*left = NULL;
	*right = NULL;
	if (!node)
		return;
	node = own(node, count);
	if (node->mapping.end <= address) {
		split(node->right, address, &node->right, right, count);
		*left = update(node);
	} else if (node->mapping.start >= address) {
		split(node->left, address, left, &node->left, count);
		*right = update(node);
	} else {
		tail = new_node(&node->mapping, address, node->mapping.end, count);
		*right = merge(tail, node->right, count);
		node->mapping.end = address;
		node->right = NULL;
		*left = update(node);
	}
}

/* Replace what is mapped in a range by @middle, which is NULL or a part of it. */
static struct kr_mappings *replace(struct kr_mappings *node, uint64_t start, uint64_t end,
				   struct kr_mappings *middle, uint64_t *count)
{
	struct kr_mappings *left, *rest, *old, *right;

	split(node, start, &left, &rest, count);
	split(rest, end, &old, &right, count);
	kr_mappings_unref(old, count);
	return merge(merge(left, middle, count), right, count);
}

struct kr_mappings *kr_mappings_cut(struct kr_mappings *node, uint64_t start, uint64_t end,
				    uint64_t *count)
{
	return start < end ? replace(node, start, end, NULL, count) : node;
}

struct kr_mappings *kr_mappings_put(struct kr_mappings *node,
				    const struct kr_mapping *mapping, uint64_t *count)
{
	uint64_t start = mapping->start, end = mapping->end;

	if (start >= end)
		return node;
	return replace(node, start, end, new_node(mapping, start, end, count), count);
}

/* Return: how many addresses before one are covered. */
static uint64_t covered_before(const struct kr_mappings *node, uint64_t address)
{
	uint64_t sum = 0;

	while (node) {
		const struct kr_mapping *mapping = &node->mapping;

		if (address < mapping->start) {
			node = node->left;
			continue;
		}
		sum += covered_by(node->left) +
		       MIN(address, mapping->end) - mapping->start;
		node = address > mapping->end ? node->right : NULL;
	}
	return sum;
}

/* All of the node lies within the range. What has no gap is not looked at. */
static struct kr_mappings *fill_gaps(struct kr_mappings *node, uint64_t start, uint64_t end,
				     const struct kr_mapping *mapping, uint64_t *count)
{
	struct kr_mappings *left, *right;

	if (start == end || covered_by(node) == end - start)
		return node;
	if (!node)
		return new_node(mapping, start, end, count);
	node = own(node, count);
	left = fill_gaps(node->left, start, node->mapping.start, mapping, count);
	right = fill_gaps(node->right, node->mapping.end, end, mapping, count);
	node->left = NULL;
	node->right = NULL;
	return merge(merge(left, update(node), count), right, count);
}

struct kr_mappings *kr_mappings_fill(struct kr_mappings *node,
				     const struct kr_mapping *mapping, uint64_t *count)
{
	uint64_t start = mapping->start, end = mapping->end;
	struct kr_mappings *left, *rest, *middle, *right;

	/* Nor is what lies across its bounds cut if there is no gap. */
	if (start >= end ||
	    covered_before(node, end) - covered_before(node, start) == end - start)
		return node;
	split(node, start, &left, &rest, count);
	split(rest, end, &middle, &right, count);
	middle = fill_gaps(middle, start, end, mapping, count);
	return merge(merge(left, middle, count), right, count);
}

const struct kr_mapping *kr_mappings_after(const struct kr_mappings *node, uint64_t address)
{
	const struct kr_mapping *found = NULL;

	while (node) {
		if (node->mapping.end > address) {
			found = &node->mapping;
			node = node->left;
		} else {
			node = node->right;
		}
	}
	return found;
}
