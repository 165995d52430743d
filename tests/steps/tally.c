// SPDX-License-Identifier: GPL-2.0-only OR MIT
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include "tally.h"

/* Verdicts at one address; further ones would be the same. */
#define VERDICTS_PER_SITE	4
#define ROWS_PRINTED		40

static const char *const kinds[NR_KINDS] = {
	[KIND_RIGHT] = "right",
	[KIND_SHORT] = "too short",
	[KIND_WRONG] = "wrong frame",
	[KIND_WRONG_GUESS] = "wrong guess",
	[KIND_REPLACED] = "replaced",
	[KIND_LONG] = "too long",
	[KIND_END] = "no end",
	[KIND_CUT] = "CUT",
	[KIND_GUESS] = "right guess",
	[KIND_OWN_END] = "own end",
};

static const char *stop_name(u32 stop)
{
	static const char *const names[] = {
#define STOP_NAME(number, name, sentence) [number] = #name,
		KUNWIND_STOPS(STOP_NAME)
#undef STOP_NAME
	};

	return stop < ARRAY_SIZE(names) ? names[stop] : "?";
}

static bool same_row(const struct row *row, const struct finding *f)
{
	return row->first.kind == f->kind && row->first.stop == f->stop &&
	       row->first.no_rule == f->no_rule &&
	       !strcmp(row->first.place.file, f->place.file) &&
	       !strcmp(row->first.place.function, f->place.function);
}

static u32 find_row(const struct tally *t, const struct finding *f)
{
	u32 i;

	for (i = 0; i < t->nr_rows && !same_row(&t->rows[i], f); i++)
		;
	return i;
}

static struct site *find_site(const struct tally *t, u32 row, u64 vaddr)
{
	u32 i;

	for (i = 0; i < t->nr_sites; i++)
		if (t->sites[i].row == row && t->sites[i].vaddr == vaddr)
			return &t->sites[i];
	return NULL;
}

bool tally_wants_verdict(const struct tally *t, const struct finding *f)
{
	u32 row = find_row(t, f);
	const struct site *site = find_site(t, row, f->place.vaddr);

	return row == t->nr_rows || !site || site->judged < VERDICTS_PER_SITE;
}

static void *one_more(void *array, u32 n, size_t size)
{
	/* Powers of two. */
	if (!(n & (n - 1)))
		array = realloc(array, (n ? 2 * (size_t)n : 1) * size);
	if (!array) {
		perror("steps");
		exit(2);
	}
	return array;
}

void tally_add(struct tally *t, const struct finding *f)
{
	u32 n = find_row(t, f);
	struct site *site;
	struct row *row;

	if (n == t->nr_rows) {
		t->rows = one_more(t->rows, n, sizeof(*t->rows));
		t->nr_rows++;
		t->rows[n] = (struct row){
			.first = *f, .lo = f->place.off, .hi = f->place.off,
		};
	}
	row = &t->rows[n];
	site = find_site(t, n, f->place.vaddr);
	if (!site) {
		t->sites = one_more(t->sites, t->nr_sites, sizeof(*t->sites));
		site = &t->sites[t->nr_sites++];
		*site = (struct site){ .vaddr = f->place.vaddr, .row = n };
		row->sites++;
	}
	row->count++;
	row->lo = min_t(u64, row->lo, f->place.off);
	row->hi = max_t(u64, row->hi, f->place.off);
	if (f->judged) {
		site->judged++;
		row->verdicts[f->verdict]++;
	}
}

u64 tally_count(const struct tally *t, enum kind kind)
{
	u64 n = 0;
	u32 i;

	for (i = 0; i < t->nr_rows; i++)
		if (t->rows[i].first.kind == kind)
			n += t->rows[i].count;
	return n;
}

u64 tally_disagreements(const struct tally *t)
{
	enum kind kind;
	u64 n = 0;

	for (kind = KIND_RIGHT; kind < KIND_GUESS; kind++)
		n += tally_count(t, kind);
	return n;
}

static bool unexplained(const struct row *row)
{
	return row->first.kind == KIND_CUT ||
	       (row->first.kind < KIND_GUESS && !row->first.no_rule &&
		row->verdicts[VERDICT_RIGHT]);
}

u32 tally_unexplained(const struct tally *t)
{
	u32 i, n = 0;

	for (i = 0; i < t->nr_rows; i++)
		n += unexplained(&t->rows[i]);
	return n;
}

static int by_count(const void *a, const void *b)
{
	const struct row *x = a, *y = b;

	return (x->count < y->count) - (x->count > y->count);
}

static void print_row(const struct row *row)
{
	const struct finding *f = &row->first;

	printf("  %8" PRIu64 " %5u  %-11s %-14s %5" PRIu64 " %5" PRIu64 " %5" PRIu64
	       "  %s%s %s+%#" PRIx64 "..%#" PRIx64 "\n", (uint64_t)row->count,
	       row->sites, kinds[f->kind], stop_name(f->stop),
	       (uint64_t)row->verdicts[VERDICT_SAME],
	       (uint64_t)row->verdicts[VERDICT_WRONG],
	       (uint64_t)row->verdicts[VERDICT_RIGHT], f->place.file,
	       f->no_rule ? " (no FDE)" : "", f->place.function,
	       (uint64_t)row->lo, (uint64_t)row->hi);
	if (f->kind >= KIND_GUESS)
		return;
	printf("%18sinstruction %" PRIu64 ": frame %u is at %s+%#" PRIx64
	       ", its caller %#" PRIx64 ", the walk says %#" PRIx64 "\n",
	       "", (uint64_t)f->number, f->depth, f->place.file,
	       (uint64_t)f->place.vaddr, (uint64_t)f->want, (uint64_t)f->got);
}

void tally_print(struct tally *t)
{
	u64 rest = 0;
	u32 i;

	if (!t->nr_rows)
		return;
	/* Sites know their row by its number: there are no more to add. */
	qsort(t->rows, t->nr_rows, sizeof(*t->rows), by_count);
	printf("%42slibdw is:\n  %8s %5s  %-11s %-14s %5s %5s %5s  %s\n", "",
	       "count", "sites", "kind", "stop", "same", "wrong", "right",
	       "the step from");
	for (i = 0; i < t->nr_rows; i++) {
		if (i < ROWS_PRINTED || unexplained(&t->rows[i]))
			print_row(&t->rows[i]);
		else
			rest += t->rows[i].count;
	}
	if (rest)
		printf("  %8" PRIu64 "        in rarer rows\n", (uint64_t)rest);
}

void tally_free(struct tally *t)
{
	free(t->rows);
	free(t->sites);
	memset(t, 0, sizeof(*t));
}
