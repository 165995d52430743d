// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* Programs for i386: their files, their rules, and walks of their stacks. */
#include <dwarf.h>
#include <elf.h>
#include <stdlib.h>
#include "test.h"
#include "synth.h"

/* DWARF numbers (psABI i386, figure 2.14). */
enum { EAX, ECX, EDX, EBX, ESP, EBP, ESI, EDI, EIP };

#define BIAS	0x08048000u
#define IP(off)	(BIAS + (u32)BUILD_TEXT + (off))
/* So that a page ends two words from here: test_null_ra(). */
#define STACK	0xffffdff8u
#define WORDS	256
#define SP(n)	(STACK + 4 * (u32)(n))
/* Where code is that no file covers, so that its bytes are the test's: in the stack. */
#define CODE	200

static const struct cie_spec usual = { .word = 4 };
static const struct cie_spec signal_frame = { .word = 4, .aug = "zRS" };

static struct host_table table;
static struct buf eh;
static struct kuw_map *map;
static u32 stack[WORDS];
static struct kuw_port_regs regs;
static u64 frames[64];
static struct kuw_result result;

static int drop(void **state)
{
	host_table_free(&table);
	buf_free(&eh);
	free(map);
	map = NULL;
	return 0;
}

/* 256 bytes of text for each program. */
static void add(const struct cie_spec *spec, u32 number, struct prog prog)
{
	u32 cie = build_cie(&eh, spec);

	build_fde(&eh, spec, cie, BUILD_TEXT + number * 0x100, 0x100, prog);
}

enum { F_ESP, F_EBP, F_SAVES, F_PLT, F_REALIGNED, F_SIGNAL, F_START, F_WRAPS };

/* A process: every function with its rule from its first byte on. */
static void begin(void)
{
	drop(NULL);
	add(&usual, F_ESP, PROG(DW_CFA_nop));
	add(&usual, F_EBP, PROG(DW_CFA_def_cfa, EBP, 8, DW_CFA_offset | EBP, 2));
	add(&usual, F_SAVES, PROG(DW_CFA_def_cfa_offset, 20, DW_CFA_offset | EBP, 2,
				  DW_CFA_offset | EDI, 3, DW_CFA_offset | ESI, 4,
				  DW_CFA_offset | EBX, 5));
	add(&usual, F_PLT, PROG(DW_CFA_def_cfa_expression, 11, DW_OP_breg0 + ESP, 4,
				DW_OP_breg0 + EIP, 0, DW_OP_lit0 + 15, DW_OP_and,
				DW_OP_lit0 + 11, DW_OP_ge, DW_OP_lit0 + 2,
				DW_OP_shl, DW_OP_plus));
	add(&usual, F_REALIGNED, PROG(DW_CFA_def_cfa_expression, 3,
				      DW_OP_breg0 + EBP, 0x7c, DW_OP_deref,
				      DW_CFA_expression, EBP, 2,
				      DW_OP_breg0 + EBP, 0));
	/* As the vDSO says of __kernel_sigreturn, except for the offsets. */
	add(&signal_frame, F_SIGNAL, PROG(DW_CFA_def_cfa_expression, 3,
					  DW_OP_breg0 + ESP, 8, DW_OP_deref,
					  DW_CFA_expression, EIP, 2,
					  DW_OP_breg0 + ESP, 0,
					  DW_CFA_expression, EBP, 2,
					  DW_OP_breg0 + ESP, 4));
	add(&usual, F_START, PROG(DW_CFA_undefined, EIP));
	add(&usual, F_WRAPS, PROG(DW_CFA_def_cfa, EAX, 0x10));
	assert_int_equal(synth_compile_word(&table, &eh, 4), 0);
	assert_int_equal(table.table->nr_bad, 0);
	map = calloc(1, sizeof(*map) + 2 * sizeof(map->mappings[0]));
	assert_non_null(map);
	map->number = 1;
	map->count = 2;
	map->mappings[0] = (struct kuw_mapping){
		.start = IP(0), .end = IP(BUILD_TEXT_LEN), .bias = BIAS,
		.table = table.table, .kind = KUW_MAPPING_TABLE,
	};
	map->mappings[1] = (struct kuw_mapping){
		.start = SP(CODE - 1), .end = SP(WORDS), .kind = KUW_MAPPING_NO_TABLE,
	};
	memset(stack, 0x5a, sizeof(stack));
	memset(&regs, 0, sizeof(regs));
	regs.r[KUW_RSP] = SP(0);
	kuw_port_set_window(STACK, sizeof(stack), (u64)stack - STACK);
}

