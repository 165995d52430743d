// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * One file's table against libdwarf: the CFA, the return address and all
 * registers, at the first and the last address of every row.
 *
 * Where FDEs overlap, a lookup finds the one with the largest start: what others
 * say there does not count. Of those with one start, it finds the first of the file,
 * or the last one if the first reaches into the next one. Between FDEs a table must
 * know nothing, except for the padding between two functions.
 */
#include <elf.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <unistd.h>
#include "load.h"
#include "oracle_libdwarf.h"
#include "rows.h"

/* Functions are aligned to 16 bytes; the padding belongs to nobody. */
#define PADDING		15

struct work {
	const char *path;
	const struct rows_options *options;
	struct rows_stats *stats;
	struct host_table table;
	struct oracle *oracle;
	const struct oracle_fde *fde;
	unsigned int examples;
};

static void print_example(struct work *w, uint64_t addr, const char *what,
			  const char *oracle, const char *ours)
{
	if (w->examples++ >= w->options->examples)
		return;
	fprintf(stderr, "# %s: %#" PRIx64 " in FDE %#" PRIx64 "-%#" PRIx64
		": %s: libdwarf: %s, table: %s\n", w->path, addr,
		w->fde->start, w->fde->end, what, oracle, ours);
}

static void from_core(const struct work *w, const struct kuw_loc *loc,
		      struct equation *e)
{
	static const enum eq_kind kinds[KUW_NR_HOWS] = {
		[KUW_SAME] = EQ_SAME,
		[KUW_UNDEF] = EQ_UNDEFINED,
		[KUW_AT_CFA] = EQ_OFFSET,
		[KUW_CFA_PLUS] = EQ_VAL_OFFSET,
		[KUW_REG] = EQ_REGISTER,
		[KUW_MEM] = EQ_MEM,
		[KUW_EXPR_MEM] = EQ_EXPR,
		[KUW_EXPR] = EQ_VAL_EXPR,
	};

	memset(e, 0, sizeof(*e));
	if (loc->how >= KUW_NR_HOWS)
		__builtin_trap();
	e->kind = kinds[loc->how];
	e->reg = loc->reg;
	e->arg = loc->arg;
	e->n = loc->off;
	if (e->kind == EQ_EXPR || e->kind == EQ_VAL_EXPR) {
		u32 len = 0;

		e->expr = kuw_table_expr(w->table.table, loc, &len);
		e->len = len;
		e->n = 0;
	}
	if (e->kind == EQ_REGISTER && e->reg >= EQ_REGS)
		e->kind = EQ_OTHER;
}

static bool too_long(const struct equation *e)
{
	return (e->kind == EQ_EXPR || e->kind == EQ_VAL_EXPR) &&
		e->len > KUW_MAX_EXPR_BYTES;
}

/* Return: why a row cannot be in a table, or -1. */
static int whole_row_reason(const struct eq_row *row)
{
	unsigned int i;

	if (row->cfa.kind == EQ_OTHER || row->regs[EQ_RA].kind == EQ_OTHER)
		return ROWS_FOREIGN_REG;
	if (too_long(&row->cfa))
		return ROWS_LONG_EXPR;
	for (i = 0; i < EQ_REGS; i++)
		if (too_long(&row->regs[i]))
			return ROWS_LONG_EXPR;
	return -1;
}

/* Return: whether the register's rules agree, counting what is left out. */
static bool same_reg(const struct eq_row *want, const struct eq_row *have,
		     unsigned int reg, bool *partial)
{
	enum eq_kind kind = want->regs[reg].kind;
	bool lost = have->regs[reg].kind == EQ_UNDEFINED ||
		    have->regs[reg].kind == EQ_SAME;

	if (eq_same(want, have, reg))
		return true;
	if (kind == EQ_OTHER && lost) {
		partial[ROWS_FOREIGN_REG] = true;
		return true;
	}
	if (eq_is_callee_saved(reg) || reg == EQ_SP || reg == EQ_RA)
		return false;
	/* A caller-saved register that nobody mentions is lost by the call. */
	if (kind == EQ_UNSPECIFIED || kind == EQ_SAME || kind == EQ_UNDEFINED)
		return lost;
	if (!lost || want->signal)
		return false;
	partial[ROWS_CALLER_SAVED] = true;
	return true;
}

