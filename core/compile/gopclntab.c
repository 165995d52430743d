// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * Go's function table, of Go 1.18 and later (golang.org/s/go12symtab; runtime/symtab.go and
 * cmd/link/internal/ld/pcln.go of Go's source). Earlier ones have another form, and before 1.17
 * nothing says which functions write the stack pointer.
 *
 *	header		magic, word size, and where the following are, from the section's start
 *	funcnametab	names, each with a zero
 *	pctab		pairs of varints: how much a value grows, and for how many bytes it holds
 *	pclntab		of each function its start and its struct _func, which names its "pcsp": a
 *			list in pctab, of the bytes from rsp to the return address
 *
 * So the CFA is rsp + value + 8. Nothing says where rbp is. Go's assembler saves it right below
 * the return address (cmd/internal/obj/x86/obj6.go), in all functions that open a frame, except
 * for a few in assembly, whose callers have no use for it.
 */
#include "gopclntab.h"
#include "budgets.h"

/* From 1.20 on, struct _func has one more word, the line where the function starts. */
#define MAGIC_118	0xfffffff0u
#define MAGIC_120	0xfffffff1u

/* Bytes of struct _func from pcsp to its ID and its flags, without that word. */
#define TO_ID		(4 * 4)

/* The outermost frame of a stack, for Go's own traceback. */
#define FLAG_TOPFRAME	1
/* The function gives rsp a value from elsewhere, which pcsp does not tell. */
#define FLAG_SPWRITE	2

/* An entry of the functab: the function's start, and where its struct _func is. */
#define FUNCTAB_ENTRY	8

/*
 * After an instruction that opens a frame, rbp is still the caller's. The next one saves it, or
 * (since Go 1.21, where a push opens the frame) sets it. Neither is shorter than this.
 */
#define SAVE_LEN	3

/* Where a process starts that has no C code. */
#define ENTRY		"_rt0_amd64_linux"

/* What is special about a function. */
enum special {
	ORDINARY,
	LEFT_OUT,	/* its rows would be wrong */
	PROCESS,	/* the process starts there, if it starts with Go's code */
	OUTERMOST,	/* nothing has called it */
	INTERRUPTED,	/* its return address is that of an interrupted instruction */
};

static const struct {
	const char *name;
	u8 len;
	u8 special;
} specials[] = {
#define NAMED(name, special)	{ name, sizeof(name), special }
#define BEGINS(name, special)	{ name, sizeof(name) - 1, special }
	/*
	 * A goroutine's stack starts with its address, as if it had called the goroutine. Other
	 * functions with TOPFRAME have callers: mstart() has C code, sigtramp() the signal frame.
	 */
	NAMED("runtime.goexit", OUTERMOST),
	/* The signal handler makes the interrupted code call them. */
	NAMED("runtime.asyncPreempt", INTERRUPTED),
	NAMED("runtime.sigpanic", INTERRUPTED),
	/* The restorer of signals is above the kernel's frame. */
	BEGINS("runtime.sigreturn", LEFT_OUT),
	/*
	 * Each jumps to the next. With C code, main() jumps to the last, and has a caller; and what
	 * else begins so is for libraries.
	 */
	NAMED(ENTRY, PROCESS),
	NAMED("_rt0_amd64", PROCESS),
	NAMED("runtime.rt0_go", PROCESS),
	BEGINS("_rt0_amd64", LEFT_OUT),
	/* Called by C code, it saves rbp elsewhere, for C code that may need it. */
	NAMED("crosscall2", LEFT_OUT),
};

/* A function. */
struct func {
	u32 start;	/* its offset from the text's start */
	u32 len;	/* bytes up to the next function */
	u32 pcsp;	/* where its list is in pctab; 0 if it has none */
	u32 name;	/* where its name is in funcnametab */
	u8 flags;	/* FLAG_TOPFRAME, FLAG_SPWRITE */
};

/* Return: whether the name at @off of funcnametab starts with @len bytes of @name. */
static bool is_named(const struct kuw_gopclntab *g, u32 off, const char *name, u32 len)
{
	struct kuw_cur c = kuw_cur_from(g->bytes, g->len, (u64)g->names + off);
	const u8 *bytes = kuw_bytes(&c, len);

	return bytes && !memcmp(bytes, name, len);
}