#define RA(f)	IP((u32)(f) * 0x100 + 0x20)

static void walk(u32 ip)
{
	regs.ip = ip;
	kuw_walk_i386(map, &regs, frames, ARRAY_SIZE(frames), &result);
}

#define expect(name, ...) do { \
	static const u64 want[] = { __VA_ARGS__ }; \
	\
	assert_stop(result.stop, name); \
	assert_int_equal(result.count, ARRAY_SIZE(want)); \
	assert_memory_equal(frames, want, sizeof(want)); \
} while (0)

static void test_numbers(void **state)
{
	struct kuw_rules rules;

	begin();
	rules = synth_rules(&table, F_SAVES * 0x100);
	assert_int_equal(rules.cfa.how, KUW_REG);
	assert_int_equal(rules.cfa.reg, KUW_RSP);
	assert_int_equal(rules.cfa.off, 20);
	assert_int_equal(rules.reg[KUW_RA].how, KUW_AT_CFA);
	assert_int_equal(rules.reg[KUW_RA].off, -4);
	assert_int_equal(rules.reg[KUW_RBP].off, -8);
	assert_int_equal(rules.reg[KUW_R13].off, -12);
	assert_int_equal(rules.reg[KUW_R12].off, -16);
	assert_int_equal(rules.reg[KUW_RBX].off, -20);
	rules = synth_rules(&table, F_PLT * 0x100);
	assert_int_equal(rules.cfa.how, KUW_EXPR);
	rules = synth_rules(&table, F_REALIGNED * 0x100);
	assert_int_equal(rules.cfa.how, KUW_MEM);
	assert_int_equal(rules.cfa.reg, KUW_RBP);
	assert_int_equal(rules.cfa.off, -4);
}

/* An address of a program wraps, as that of its FDE does. */
static void test_set_loc(void **state)
{
	const struct cie_spec spec = {
		.word = 4, .enc = DW_EH_PE_pcrel | DW_EH_PE_udata4,
	};
	u32 at;

	drop(NULL);
	add(&spec, 0, PROG(DW_CFA_set_loc, 0, 0, 0, 0, DW_CFA_def_cfa_offset, 16));
	for (at = eh.len - 1; eh.bytes[at] != DW_CFA_def_cfa_offset; at--)
		;
	buf_set32(&eh, at - 4, (u32)(BUILD_TEXT + 0x20) - (u32)(BUILD_EH + at - 4));
	assert_int_equal(synth_compile_word(&table, &eh, 4), 0);
	assert_int_equal(table.table->nr_bad, 0);
	assert_int_equal(synth_rules(&table, 0x1f).cfa.off, 4);
	assert_int_equal(synth_rules(&table, 0x20).cfa.off, 16);
}

/* A register that i386 does not have is no register of ours. */
static void test_foreign(void **state)
{
	drop(NULL);
	add(&usual, 0, PROG(DW_CFA_offset | 10, 3));
	add(&usual, 1, PROG(DW_CFA_def_cfa_register, 9));
	assert_int_equal(synth_compile_word(&table, &eh, 4), 0);
	assert_int_equal(table.table->nr_bad, 1);
	assert_int_equal(synth_rules(&table, 0).reg[10].how, KUW_SAME);
	assert_int_equal(synth_rules(&table, 0x100).kind, KUW_RULES_NONE);
}

