// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * The size of tables, and the time to compile them; look-ups in them. libdw does
 * the same next to it: the rows of all FDEs one after the other, and single ones.
 */
#include <elfutils/libdw.h>
#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "bench.h"
#include "load.h"

#define HOT	64

struct peer {
	int fd;
	Elf *elf;
	Dwarf_CFI *cfi;
};

static int peer_open(struct peer *p, const char *path)
{
	elf_version(EV_CURRENT);
	p->fd = open(path, O_RDONLY | O_CLOEXEC);
	p->elf = elf_begin(p->fd, ELF_C_READ, NULL);
	p->cfi = p->elf ? dwarf_getcfi_elf(p->elf) : NULL;
	return p->cfi ? 0 : -1;
}

static void peer_close(struct peer *p)
{
	if (p->cfi)
		dwarf_cfi_end(p->cfi);
	elf_end(p->elf);
	close(p->fd);
}

/* libdw's row at @addr. Return: the address behind it, or 0. */
static Dwarf_Addr peer_row(struct peer *p, Dwarf_Addr addr)
{
	Dwarf_Addr start, end = 0;
	Dwarf_Frame *frame;

	if (dwarf_cfi_addrframe(p->cfi, addr, &frame))
		return 0;
	dwarf_frame_info(frame, &start, &end, NULL);
	free(frame);
	return end;
}

/*
 * Where some of libdw's rows begin: pieces from all over the file, as each look-up
 * takes longer the more rows its FDE has. Return: how many.
 */
static u32 peer_rows(const char *path, const struct kuw_table *table,
		     Dwarf_Addr *rows, u32 limit)
{
	const u32 pieces = 64;
	struct peer p;
	u32 n = 0, i;

	if (!peer_open(&p, path))
		for (i = 0; i < pieces; i++) {
			uint64_t addr = table->base + table->span / pieces * i;
			uint64_t end = addr + table->span / pieces;
			u32 most = limit / pieces * (i + 1);

			while (addr < end && n < most) {
				Dwarf_Addr next = peer_row(&p, addr);

				if (next > addr)
					rows[n++] = addr;
				/* Between FDEs: functions begin there. */
				addr = next > addr ? next : (addr | 15) + 1;
			}
		}
	peer_close(&p);
	return n;
}

/* Samples of libdw's ns per row. */
static void time_peer(const char *name, const char *path,
		      const struct kuw_table *table, int quick)
{
	u32 limit = quick ? 10000 : 100000, n, i;
	Dwarf_Addr *rows = malloc(limit * sizeof(*rows));
	struct peer p;
	int round;

	n = rows ? peer_rows(path, table, rows, limit) : 0;
	for (round = 0; n && round < 3; round++) {
		uint64_t start;

		/* Another one each time: it remembers FDEs. */
		if (!peer_open(&p, path)) {
			/* The first one reads the file. */
			peer_row(&p, rows[0]);
			start = bench_cpu_ns();
			for (i = 0; i < n; i++)
				peer_row(&p, rows[i]);
			bench_say((double)(bench_cpu_ns() - start) / n,
				  "table.%s.libdw_ns_per_row", name);
		}
		peer_close(&p);
	}
	free(rows);
}

/*
 * Have malloc() keep what it was given back, so that no run but the first takes page
 * faults: a table's memory in the module has none, as vmalloc() maps all pages at once.
 */
static void keep_memory(void)
{
	mallopt(M_MMAP_THRESHOLD, 32 << 20);
	mallopt(M_TRIM_THRESHOLD, 1 << 30);
}

/* Says why. Return: whose fault it is, as an exit status. */
static int no_table(const char *path, const struct host_table *t, int error)
{
	fprintf(stderr, "bench: %s: %s: %s\n", path, t->stage,
		strerror(-error));
	if (error == -ENOEXEC)
		return BENCH_NO_TABLE;
	return error == -ENOMEM || !strcmp(t->stage, "open") ?
	       1 : BENCH_NO_TABLE;
}

