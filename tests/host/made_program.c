// SPDX-License-Identifier: GPL-2.0-only OR MIT
#include <dwarf.h>
#include "test.h"
#include "frame.h"
#include "made_program.h"

#define GARBAGE	0x6b6b6b6b6b6b6b6bULL

/* Where struct ucontext has a register: asm/sigcontext.h, in DWARF's order. */
static const u8 context[17] = {
	144, 136, 152, 128, 112, 104, 120, 160, 40, 48, 56, 64, 72, 80, 88, 96,
	168,
};

/* As glibc's __restore_rt: every register at rsp plus something. */
static void put_signal(struct buf *b)
{
	const struct cie_spec spec = { .aug = "zRS" };
	struct buf p = { 0 }, e = { 0 };
	u32 i;

	buf_put(&p, (const u8[]){ DW_CFA_def_cfa_expression, 4, DW_OP_breg7,
				  0xa0, 0x01, DW_OP_deref }, 6);
	for (i = 0; i < 17; i++) {
		e.len = 0;
		buf_uint(&e, DW_OP_breg7, 1);
		buf_sleb(&e, context[i]);
		buf_put(&p, (const u8[]){ DW_CFA_expression, (u8)i }, 2);
		buf_uleb(&p, e.len);
		buf_put(&p, e.bytes, e.len);
	}
	/* As glibc's begins: one byte before the function. */
	build_fde(b, &spec, build_cie(b, &spec),
		  BUILD_TEXT + P_SIGNAL * P_LEN - 1, P_LEN + 1,
		  (struct prog){ p.bytes, p.len });
	buf_free(&p);
	buf_free(&e);
}

static void build_program(struct buf *b)
{
	const struct prog progs[P_NR] = {
		[P_RSP] = PROG(DW_CFA_nop),
		[P_RBP] = PROG(DW_CFA_def_cfa, 6, 16, DW_CFA_offset | 6, 2),
		[P_PUSHED] = PROG(DW_CFA_def_cfa_offset, 16,
				  DW_CFA_offset | 6, 2),
		[P_SAVES] = PROG(DW_CFA_def_cfa_offset, 64,
				 DW_CFA_offset | 3, 2, DW_CFA_offset | 6, 3,
				 DW_CFA_offset | 12, 4),
		[P_PLT] = PROG(DW_CFA_def_cfa_expression, 11, DW_OP_breg7, 8,
			       DW_OP_breg16, 0, DW_OP_lit15, DW_OP_and,
			       DW_OP_lit11, DW_OP_ge, DW_OP_lit3, DW_OP_shl,
			       DW_OP_plus),
		[P_R10] = PROG(DW_CFA_def_cfa, 10, 0),
		[P_REALIGNED] = PROG(DW_CFA_def_cfa_expression, 3, DW_OP_breg6,
				     0x78, DW_OP_deref,
				     DW_CFA_expression, 6, 2, DW_OP_breg6, 0),
		[P_GIVEN_BACK] = PROG(DW_CFA_expression, 6, 2, DW_OP_breg6, 0),
		[P_RBX] = PROG(DW_CFA_def_cfa, 3, 16),
		[P_BACK] = PROG(DW_CFA_def_cfa_sf, 7, 1),
		[P_STILL] = PROG(DW_CFA_def_cfa_offset, 0),
		[P_ODD] = PROG(DW_CFA_def_cfa_offset, 12),
		[P_RA_IN_RAX] = PROG(DW_CFA_register, 16, 0),
		[P_POPPED] = PROG(DW_CFA_def_cfa_offset, 0,
				  DW_CFA_register, 16, 0),
		[P_LEAVES] = PROG(DW_CFA_def_cfa, 5, 0, DW_CFA_register, 7, 8,
				  DW_CFA_register, 16, 1),
		[P_ENDLESS] = PROG(DW_CFA_def_cfa_expression, 4, DW_OP_lit1,
				   DW_OP_skip, 0xfd, 0xff),
		[P_DIVIDES] = PROG(DW_CFA_def_cfa_expression, 3, DW_OP_lit1,
				   DW_OP_lit0, DW_OP_div),
		[P_LOSES_RBP] = PROG(DW_CFA_undefined, 6),
		[P_LOSES_RSP] = PROG(DW_CFA_undefined, 7),
		[P_EXPR] = PROG(DW_CFA_def_cfa_expression, 4, DW_OP_breg7, 0,
				DW_OP_lit8, DW_OP_plus),
		[P_RA_EXPR] = PROG(DW_CFA_expression, 16, 4, DW_OP_breg3, 0,
				   DW_OP_lit8, DW_OP_plus),
		[P_VALUE] = PROG(DW_CFA_val_offset_sf, 6, 0x7e),
		[P_LARGE] = PROG(DW_CFA_def_cfa_offset, 0xf8, 0xff, 0x1f,
				 DW_CFA_offset | 6, 16),
		[P_LARGER] = PROG(DW_CFA_def_cfa_offset, 0x80, 0x80, 0x20),
		[P_FAR] = PROG(DW_CFA_def_cfa_offset, 0x90, 1,
			       DW_CFA_offset | 6, 17),
		[P_ABOVE] = PROG(DW_CFA_offset_extended_sf, 6, 0x7f),
		[P_EH_RETURN] = PROG(DW_CFA_def_cfa_offset, 24,
				     DW_CFA_offset | 0, 2),
		[P_START] = PROG(DW_CFA_undefined, 16),
	};
	const struct cie_spec spec = { 0 };
	u32 cie = build_cie(b, &spec), f;

	for (f = 0; f < P_NR; f++)
		if (f != P_SIGNAL && f != P_NO_FDE)
			build_fde(b, &spec, cie, BUILD_TEXT + f * P_LEN,
				  P_LEN - (f + 1 == P_SIGNAL), progs[f]);
	put_signal(b);
}

/* Of its text this much is there: calls before all addresses that are aligned. */
static int read_text(u64 addr, u64 *word)
{
	if (addr - SYNTH_IP(-16) >= P_NR * P_LEN + 32)
		return -EFAULT;
	*word = 0x90e8909090;
	return 0;
}

struct synth *program_new(enum program_function f)
{
	struct buf b = { 0 };
	struct synth *s;
	u32 i;

	build_program(&b);
	s = synth_new(&b);
	kuw_port_elsewhere = read_text;
	buf_free(&b);
	for (i = 0; i < 16; i++)
		if (i != 7)
			s->regs.r[i] = GARBAGE;
	for (i = 0; i < SYNTH_WORDS; i++)
		s->stack[i] = GARBAGE;
	s->regs.ip = P_RA(f);
	return s;
}

void program_words(struct synth *s, u32 word, const u64 *words, u32 count)
{
	assert_true(word + count <= SYNTH_WORDS);
	memcpy(&s->stack[word], words, 8 * count);
}

void program_signal(struct synth *s, u32 word, u64 ip, u64 sp, u64 bp)
{
	u32 i;

	for (i = 0; i < 17; i++)
		s->stack[word + context[i] / 8] = GARBAGE;
	s->stack[word + context[16] / 8] = ip;
	s->stack[word + context[7] / 8] = sp;
	s->stack[word + context[6] / 8] = bp;
}

void program_expect(struct synth *s, u32 stop, const u64 *frames, u32 count)
{
	u32 i;

	synth_walk(s, KUNWIND_MAX_FRAMES);
	for (i = 0; i < count && i < s->result.count; i++)
		assert_int_equal(s->frames[i], frames[i]);
	assert_string_equal(stop_name(s->result.stop), stop_name(stop));
	assert_int_equal(s->result.count, count);
}
