/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* Call stacks with what they weigh: how often they were met, and for how long. */
#ifndef KR_PROFILE_H
#define KR_PROFILE_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>
#include "numbering.h"

enum kr_weight {
	KR_EVENTS,
	KR_NS,
	KR_NR_WEIGHTS
};

struct kr_weights {
	uint64_t of[KR_NR_WEIGHTS];
};

/* What became of the system calls of a kind: errors, and nanoseconds. */
struct kr_outcome {
	uint64_t failed;
	uint64_t longest;
};

struct kr_locations;
struct kr_stack;

/*
 * A name of the profile can have a second part, after this: that of a function its
 * module, that of a process its machine. A module is called by the base name of its
 * file; the second file with that name has "#2" behind it.
 */
#define KR_PART	'\t'

/**
 * struct kr_profile - all stacks of a trace
 * @strings: names
 * @machines: their names
 * @modules: struct kr_named of files by what tells them apart
 * @before: the same of the profile that this one is compared with; or NULL
 * @files: how many files have a base name
 * @nodes: frames, as pairs of the caller's node and the name, or the location. Node
 *	   numbers are those of the pairs plus 1; 0 is where stacks begin
 * @locations: frames with all that is known of them; or NULL, if they are counted by name
 * @kinds: pairs of names: process and event
 * @samples: pairs of kind and node
 * @weights: of each sample, struct kr_weights
 * @outcomes: of each kind, struct kr_outcome
 * @total: the sum of all weights
 * @nr_stacks: how many events have one
 * @nr_cut: how many of these are not whole
 * @nr_threads: whose events they are
 * @begin: when the first event was, in nanoseconds
 * @end: when the last was
 * @notes: sentences on what is missing, char *
 * @name: scratch
 * @key: scratch
 */
struct kr_profile {
	struct kr_strings *strings;
	struct kr_strings *machines;
	GHashTable *modules;
	GHashTable *before;
	GHashTable *files;
	struct kr_pairs *nodes;
	struct kr_locations *locations;
	struct kr_pairs *kinds;
	struct kr_pairs *samples;
	GArray *weights;
	GArray *outcomes;
	struct kr_weights total;
	uint64_t nr_stacks;
	uint64_t nr_cut;
	uint32_t nr_threads;
	int64_t begin;
	int64_t end;
	GPtrArray *notes;
	GString *name;
	GString *key;
};

struct kr_profile *kr_profile_new(void);

/* Return: a profile to compare with another one: files of both have the same names. */
struct kr_profile *kr_profile_new_after(const struct kr_profile *before);

/*
 * All of a profile that is compared was added. If one file of a base name is only in it, and
 * one is only in the other, the file was built again: it gets the name of the other.
 */
void kr_profile_pair(struct kr_profile *profile);

void kr_profile_free(struct kr_profile *profile);

/* Nodes of an empty profile shall be locations, not names. */
void kr_profile_locate(struct kr_profile *profile);

/**
 * kr_profile_node() - the node of a stack
 * @profile: to which it is added
 * @stack: its frames by function; one that is not whole begins with a frame that
 *	   says so
 */
uint32_t kr_profile_node(struct kr_profile *profile, const struct kr_stack *stack);

/* Return: the kind of events with a name, of a process on a machine. */
uint32_t kr_profile_kind(struct kr_profile *profile, const char *process,
			 const char *machine, const char *event);

/* Return: the sample of a kind and a stack. */
uint32_t kr_profile_sample(struct kr_profile *profile, uint32_t kind,
			   uint32_t node);

void kr_profile_add(struct kr_profile *profile, uint32_t sample,
		    enum kr_weight what, uint64_t weight);

/* Another system call of a kind has ended, after so long. */
void kr_profile_end(struct kr_profile *profile, uint32_t kind, bool failed, uint64_t ns);

struct kr_outcome kr_profile_outcome(const struct kr_profile *profile, uint32_t kind);

struct kr_weights kr_profile_weights(const struct kr_profile *profile,
				     uint32_t sample);

/* Append the first part of a name; of several machines, with that of the machine. */
void kr_profile_append_name(const struct kr_profile *profile, GString *to, uint32_t name,
			    bool with_machine);

/**
 * kr_profile_fold() - folded stacks
 * @profile: which
 * @what: the weight to tell; stacks without any are left out
 *
 * Return: lines of "process;outermost;...;innermost;event weight", as flamegraph.pl
 * and others read it; of several machines, the process is "machine: process".
 */
GString *kr_profile_fold(const struct kr_profile *profile, enum kr_weight what);

#endif /* KR_PROFILE_H */