/* Return: whether the CFA's rules agree, except for what libdwarf gets wrong. */
static bool same_cfa(struct work *w, const struct eq_row *want,
		     const struct eq_row *have, bool *partial)
{
	if (eq_same(want, have, EQ_REGS))
		return true;
	if (want->cfa.kind != EQ_VAL_EXPR || have->cfa.kind != EQ_REGISTER ||
	    want->cfa.reg != have->cfa.reg ||
	    !oracle_may_set_cfa_reg(w->oracle, w->fde, have->cfa.reg))
		return false;
	partial[ROWS_ORACLE] = true;
	return true;
}

/* Return: whether table and libdwarf agree at @addr. */
static bool same_at(struct work *w, const struct eq_row *want, u64 addr,
		    bool *partial)
{
	struct kuw_rules rules;
	struct eq_row have;
	unsigned int reg;
	char a[200], b[200];
	bool same = true;
	int reason;

	host_rules(w->table.table, addr, &rules);
	if (rules.kind == KUW_RULES_NONE) {
		/* So libdwarf says that there is no CFA. */
		if (want->cfa.kind == EQ_SAME)
			return true;
		reason = whole_row_reason(want);
		if (reason >= 0) {
			partial[reason] = true;
			return true;
		}
		eq_print(&want->cfa, a, sizeof(a));
		print_example(w, addr, "CFA", a, "no rule");
		return false;
	}
	have.signal = rules.kind == KUW_RULES_SIGNAL;
	from_core(w, &rules.cfa, &have.cfa);
	for (reg = 0; reg < EQ_REGS; reg++)
		from_core(w, &rules.reg[reg], &have.regs[reg]);
	/* Nobody's rsp is the same in the caller; the CFA is what is meant. */
	if (have.regs[EQ_SP].kind == EQ_SAME)
		have.regs[EQ_SP].kind = EQ_UNSPECIFIED;

	if (have.signal != want->signal) {
		same = false;
		print_example(w, addr, "signal frame",
			      want->signal ? "yes" : "no",
			      have.signal ? "yes" : "no");
	}
	for (reg = EQ_REGS + 1; reg-- > 0;) {
		if (reg == EQ_REGS ? same_cfa(w, want, &have, partial) :
		    same_reg(want, &have, reg, partial))
			continue;
		same = false;
		eq_print(reg == EQ_REGS ? &want->cfa : &want->regs[reg], a,
			 sizeof(a));
		eq_print(reg == EQ_REGS ? &have.cfa : &have.regs[reg], b,
			 sizeof(b));
		print_example(w, addr, eq_reg_name(reg), a, b);
	}
	return same;
}

/*
 * The same for a Go function. Go's compiler makes .debug_frame from what its linker makes
 * .gopclntab of, and that says nothing of rbp.
 */
static bool same_go_at(struct work *w, const struct eq_row *want, u64 addr, bool *partial)
{
	struct kuw_rules rules;
	struct eq_row have = { .word = want->word };
	char a[200], b[200];

	host_rules(w->table.table, addr, &rules);
	if (rules.kind == KUW_RULES_NONE) {
		partial[ROWS_GO_SP] = true;
		return true;
	}
	from_core(w, &rules.cfa, &have.cfa);
	from_core(w, &rules.reg[KUW_RA], &have.regs[EQ_RA]);
	/* No walk needs the CFA of the outermost frame. */
	if (have.regs[EQ_RA].kind == EQ_UNDEFINED) {
		partial[ROWS_GO_END] = true;
		return true;
	}
	if (!eq_same(want, &have, EQ_REGS)) {
		eq_print(&want->cfa, a, sizeof(a));
		eq_print(&have.cfa, b, sizeof(b));
		print_example(w, addr, "CFA", a, b);
		return false;
	}
	return eq_same(want, &have, EQ_RA);
}

