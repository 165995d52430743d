// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * Tables next to libdwarf, where an input of some bytes is a file of up to 2,000
 * FDEs, for x86-64 or i386: bytes are templates of functions, which are repeated
 * in rounds with other operands, as compilers do it. Small programs alone make no
 * pairs, no codes of two bytes, and no area grow in the middle of an FDE.
 *
 * All that is made is valid, so that whatever core/ leaves out is a mistake.
 * Not made is what libdwarf (20210528) gets wrong or refuses:
 * - DW_CFA_def_cfa_register or _offset after an expression (not legal either);
 * - DW_CFA_set_loc where addresses are encoded: it reads 8 bytes;
 * - DW_CFA_val_offset_sf of another register than 0: it takes 0;
 * - DW_CFA_GNU_negative_offset_extended: it takes the offset as positive;
 * - DW_CFA_MIPS_advance_loc8, DW_CFA_GNU_window_save.
 */
#include <dwarf.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>
#include "build_eh_frame.h"
#include "fuzz.h"
#include "budgets.h"
#include "rows.h"
#include "table.h"

#define TEXT_LEN	((u32)(BUILD_EH - BUILD_TEXT))
#define MAX_FDES	2000
#define MAX_CIES	12
#define MAX_STATES	4
#define MAX_PROGRAM	10000
/* For libdwarf each row costs the program before it: the sum of their squares. */
#define MAX_COST	200000000ULL

/*
 * What machines differ in.
 * @word: bytes of an address
 * @sp: the DWARF number of the stack pointer
 * @ra: that of the return address
 * @nr_regs: how many can be named for a value; all below are followed
 * @nr_all: and with some that nobody follows
 * @saved: those that functions save
 * @data_aligns: factors of CIEs
 */
struct machine {
	u32 word;
	u32 sp;
	u32 ra;
	u32 nr_regs;
	u32 nr_all;
	u8 saved[6];
	u32 nr_saved;
	s8 data_aligns[8];
};

static const struct machine x86_64 = {
	.word = 8, .sp = 7, .ra = 16, .nr_regs = 16,
	/* xmm0 to xmm2 */
	.nr_all = 20,
	.saved = { 6, 15, 14, 13, 12, 3 }, .nr_saved = 6,
	.data_aligns = { -8, -8, -8, -4, -1, 8, 1, 3 },
};

static const struct machine i386 = {
	.word = 4, .sp = 4, .ra = 8, .nr_regs = 8,
	/* eflags, and what follows */
	.nr_all = 12,
	.saved = { 5, 7, 6, 3 }, .nr_saved = 4,
	.data_aligns = { -4, -4, -4, -8, -1, 4, 1, 3 },
};

/* The input, and what an operand with its high bit set changes with. */
struct input {
	const u8 *p;
	const u8 *end;
	u32 round;
	u64 cost;
};

static u8 take(struct input *in)
{
	return in->p < in->end ? *in->p++ : 0;
}

static u32 operand(struct input *in)
{
	u8 byte = take(in);

	return byte & 0x80 ? (byte & 0x7f) + in->round : byte;
}

/* A CFA program in the making, and what the next instruction must know. */
struct program {
	struct buf b;
	const struct machine *machine;
	const struct cie_spec *cie;
	bool expr;
	bool states[MAX_STATES];
	u32 nr_states;
	u32 loc;
};

static void put(struct program *p, u8 byte)
{
	buf_uint(&p->b, byte, 1);
}

static void advance(struct program *p, u32 delta)
{
	u32 scaled = delta * (u32)p->cie->code_align;

	if (p->loc + scaled > 0x4000)
		return;
	p->loc += scaled;
	if (delta < 0x40) {
		put(p, (u8)(DW_CFA_advance_loc | delta));
	} else if (delta < 0x100) {
		put(p, DW_CFA_advance_loc1);
		put(p, (u8)delta);
	} else {
		put(p, delta & 1 ? DW_CFA_advance_loc2 : DW_CFA_advance_loc4);
		buf_uint(&p->b, delta, delta & 1 ? 2 : 4);
	}
}