int bench_table(int quick, const char *name, const char *path)
{
	/* So long at least, as what a neighbour of the machine does is over sooner. */
	uint64_t start = bench_cpu_ns(), enough = start + (quick ? 0 : 1000000000);
	int runs = quick ? 3 : 15, ret, i;
	struct host_table t;

	keep_memory();
	ret = host_load_file(&t, path);
	if (ret) {
		ret = no_table(path, &t, ret);
		host_table_free(&t);
		return ret;
	}
	bench_say(t.table->nr_rows, "table.%s.rows", name);
	bench_say((double)t.bytes, "table.%s.bytes", name);
	bench_say(t.elf.eh_frame.len, "table.%s.eh_frame_bytes", name);
	for (i = 0; i < runs || start < enough; i++) {
		double ns;

		start = bench_cpu_ns();
		free(t.table);
		t.table = NULL;
		ret = host_compile(&t);
		if (ret)
			break;
		ns = (double)(bench_cpu_ns() - start);
		bench_say(ns / t.table->nr_rows, "table.%s.compile_ns_per_row",
			  name);
	}
	if (!ret)
		time_peer(name, path, t.table, quick);
	fflush(stdout);
	host_table_free(&t);
	return ret != 0;
}

/* A repeatable sequence; xorshift64*, of Vigna. */
static uint64_t next_random(uint64_t *state)
{
	*state ^= *state >> 12;
	*state ^= *state << 25;
	*state ^= *state >> 27;
	return *state * 0x2545f4914f6cdd1dULL;
}

static double time_lookups(const struct kuw_table *table, const u32 *offs,
			   u32 mask, u32 count)
{
	uint64_t start = bench_cpu_ns();
	u32 i, waits = 0;

	for (i = 0; i < count; i++) {
		waits = kuw_table_find(table, offs[i & mask] + waits).bits;
		/* As in a walk, the next look-up needs the result of this one. */
		__asm__ volatile("and $0, %0" : "+r"(waits));
	}
	return (double)(bench_cpu_ns() - start) / count;
}

static double time_peer_lookups(struct peer *p, const struct kuw_table *table,
				const u32 *offs, u32 mask, u32 count)
{
	uint64_t start = bench_cpu_ns();
	u32 i;

	for (i = 0; i < count; i++)
		peer_row(p, table->base + offs[i & mask]);
	return (double)(bench_cpu_ns() - start) / count;
}

int bench_lookup(int quick, const char *path)
{
	const u32 room = 1u << 20;
	u32 *offs = malloc(room * sizeof(*offs)), i, count = room >> 2 * quick;
	uint64_t state = 0x9e3779b97f4a7c15ULL;
	struct host_table t;
	struct peer p;
	int ret, round;

	if (!offs)
		return 1;
	ret = host_load_file(&t, path);
	if (ret) {
		ret = no_table(path, &t, ret);
		goto out;
	}
	if (peer_open(&p, path)) {
		fprintf(stderr, "bench: libdw does not open %s\n", path);
		peer_close(&p);
		ret = 1;
		goto out;
	}
	for (i = 0; i < room; i++)
		do
			offs[i] = (u32)(next_random(&state) % t.table->span);
		while (kuw_rule_kind(kuw_table_find(t.table, offs[i])) ==
		       KUW_KIND_NONE);
	bench_say(t.table->nr_rows, "lookup_rows");
	for (round = 0; round < (quick ? 3 : 11); round++) {
		bench_say(time_lookups(t.table, offs, room - 1, count),
			  "lookup.kunwind.random");
		bench_say(time_lookups(t.table, offs, HOT - 1, count),
			  "lookup.kunwind.hot");
		bench_say(time_peer_lookups(&p, t.table, offs, room - 1,
					    count >> 4), "lookup.libdw.random");
		bench_say(time_peer_lookups(&p, t.table, offs, HOT - 1,
					    count >> 4), "lookup.libdw.hot");
	}
	peer_close(&p);
out:
	host_table_free(&t);
	free(offs);
	return ret;
}