/* Return: whether the table says the same all along from @first to @last. */
static bool same_between(struct work *w, u64 first, u64 last)
{
	struct kuw_rules rules, more;
	u64 addr;

	host_rules(w->table.table, first, &rules);
	/* Long rows: where buckets and blocks begin and end. */
	for (addr = first + 1; addr < last; addr++) {
		if (addr - first > 64 && (addr + 2) % 256 > 3)
			continue;
		host_rules(w->table.table, addr, &more);
		if (memcmp(&rules, &more, sizeof(rules))) {
			print_example(w, addr, "row", "goes on", "another");
			return false;
		}
	}
	return true;
}

/* @limit: where the next FDE starts; what is behind it is not this FDE's. */
static void compare_fde(struct work *w, u64 limit)
{
	bool (*same)(struct work *w, const struct eq_row *want, u64 addr, bool *partial) =
		w->options->go ? same_go_at : same_at;
	const struct oracle_fde *fde = w->fde;
	struct rows_stats *s = w->stats;
	uint64_t end = fde->end, start, last;
	struct eq_row row;
	const char *why;
	unsigned int i;

	while (end > fde->start) {
		bool partial[ROWS_NR_REASONS] = { false };

		if (oracle_row(w->oracle, fde, end - 1, &row, &start, &why) ||
		    start >= end) {
			s->fde_errors++;
			print_example(w, end - 1, "row", why, "-");
			return;
		}
		last = end - 1;
		end = start > fde->start ? start : fde->start;
		if (last >= limit) {
			s->shadowed++;
			if (end >= limit)
				continue;
			last = limit - 1;
		}
		s->rows++;
		if (!same(w, &row, end, partial) ||
		    (last != end && !same(w, &row, last, partial)) ||
		    (w->options->every && !same_between(w, end, last)))
			s->different++;
		for (i = 0; i < ROWS_NR_REASONS; i++)
			s->partial[i] += partial[i];
	}
}

/* Nothing may be known of [start, end), except in padding. */
static void compare_gap(struct work *w, u64 start, u64 end)
{
	const u64 probes[] = { start + PADDING, start + (end - start) / 2,
			       end - 1 };
	struct kuw_rules rules;
	unsigned int i;

	if (end - start <= PADDING)
		return;
	w->stats->gaps++;
	for (i = 0; i < 3; i++) {
		if (probes[i] < start + PADDING || probes[i] >= end)
			continue;
		host_rules(w->table.table, probes[i], &rules);
		if (rules.kind == KUW_RULES_NONE)
			continue;
		w->stats->gap_rules++;
		print_example(w, probes[i], "gap", "no FDE", "a rule");
		return;
	}
}

static bool in_segment(const struct work *w, u64 addr)
{
	const struct kuw_elf *elf = &w->table.elf;
	u32 i;

	for (i = 0; i < elf->nr_segments; i++)
		if (addr - elf->segments[i].vaddr < elf->segments[i].filesz)
			return true;
	return false;
}

/*
 * Return: of the FDEs from @first to before @end, which start at one address, the one that holds;
 * the next one starts at @next. Empty ones do not count.
 */
static const struct oracle_fde *right_of(const struct oracle_fde *first,
					 const struct oracle_fde *end, u64 next)
{
	const struct oracle_fde *last = end - 1;

	while (first < last && first->end == first->start)
		first++;
	while (first < last && last->end == last->start)
		last--;
	return first->end > next ? last : first;
}