/* An expression of the kinds that compilers, linkers and assembly have. */
static void put_expr(struct program *p, struct input *in)
{
	struct buf e = { 0 };
	const struct machine *m = p->machine;
	u32 form = take(in), reg = take(in) % m->nr_regs;
	s32 off = (s32)(s8)take(in) * 8 + (s32)(form & 8 ? in->round : 0);

	switch (form & 7) {
	case 0:
		buf_uint(&e, DW_OP_breg0 + m->sp, 1);
		buf_sleb(&e, m->word);
		/* Nearly what a PLT has is something else. */
		buf_put(&e, (const u8[]){ (u8)(DW_OP_breg0 + m->ra), 0,
			form & 8 ? DW_OP_lit7 : DW_OP_lit15, DW_OP_and,
			(u8)(DW_OP_lit0 + reg), DW_OP_ge,
			(m->word == 8) ^ (form >> 4 & 1) ? DW_OP_lit3 : DW_OP_lit2,
			DW_OP_shl, DW_OP_plus }, 9);
		break;
	case 1:
		buf_uint(&e, DW_OP_const2s, 1);
		buf_uint(&e, (u16)off, 2);
		buf_put(&e, (const u8[]){ (u8)(DW_OP_breg0 + reg), 0x78,
			DW_OP_plus }, 3);
		break;
	case 2:
		buf_uint(&e, DW_OP_bregx, 1);
		buf_uleb(&e, reg);
		buf_sleb(&e, off);
		break;
	default:
		buf_uint(&e, DW_OP_breg0 + reg, 1);
		buf_sleb(&e, off);
		if (form & 1)
			buf_uint(&e, DW_OP_deref, 1);
		if (form & 2) {
			buf_uint(&e, DW_OP_plus_uconst, 1);
			buf_uleb(&e, (u32)off & 0xffff);
		}
		if (form & 16)
			buf_put(&e, (const u8[]){ DW_OP_lit16, DW_OP_neg,
						  DW_OP_and }, 3);
	}
	buf_uleb(&p->b, e.len);
	buf_put(&p->b, e.bytes, e.len);
	buf_free(&e);
}

/* A register in place of which nothing else than itself may be. */
static u32 reg_of(const struct program *p, struct input *in)
{
	u32 reg = operand(in) % p->machine->nr_all;

	/* The CFA is the stack pointer. */
	return reg == p->machine->sp ? p->machine->ra : reg;
}

/* A register that has a value. */
static u32 value_reg(const struct program *p, struct input *in)
{
	return operand(in) % p->machine->nr_regs;
}

static void cfa_op(struct program *p, struct input *in, u32 op)
{
	/* Half of a rule cannot be changed if it is an expression. */
	if (p->expr && op != 0)
		op = 0;
	switch (op) {
	case 0:
		p->expr = false;
		put(p, DW_CFA_def_cfa);
		buf_uleb(&p->b, value_reg(p, in));
		buf_uleb(&p->b, p->machine->word * (operand(in) + 1));
		break;
	case 1:
		put(p, DW_CFA_def_cfa_register);
		buf_uleb(&p->b, value_reg(p, in));
		break;
	case 2:
		put(p, DW_CFA_def_cfa_offset);
		buf_uleb(&p->b, p->machine->word * (operand(in) + 1));
		break;
	case 3:
		put(p, DW_CFA_def_cfa_offset);
		buf_uleb(&p->b, operand(in) * 0x101);
		break;
	}
}

static void rare_op(struct program *p, struct input *in, u32 op)
{
	switch (op) {
	case 0:
		put(p, DW_CFA_def_cfa_expression);
		put_expr(p, in);
		p->expr = true;
		break;
	case 1:
	case 2:
		put(p, op == 1 ? DW_CFA_expression : DW_CFA_val_expression);
		buf_uleb(&p->b, reg_of(p, in));
		put_expr(p, in);
		break;
	case 3:
		put(p, DW_CFA_val_offset);
		buf_uleb(&p->b, reg_of(p, in));
		buf_uleb(&p->b, operand(in));
		break;
	case 4:
		put(p, DW_CFA_val_offset_sf);
		buf_uleb(&p->b, 0);
		buf_sleb(&p->b, (s32)operand(in) - 64);
		break;
	case 5:
		put(p, DW_CFA_offset_extended_sf);
		buf_uleb(&p->b, reg_of(p, in));
		buf_sleb(&p->b, (s32)operand(in) - 64);
		break;
	case 6:
		put(p, DW_CFA_register);
		buf_uleb(&p->b, reg_of(p, in));
		buf_uleb(&p->b, value_reg(p, in));
		break;
	case 7:
		put(p, DW_CFA_GNU_args_size);
		buf_uleb(&p->b, operand(in));
		break;
	case 8:
		p->expr = false;
		put(p, DW_CFA_def_cfa_sf);
		buf_uleb(&p->b, value_reg(p, in));
		buf_sleb(&p->b, (s32)operand(in) - 8);
		break;
	case 9:
		if (p->expr)
			break;
		put(p, DW_CFA_def_cfa_offset_sf);
		buf_sleb(&p->b, (s32)operand(in) - 8);
		break;
	case 10:
		put(p, DW_CFA_restore_extended);
		buf_uleb(&p->b, reg_of(p, in));
		break;
	case 11:
		put(p, DW_CFA_offset_extended);
		buf_uleb(&p->b, reg_of(p, in));
		buf_uleb(&p->b, operand(in));
		break;
	default:
		put(p, DW_CFA_nop);
	}
}