static void test_walk(void **state)
{
	begin();
	stack[0] = RA(F_EBP);
	regs.r[KUW_RBP] = SP(10);
	stack[10] = SP(50);
	stack[11] = RA(F_SAVES);
	/* ebx, esi, edi, ebp and the return address */
	stack[12] = 1;
	stack[13] = 2;
	stack[14] = 3;
	stack[15] = SP(60);
	stack[16] = RA(F_REALIGNED);
	stack[59] = SP(80);
	stack[60] = SP(70);
	stack[79] = RA(F_START);
	walk(RA(F_ESP));
	expect(COMPLETE, RA(F_ESP), RA(F_EBP), RA(F_SAVES), RA(F_REALIGNED),
	       RA(F_START));
	assert_int_equal(result.proven, 5);
}

static void test_plt(void **state)
{
	begin();
	stack[0] = 1;
	stack[1] = RA(F_START);
	walk(IP(F_PLT * 0x100 + 0x2b));
	expect(COMPLETE, IP(F_PLT * 0x100 + 0x2b), RA(F_START));
	stack[0] = RA(F_START);
	walk(IP(F_PLT * 0x100 + 0x2a));
	expect(COMPLETE, IP(F_PLT * 0x100 + 0x2a), RA(F_START));
}

/* What is above 32 bits in the registers of a 64-bit kernel is not the program's. */
static void test_wide_registers(void **state)
{
	begin();
	regs.r[KUW_RSP] |= 1ULL << 32;
	stack[0] = RA(F_START);
	walk(RA(F_ESP));
	expect(COMPLETE, RA(F_ESP), RA(F_START));
}

static void test_wraps(void **state)
{
	begin();
	regs.r[KUW_RAX] = 0xfffffff8u;
	walk(RA(F_WRAPS));
	/* The CFA is 8: another stack could be there. */
	expect(STACK_FAULT, RA(F_WRAPS));
	/* The same by a frequent rule: the CFA is 0. */
	regs.r[KUW_RSP] = 0xfffffffcu;
	walk(RA(F_ESP));
	expect(CFA_BACK, RA(F_ESP));
	regs.r[KUW_RSP] = SP(0);
	/* And one that nothing is at. */
	regs.r[KUW_RAX] = SP(WORDS);
	walk(RA(F_WRAPS));
	expect(STACK_FAULT, RA(F_WRAPS));
}

static void test_alignment(void **state)
{
	begin();
	regs.r[KUW_RSP] = SP(1);
	stack[1] = RA(F_START);
	walk(RA(F_ESP));
	expect(COMPLETE, RA(F_ESP), RA(F_START));
	regs.r[KUW_RSP] = SP(1) + 2;
	walk(RA(F_ESP));
	expect(CFA_BAD, RA(F_ESP));
}

static void test_signal(void **state)
{
	begin();
	/* The handler returns to the restorer; there is the frame. Its FDE begins a byte
	 * earlier, as all do: a return address is looked up by the byte before.
	 */
	stack[0] = IP(F_SIGNAL * 0x100 + 1);
	stack[1] = IP(F_EBP * 0x100);
	stack[2] = SP(20);
	stack[3] = SP(19);
	stack[20] = 0;
	stack[21] = RA(F_START);
	walk(RA(F_ESP));
	expect(COMPLETE, RA(F_ESP), IP(F_SIGNAL * 0x100 + 1), IP(F_EBP * 0x100),
	       RA(F_START));
}

/* Restorers without CFI (musl): the kernel's frame is where they look for it. */
static void put_context(u32 word, u32 ip, u32 sp, u32 bp)
{
	/* struct sigcontext_32: edi 4, esi 5, ebp 6, esp 7, ebx 8 … eip 14. */
	stack[word + 6] = bp;
	stack[word + 7] = sp;
	stack[word + 14] = ip;
}