static void compare_fdes(struct work *w)
{
	const struct oracle_fde *fdes;
	uint64_t count, i, end, next, covered = 0;

	fdes = oracle_fdes(w->oracle, &count);
	for (i = 0; i < count; i = end) {
		const struct oracle_fde *fde;

		for (end = i + 1; end < count && fdes[end].start == fdes[i].start; end++)
			;
		next = end < count ? fdes[end].start : U64_MAX;
		fde = right_of(fdes + i, fdes + end, next);
		w->fde = fde;
		w->stats->fdes += end - i;
		if (fde->start == fde->end)
			continue;
		if (!in_segment(w, fde->start)) {
			w->stats->partial[ROWS_NO_SEGMENT]++;
			continue;
		}
		if (i % w->options->sample == 0)
			compare_fde(w, next);
		if (fde->end > covered)
			covered = fde->end;
		/* C code between Go's functions has an .eh_frame, and Go's code between C's not. */
		if (next != U64_MAX && next > covered && !w->table.elf.gopclntab.len)
			compare_gap(w, covered, next);
	}
}

/* A file of debug information has the headers of its program, not its bytes. */
static bool is_debug(int fd, const Elf64_Ehdr *ehdr)
{
	Elf64_Shdr shdr;
	u32 i;

	for (i = 0; i < ehdr->e_shnum; i++)
		if (pread(fd, &shdr, sizeof(shdr), (off_t)(ehdr->e_shoff +
			  i * sizeof(shdr))) == sizeof(shdr) &&
		    shdr.sh_flags & SHF_EXECINSTR)
			return shdr.sh_type == SHT_NOBITS;
	return false;
}

/* Return: whether it is a program or library for x86-64 or i386. */
static bool is_ours(const char *path)
{
	Elf64_Ehdr ehdr;
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	bool ours;

	if (fd < 0)
		return false;
	ours = pread(fd, &ehdr, sizeof(ehdr), 0) == sizeof(ehdr) &&
		!memcmp(ehdr.e_ident, ELFMAG, SELFMAG) &&
		(ehdr.e_type == ET_EXEC || ehdr.e_type == ET_DYN) &&
		/* What is read so far is the same in both classes. */
		(ehdr.e_ident[EI_CLASS] == ELFCLASS64 ?
		 ehdr.e_machine == EM_X86_64 && !is_debug(fd, &ehdr) :
		 ehdr.e_machine == EM_386);
	close(fd);
	return ours;
}

void rows_file(const char *path, const struct rows_options *options,
	       struct rows_stats *stats)
{
	struct work w = { .path = path, .options = options, .stats = stats };
	const char *why = "?";
	int ret;

	if (!is_ours(path)) {
		stats->not_elf++;
		return;
	}
	ret = oracle_open(path, options->go, &w.oracle, &why);
	if (ret > 0) {
		stats->not_elf++;
		goto close;
	}
	if (ret < 0) {
		stats->not_read++;
		fprintf(stderr, "# %s: libdwarf: %s\n", path, why);
		goto close;
	}
	ret = host_load_file(&w.table, path);
	if (ret) {
		stats->not_compiled++;
		fprintf(stderr, "# %s: not compiled: %s: %s\n", path,
			w.table.stage, strerror(-ret));
	} else {
		stats->files++;
		stats->eh_frame += options->go ? w.table.elf.gopclntab.len :
						 w.table.elf.eh_frame.len;
		stats->table += w.table.bytes;
		compare_fdes(&w);
	}
	host_table_free(&w.table);
close:
	oracle_close(w.oracle);
}

void rows_add(struct rows_stats *sum, const struct rows_stats *one)
{
	const uint64_t *from = (const uint64_t *)one;
	uint64_t *to = (uint64_t *)sum;
	size_t i;

	for (i = 0; i < sizeof(*sum) / sizeof(*to); i++)
		to[i] += from[i];
}

int rows_failed(const struct rows_stats *s)
{
	return s->not_compiled || s->different || s->gap_rules;
}