/* Registers are pushed, or popped, in as many rows. */
static void pushes(struct program *p, struct input *in, bool pop)
{
	const struct machine *m = p->machine;
	u32 n = operand(in) % (m->nr_saved + 1), i, k;

	if (p->expr)
		return;
	for (i = 0; i < n; i++) {
		k = pop ? n - 1 - i : i;
		advance(p, 1 + (k && k < 5));
		put(p, DW_CFA_def_cfa_offset);
		buf_uleb(&p->b, m->word * (pop ? k + 1 : k + 2));
		if (!pop) {
			put(p, (u8)(DW_CFA_offset | m->saved[k]));
			buf_uleb(&p->b, k + 2);
		}
	}
}

static void one_op(struct program *p, struct input *in)
{
	u32 op = take(in) % 32;

	if (p->b.len > MAX_PROGRAM)
		return;
	switch (op) {
	case 0 ... 5:
		advance(p, op);
		break;
	case 6:
		advance(p, operand(in));
		break;
	case 7:
		advance(p, operand(in) * 5);
		break;
	case 8 ... 11:
		cfa_op(p, in, op - 8);
		break;
	case 12 ... 14:
		put(p, (u8)(DW_CFA_offset | reg_of(p, in)));
		buf_uleb(&p->b, operand(in));
		break;
	case 15:
		put(p, (u8)(DW_CFA_restore | reg_of(p, in)));
		break;
	case 16:
		put(p, DW_CFA_undefined);
		buf_uleb(&p->b, reg_of(p, in));
		break;
	case 17:
		put(p, DW_CFA_same_value);
		buf_uleb(&p->b, reg_of(p, in));
		break;
	case 18:
		if (p->nr_states == MAX_STATES)
			break;
		p->states[p->nr_states++] = p->expr;
		put(p, DW_CFA_remember_state);
		break;
	case 19:
		if (!p->nr_states)
			break;
		p->expr = p->states[--p->nr_states];
		put(p, DW_CFA_restore_state);
		break;
	case 20 ... 22:
		pushes(p, in, false);
		break;
	case 23:
		pushes(p, in, true);
		break;
	default:
		rare_op(p, in, operand(in) % 13);
	}
}

/* The next instructions once or, as no compiler does, up to 4,000 times. */
static void some_ops(struct program *p, struct input *in)
{
	u32 times = 1, n = 1, i, k, round = in->round;
	const u8 *again;

	if (in->p < in->end && *in->p % 32 == 31) {
		take(in);
		n = 1 + take(in) % 8;
		times = operand(in) * 16;
	}
	again = in->p;
	for (i = 0; i < times; i++) {
		in->p = again;
		for (k = 0; k < n; k++)
			one_op(p, in);
		in->round++;
	}
	in->round = round;
}

static void make_cies(struct buf *eh, const struct machine *m,
		      struct cie_spec *cies, u32 *at, u32 n, struct input *in)
{
	static const char *const augs[] = { "zR", "zRS", "", "zPLR" };
	static const u32 encs[] = {
		0, DW_EH_PE_pcrel | DW_EH_PE_sdata8, DW_EH_PE_udata4,
		DW_EH_PE_pcrel | DW_EH_PE_sdata4,
	};
	struct program p = { .machine = m };
	u32 i, flags, count;

	for (i = 0; i < n; i++) {
		flags = take(in);
		cies[i] = (struct cie_spec){
			.word = m->word,
			.aug = augs[flags & 3],
			.enc = encs[flags >> 2 & 3],
			.code_align = flags & 0x80 ? 4 : 1,
			.data_align = m->data_aligns[flags >> 4 & 7],
			.version = i & 1 ? 3 : 1,
			.lsda_enc = DW_EH_PE_omit,
		};
		p.cie = &cies[i];
		put(&p, DW_CFA_def_cfa);
		buf_uleb(&p.b, m->sp);
		buf_uleb(&p.b, m->word);
		put(&p, DW_CFA_offset_extended_sf);
		buf_uleb(&p.b, m->ra);
		buf_sleb(&p.b, -(s64)m->word / cies[i].data_align);
		/* More, but no row. */
		for (count = take(in) % 4; count; count--)
			rare_op(&p, in, 1 + take(in) % 6);
		cies[i].instrs = (struct prog){ p.b.bytes, p.b.len };
		at[i] = build_cie(eh, &cies[i]);
		cies[i].instrs = NO_PROG;
		p.b.len = 0;
	}
	buf_free(&p.b);
}