static void test_restorer(void **state)
{
	static const u8 code[] = { 0x58, 0xb8, 0x77, 0, 0, 0, 0xcd, 0x80 };

	begin();
	memcpy(&stack[CODE], code, sizeof(code));
	stack[0] = SP(CODE);
	/* The signal's number, then the registers. */
	stack[1] = 10;
	put_context(2, IP(F_EBP * 0x100), SP(50), SP(60));
	stack[61] = RA(F_START);
	walk(RA(F_ESP));
	expect(COMPLETE, RA(F_ESP), SP(CODE), IP(F_EBP * 0x100), RA(F_START));
}

static void test_rt_restorer(void **state)
{
	static const u8 code[] = { 0xb8, 0xad, 0, 0, 0, 0xcd, 0x80, 0x90 };

	begin();
	memcpy(&stack[CODE], code, sizeof(code));
	stack[0] = SP(CODE);
	/* The number, two pointers: struct siginfo, struct ucontext_ia32. */
	stack[1] = 10;
	stack[2] = SP(20);
	stack[3] = SP(30);
	put_context(35, IP(F_EBP * 0x100), SP(80), SP(90));
	stack[91] = RA(F_START);
	walk(RA(F_ESP));
	expect(COMPLETE, RA(F_ESP), SP(CODE), IP(F_EBP * 0x100), RA(F_START));
	/* A pointer into nowhere. */
	stack[3] = 4;
	walk(RA(F_ESP));
	expect(STACK_FAULT, RA(F_ESP), SP(CODE));
	/* And none at all: the stack ends before. */
	regs.r[KUW_RSP] = SP(WORDS - 2);
	stack[WORDS - 2] = SP(CODE);
	walk(RA(F_ESP));
	expect(STACK_FAULT, RA(F_ESP), SP(CODE));
}

/* mov (%esp),%ebx; ret, and behind that another function. */
static const u8 thunk[8] = { 0x8b, 0x1c, 0x24, 0xc3, 0x90, 0x90, 0x90, 0x90 };

static int read_thunk(u64 addr, u64 *word)
{
	memcpy(word, thunk, sizeof(thunk));
	return addr == IP(F_START * 0x100 + 0x40) ? 0 : -EFAULT;
}

/* A function that only copies its return address: it is on the stack, and no register is lost. */
static void test_pc_thunk(void **state)
{
	const u32 behind[] = { 0, 3 };
	u32 i;

	for (i = 0; i < ARRAY_SIZE(behind); i++) {
		begin();
		memcpy(&stack[CODE], thunk, sizeof(thunk));
		/* Calls do not preserve eax, which the caller's CFA needs. */
		stack[0] = RA(F_WRAPS);
		regs.r[KUW_RAX] = SP(10);
		stack[13] = RA(F_START);
		walk(SP(CODE) + behind[i]);
		assert_stop(result.stop, COMPLETE);
		assert_int_equal(result.count, 3);
		assert_int_equal(result.proven, 3);
		assert_int_equal(frames[1], RA(F_WRAPS));
		assert_int_equal(frames[2], RA(F_START));
		/* That of a start file, whose rule ends stacks. */
		kuw_port_elsewhere = read_thunk;
		stack[0] = RA(F_START);
		walk(IP(F_START * 0x100 + 0x40) + behind[i]);
		assert_stop(result.stop, COMPLETE);
		assert_int_equal(result.count, 2);
		assert_int_equal(result.proven, 2);
		assert_int_equal(frames[1], RA(F_START));
		/* No return address is there. */
		stack[0] = 1;
		walk(IP(F_START * 0x100 + 0x40) + behind[i]);
		assert_stop(result.stop, RA_BAD);
		regs.r[KUW_RSP] = 0x1000;
		walk(IP(F_START * 0x100 + 0x40) + behind[i]);
		assert_stop(result.stop, STACK_FAULT);
		kuw_port_elsewhere = NULL;
	}
	/* Another function, and one that a call seems to have left there. */
	begin();
	memcpy(&stack[CODE], thunk, sizeof(thunk));
	stack[CODE] ^= 1;
	stack[0] = RA(F_START);
	walk(SP(CODE));
	expect(NO_TABLE, SP(CODE));
	stack[CODE] ^= 1;
	stack[0] = SP(CODE);
	stack[1] = RA(F_START);
	walk(RA(F_ESP));
	expect(UNPROVEN, RA(F_ESP), SP(CODE));
}