static enum special special_of(const struct kuw_gopclntab *g, const struct func *f)
{
	enum special special = ORDINARY;
	u32 i;

	for (i = 0; i < ARRAY_SIZE(specials); i++)
		if (is_named(g, f->name, specials[i].name, specials[i].len)) {
			special = specials[i].special;
			break;
		}
	if (special == PROCESS)
		return g->starts ? OUTERMOST : LEFT_OUT;
	if (special == OUTERMOST && !(f->flags & FLAG_TOPFRAME))
		return ORDINARY;
	return special;
}

/* Read the header. Without one of a known version, there are no functions. */
static void read_header(struct kuw_gopclntab *g)
{
	u64 nr, names, pctab, funcs;
	struct kuw_cur c;
	u32 magic;

	if (!g->len)
		return;
	c = kuw_cur(g->bytes, g->len);
	magic = kuw_u32(&c);
	/* Then two zeros, the length of instructions, and the bytes of a word. */
	if ((magic != MAGIC_118 && magic != MAGIC_120) || kuw_u32(&c) != (KUW_WORD << 24 | 1 << 16))
		return;
	nr = kuw_u64(&c);
	kuw_u64(&c);		/* files */
	/* The start of the text; 0 since Go 1.26. */
	g->text = kuw_u64(&c) ?: g->scan->elf->go_text;
	names = kuw_u64(&c);
	kuw_u64(&c);		/* cutab */
	kuw_u64(&c);		/* filetab */
	pctab = kuw_u64(&c);
	funcs = kuw_u64(&c);
	if (!kuw_good(&c) || names > g->len || pctab > g->len || funcs > g->len) {
		g->scan->nr_bad++;
		return;
	}
	g->names = names;
	g->pctab = pctab;
	g->funcs = funcs;
	/* After the last entry is where the last function ends. */
	g->nr_funcs = min_t(u64, nr, (g->len - g->funcs) / FUNCTAB_ENTRY);
	g->skip = magic == MAGIC_120 ? TO_ID + 4 : TO_ID;
}

/* Read function @i. Return: whether it can be read. */
static bool read_func(const struct kuw_gopclntab *g, u32 i, struct func *f)
{
	struct kuw_cur c = kuw_cur_from(g->bytes, g->len, g->funcs + (u64)i * FUNCTAB_ENTRY);
	u32 off, next;

	f->start = kuw_u32(&c);
	off = kuw_u32(&c);
	next = kuw_u32(&c);
	if (!kuw_good(&c) || next < f->start)
		return false;
	f->len = next - f->start;
	c = kuw_cur_from(g->bytes, g->len, (u64)g->funcs + off);
	kuw_u32(&c);		/* the start again */
	f->name = kuw_u32(&c);
	kuw_u64(&c);		/* arguments, deferreturn */
	f->pcsp = kuw_u32(&c);
	kuw_bytes(&c, g->skip);
	kuw_u8(&c);		/* ID */
	f->flags = kuw_u8(&c);
	return kuw_good(&c);
}

/*
 * Find the function where the process starts. If no section says where the text starts: without C
 * code, the file's entry point is that function. Otherwise the functions stay unknown.
 * Return: 0, -EINTR, -ETIME.
 */
static int find_entry(struct kuw_gopclntab *g)
{
	const struct kuw_elf *elf = g->scan->elf;
	struct func f;
	int ret;
	u32 i;

	for (i = 0; i < g->nr_funcs; i++) {
		ret = kuw_pause_after(g->scan->areas, KUW_FDE_WORK);
		if (ret)
			return ret;
		if (!read_func(g, i, &f) || !is_named(g, f.name, ENTRY, sizeof(ENTRY)))
			continue;
		if (!g->text)
			g->text = elf->entry - f.start;
		g->starts = g->text + f.start == elf->entry;
		break;
	}
	return 0;
}

/*
 * Add a row at @off, of a frame of @size bytes. Return: 0, -E2BIG, or an error of the caller's
 * functions.
 */