/* One function by the template at @in, which is then behind it. */
static bool make_fde(struct buf *eh, const struct machine *m,
		     const struct cie_spec *cies, const u32 *at, u32 nr_cies,
		     struct input *in, u64 *addr)
{
	u32 cie = operand(in) % nr_cies, tail = operand(in), gap = operand(in);
	u32 n = take(in) % 64;
	struct program p = { .machine = m, .cie = &cies[cie] };
	u64 len;
	bool fits;

	while (n--)
		some_ops(&p, in);
	/* The last row may be cut off, or last for long. */
	len = p.loc + (tail & 0x40 ? tail * 8 : tail & 15) + 1;
	fits = *addr + len <= BUILD_TEXT + TEXT_LEN;
	if (fits)
		build_fde(eh, &cies[cie], at[cie], *addr, len,
			  (struct prog){ p.b.bytes, p.b.len });
	in->cost += (u64)p.b.len * p.b.len;
	buf_free(&p.b);
	*addr += len;
	if ((gap & 7) == 5)
		*addr = ALIGN(*addr, 16);
	else if ((gap & 7) == 6)
		*addr += gap;
	else if ((gap & 7) == 7)
		*addr -= min_t(u64, len - 1, gap >> 3);
	return fits;
}

/* Return: how many FDEs, and for which @machine. */
static u32 make_eh_frame(struct buf *eh, const struct machine **machine,
			 const u8 *data, size_t size)
{
	struct input in = { .p = data, .end = data + size };
	u32 head = take(&in), nr_cies = 1 + (head & 0x7f) % MAX_CIES;
	const struct machine *m = head & 0x80 ? &i386 : &x86_64;
	u32 rounds = take(&in) + 1;
	u32 period = take(&in) + 1, i, n = 0, at[MAX_CIES];
	struct cie_spec cies[MAX_CIES];
	bool backwards = period & 1;
	u64 addr = BUILD_TEXT, part;
	const u8 *templates;

	*machine = m;
	make_cies(eh, m, cies, at, nr_cies, &in);
	templates = in.p;
	/* By halves: the second one lies first. */
	part = BUILD_TEXT + TEXT_LEN / 2;
	if (backwards)
		addr = part;
	for (i = 0; i < rounds; i++) {
		in.p = templates;
		in.round = i % period;
		while (in.p < in.end) {
			if (make_fde(eh, m, cies, at, nr_cies, &in, &addr)) {
				if (++n == MAX_FDES || in.cost > MAX_COST)
					return n;
				continue;
			}
			if (!backwards)
				return n;
			backwards = false;
			addr = BUILD_TEXT;
		}
	}
	return n;
}

/* Its leaks are not ours. */
const char *__lsan_default_suppressions(void);
const char *__lsan_default_suppressions(void)
{
	return "leak:libdwarf.so\n";
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
	const struct rows_options options = {
		.sample = 1, .examples = 3, .every = true,
	};
	struct rows_stats stats = { 0 };
	struct elf_layout layout;
	struct elf_spec spec = { .text_len = TEXT_LEN };
	const struct machine *machine;
	struct buf eh = { 0 }, file = { 0 };
	char path[32];
	u32 nr_fdes;
	int fd;

	nr_fdes = make_eh_frame(&eh, &machine, data, size);
	if (!nr_fdes) {
		buf_free(&eh);
		return 0;
	}
	spec.eh_frame = &eh;
	spec.word = machine->word;
	build_elf(&file, &spec, &layout);
	/* FUZZ_KEEP=FILE: for a look with readelf --debug-dump=frames-interp. */
	if (getenv("FUZZ_KEEP"))
		fd = open(getenv("FUZZ_KEEP"), O_RDWR | O_CREAT | O_TRUNC, 0666);
	else
		fd = memfd_create("fuzz", MFD_CLOEXEC);
	must(fd >= 0 && write(fd, file.bytes, file.len) == (ssize_t)file.len);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	rows_file(path, &options, &stats);
	close(fd);
	buf_free(&file);
	buf_free(&eh);
	must(stats.files == 1 && stats.fdes == nr_fdes);
	must(!rows_failed(&stats) && !stats.fde_errors);
	must(!stats.partial[ROWS_ORACLE] && !stats.partial[ROWS_LONG_EXPR]);
	return 0;
}