/*
 * Near the process's first word, the address behind a call of such a function is no caller's: it
 * has returned. That behind a call of any other function may be.
 */
static void test_called_pc_thunk(void **state)
{
	u32 i;

	begin();
	kuw_port_stack_first = SP(2);
	regs.r[KUW_RSP] = SP(2);
	memset(stack, 0, 24 * sizeof(stack[0]));
	memcpy(&stack[CODE], thunk, sizeof(thunk));
	/* call: its address ends 16 bytes behind the thunk. */
	memcpy((u8 *)&stack[CODE + 4] - 5, "\xe8\xf0\xff\xff\xff", 5);
	for (i = 3; i < 10; i++) {
		stack[i] = SP(CODE + 4);
		walk(SP(CODE + 30));
		expect(COMPLETE, SP(CODE + 30));
		stack[CODE] ^= 0x1000000;
		walk(SP(CODE + 30));
		expect(NO_TABLE, SP(CODE + 30));
		stack[CODE] ^= 0x1000000;
		stack[i] = 0;
	}
	kuw_port_stack_first = 0;
}

/* A fiber ends where ebx, esi and edi are null, too. i386 has no r14 and r15. */
static void test_null_ra(void **state)
{
	static const u8 zero[] = { KUW_RBX, KUW_RSI, KUW_RDI };
	u32 i;

	begin();
	/* Not aligned: no call has to be before it. */
	stack[0] = RA(F_ESP) + 1;
	stack[1] = 0;
	for (i = 0; i < ARRAY_SIZE(zero); i++)
		regs.r[zero[i]] = 0;
	regs.r[KUW_R14] = 1;
	regs.r[KUW_R15] = 1;
	walk(RA(F_ESP));
	expect(COMPLETE, RA(F_ESP), RA(F_ESP) + 1);
	stack[1] = RA(F_ESP) + 1;
	stack[2] = 0;
	walk(RA(F_ESP));
	expect(RA_BAD, RA(F_ESP), RA(F_ESP) + 1, RA(F_ESP) + 1);
	stack[1] = 0;
	for (i = 0; i < ARRAY_SIZE(zero); i++) {
		regs.r[zero[i]] = 1;
		walk(RA(F_ESP));
		expect(RA_BAD, RA(F_ESP), RA(F_ESP) + 1);
		regs.r[zero[i]] = 0;
	}
}

/* The code ahead is not followed: pop %ecx; ret. */
static void test_no_ahead(void **state)
{
	begin();
	memcpy(&stack[CODE], "\x59\xc3\x90\x90", 4);
	stack[0] = 7;
	stack[1] = SP(CODE + 10);
	memcpy((u8 *)&stack[CODE + 10] - 5, "\xe8\0\0\0\0", 5);
	walk(SP(CODE));
	expect(NO_TABLE, SP(CODE));
}

/* A file of the other kind is no code of the program: its rules are not applied. */
static void test_other_word(void **state)
{
	static struct host_cache cache;

	begin();
	stack[0] = RA(F_START);
	stack[1] = 0;
	regs.r[KUW_RBP] = 8;
	regs.ip = RA(F_ESP);
	kuw_walk(map, host_cache(&cache), &regs, frames, ARRAY_SIZE(frames), &result);
	expect(NO_TABLE, RA(F_ESP));
}

static void test_capacity(void **state)
{
	begin();
	stack[0] = RA(F_START);
	regs.ip = RA(F_ESP);
	kuw_walk_i386(map, &regs, frames, 0, &result);
	assert_int_equal(result.count, 0);
	assert_stop(result.stop, CAPACITY);
	kuw_walk_i386(map, &regs, frames, 1, &result);
	assert_int_equal(result.count, 1);
	assert_stop(result.stop, CAPACITY);
}