static int add_row(struct kuw_scan *s, enum special special, u64 off, s64 size, bool saved)
{
	const struct kuw_loc cfa = { .how = KUW_REG, .reg = KUW_RSP, .off = size + KUW_WORD };
	const struct kuw_loc none = { .how = KUW_UNDEF, .target = KUW_RA };
	const struct kuw_loc pushed = {
		.how = KUW_AT_CFA, .target = KUW_RBP, .off = -2 * KUW_WORD,
	};
	u32 regs = 0, rule = 0;
	int err = kuw_found_room(&s->found, KUW_FOUND_ROOM);

	if (special == OUTERMOST)
		err = err ?: kuw_intern_set(s->intern, &regs, none);
	else if (saved)
		err = err ?: kuw_intern_set(s->intern, &regs, pushed);
	/* As a signal frame's: no call has left an address in either. */
	err = err ?: kuw_intern_rule(s->intern, cfa, regs, special != ORDINARY, &rule);
	if (!err)
		kuw_found_add(&s->found, off, rule);
	return err;
}

/*
 * Add the rows of a function that starts at offset @off of the table, from its list at @c.
 * Return: 0, -EINVAL, -E2BIG, or an error of the caller's functions.
 */
static int add_rows(struct kuw_gopclntab *g, struct kuw_cur c, enum special special,
		    u32 off, u32 len)
{
	struct kuw_scan *s = g->scan;
	u64 pos = 0, grow, bytes;
	u32 budget = KUW_MAX_PCSP;
	bool opened = false;
	s64 size = -1;
	int err = 0;

	while (!err && pos < len) {
		grow = kuw_uleb(&c);
		/* Only the first value may be that from before. */
		if (!grow && pos)
			break;
		bytes = kuw_uleb(&c);
		g->steps++;
		if (!kuw_good(&c) || !bytes || bytes > U32_MAX || grow > U32_MAX || !budget--)
			return -EINVAL;
		/* Zigzag: the lowest bit is the sign. */
		size += (s64)(grow >> 1) ^ -(s64)(grow & 1);
		/* vfork() pops its return address: that is no frame. */
		if (size < 0 || size % KUW_WORD || size > S32_MAX - KUW_WORD)
			return -EINVAL;
		if (size && !opened && pos) {
			err = add_row(s, special, off + pos, size, false);
			if (!err && bytes > SAVE_LEN && len - pos > SAVE_LEN)
				err = add_row(s, special, off + pos + SAVE_LEN, size, true);
		} else {
			err = add_row(s, special, off + pos, size, size);
		}
		opened |= size;
		pos += bytes;
	}
	return !err && !pos ? -EINVAL : err;
}

/* Add a function, or nothing. Return: as add_rows(). */
static int add_func(struct kuw_gopclntab *g, u32 i)
{
	struct kuw_scan *s = g->scan;
	enum special special;
	struct func f;
	u64 len;
	u32 off;
	int ret;

	if (!read_func(g, i, &f))
		return -EINVAL;
	len = f.len;
	special = special_of(g, &f);
	/* Functions of C have no list, if Go's linker has linked them. */
	if (!f.pcsp || special == LEFT_OUT || (f.flags & FLAG_SPWRITE && special != OUTERMOST))
		return 0;
	ret = kuw_scan_begin_fde(s, g->text + f.start, &len, &off);
	if (ret)
		return ret == 1 ? 0 : ret;
	if (special == OUTERMOST)
		ret = add_row(s, special, off, 0, false);
	else
		ret = add_rows(g, kuw_cur_from(g->bytes, g->len, (u64)g->pctab + f.pcsp),
			       special, off, len);
	return kuw_scan_end_fde(s, off, len, ret);
}

int kuw_gopclntab(struct kuw_gopclntab *g)
{
	u32 i, before;
	int ret;

	read_header(g);
	ret = find_entry(g);
	for (i = 0; !ret && g->text && i < g->nr_funcs; i++) {
		/* Functions may share a list. Still, they say less than there are bytes. */
		if (g->steps >= g->len) {
			g->scan->nr_bad += g->nr_funcs - i;
			break;
		}
		before = g->steps;
		ret = add_func(g, i);
		if (ret == -EINVAL) {
			g->scan->nr_bad++;
			ret = 0;
		}
		if (!ret)
			ret = kuw_pause_after(g->scan->areas, KUW_FDE_WORK + g->steps - before);
	}
	return ret;
}