/* A file of this class and for this machine, or its first @cut bytes. */
static int load(u8 class, u16 machine, u32 cut)
{
	const struct elf_spec spec = { .eh_frame = &eh, .word = 4 };
	struct elf_layout layout;
	struct buf b = { 0 };
	int ret;

	host_table_free(&table);
	buf_free(&eh);
	add(&usual, 1, PROG(DW_CFA_def_cfa_offset, 12));
	build_elf(&b, &spec, &layout);
	b.bytes[EI_CLASS] = class;
	((Elf32_Ehdr *)b.bytes)->e_machine = machine;
	ret = host_load_bytes(&table, b.bytes, cut ? cut : b.len);
	buf_free(&b);
	return ret;
}

static void test_file(void **state)
{
	struct kuw_rules rules;
	u32 cut;

	drop(NULL);
	assert_int_equal(load(ELFCLASS32, EM_386, 0), 0);
	assert_int_equal(table.table->word, 4);
	assert_true(table.elf.eh_frame_exact);
	assert_int_equal(table.elf.eh_frame.vaddr, BUILD_EH);
	assert_int_equal(table.elf.nr_segments, 1);
	rules = synth_rules(&table, 0x100);
	assert_int_equal(rules.cfa.off, 12);
	assert_int_equal(rules.reg[KUW_RA].off, -4);
	/* x32, which nobody runs; ia64 in 32 bits; i386 in 64; no class. */
	assert_int_equal(load(ELFCLASS32, EM_X86_64, 0), -ENOEXEC);
	assert_int_equal(load(ELFCLASS32, EM_IA_64, 0), -ENOEXEC);
	assert_int_equal(load(ELFCLASS64, EM_386, 0), -ENOEXEC);
	assert_int_equal(load(ELFCLASSNONE, EM_386, 0), -ENOEXEC);
	for (cut = 1; cut < 0x2000; cut += cut < 0x100 ? 1 : 0x100)
		assert_true(load(ELFCLASS32, EM_386, cut) < 0);
}

/* The FDE of @start in an .eh_frame that lies at @vaddr: as signed distances of 32 bits. */
static u64 start_of(u64 start, u64 vaddr)
{
	struct kuw_section section = { .word = 4, .vaddr = vaddr };
	struct kuw_record record;
	struct kuw_cie cie;
	struct kuw_fde fde;
	u32 cie_at, fde_at;

	drop(NULL);
	cie_at = build_cie(&eh, &usual);
	/* It is built for BUILD_EH. */
	fde_at = build_fde(&eh, &usual, cie_at, start - vaddr + BUILD_EH, 0x100, NO_PROG);
	section.bytes = eh.bytes;
	section.len = eh.len;
	assert_int_equal(kuw_parse_cie(&section, cie_at, &cie), 0);
	assert_int_equal(kuw_read_record(&section, fde_at, &record), 1);
	assert_int_equal(kuw_parse_fde(&section, &record, &cie, &fde), 0);
	assert_int_equal(fde.len, 0x100);
	return fde.start;
}

static void test_distances(void **state)
{
	assert_int_equal(start_of(0x08048000, 0x080a0000), 0x08048000);
	/* Below the section by more than half of all addresses, and above it. */
	assert_int_equal(start_of(0xffffe000, 0x1000), 0xffffe000);
	assert_int_equal(start_of(0x1000, 0xffffe000), 0x1000);
}

#define TEST(name)	cmocka_unit_test_teardown(name, drop)

static const struct CMUnitTest tests[] = {
	TEST(test_numbers),
	TEST(test_set_loc),
	TEST(test_foreign),
	TEST(test_walk),
	TEST(test_plt),
	TEST(test_wide_registers),
	TEST(test_wraps),
	TEST(test_alignment),
	TEST(test_signal),
	TEST(test_restorer),
	TEST(test_rt_restorer),
	TEST(test_pc_thunk),
	TEST(test_called_pc_thunk),
	TEST(test_null_ra),
	TEST(test_no_ahead),
	TEST(test_other_word),
	TEST(test_capacity),
	TEST(test_file),
	TEST(test_distances),
};

TEST_MAIN(tests)
