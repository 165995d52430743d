// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * Tables and stacks that name kernel memory. Each function below asks for its own
 * stack with such an address in r8, and with a rule that makes the walk go there.
 */
#include <linux/kunwind.h>
#include <stdio.h>
#include <unistd.h>
#include "hostile.h"

/* TASK_SIZE_MAX with five levels of page tables. */
#define USER_END	0xfffffffffff000ULL

/*
 * A function with a rule, and with what is done before and after the system call, which
 * is ioctl().
 */
#define ATTACK(name, rule, before, after)	\
	asm(".pushsection .text\n"		\
	    ".type " #name ", @function\n"	\
	    #name ": .cfi_startproc\n"		\
	    rule "\n"				\
	    before "\n"				\
	    "mov $16, %eax\n"			\
	    "syscall\n"				\
	    after "\n"				\
	    "ret\n"				\
	    ".cfi_endproc\n"			\
	    ".size " #name ", . - " #name "\n"	\
	    ".popsection")

/*
 * Makes of any word an address of a program, which the walk shows: DW_OP_const4u
 * 0x7fffffff; DW_OP_and; DW_OP_lit1; DW_OP_or
 */
#define TO_USER ", 0x0c, 0xff, 0xff, 0xff, 0x7f, 0x1a, 0x31, 0x21"

/* The word at the stack pointer is taken for the return address. */
ask_function ra_pushed;
ATTACK(ra_pushed, "", "push %r8", "pop %r8");

/* DW_CFA_val_expression of the return address: DW_OP_breg8 0 */
ask_function ra_value;
ATTACK(ra_value, ".cfi_escape 0x16, 16, 2, 0x78, 0", "", "");

/* DW_CFA_expression of it: DW_OP_breg8 0 */
ask_function ra_saved;
ATTACK(ra_saved, ".cfi_escape 0x10, 16, 2, 0x78, 0", "", "");

/* DW_OP_breg8 0; DW_OP_deref */
ask_function ra_masked;
ATTACK(ra_masked, ".cfi_escape 0x16, 16, 11, 0x78, 0, 0x06" TO_USER, "", "");

/* DW_OP_breg8 0; DW_OP_deref_size 4; DW_OP_lit1; DW_OP_or */
ask_function ra_half;
ATTACK(ra_half, ".cfi_escape 0x16, 16, 6, 0x78, 0, 0x94, 4, 0x31, 0x21", "", "");

ask_function cfa_register;
ATTACK(cfa_register, ".cfi_def_cfa r8, 8", "", "");

/* DW_CFA_def_cfa_expression: DW_OP_breg8 0; DW_OP_deref */
ask_function cfa_saved;
ATTACK(cfa_saved, ".cfi_escape 0x0f, 3, 0x78, 0, 0x06", "", "");

/* The rule of most functions with a frame pointer. */
#define RBP_RULE ".cfi_def_cfa rbp, 16\n.cfi_offset rbp, -16"
ask_function cfa_rbp;
ATTACK(cfa_rbp, RBP_RULE, "push %rbp\nmov %r8, %rbp", "pop %rbp");

/* DW_CFA_val_expression of the stack pointer: the caller's frame is there. */
ask_function sp_value;
ATTACK(sp_value, ".cfi_escape 0x16, 7, 2, 0x78, 0", "", "");

/* DW_CFA_expression of rbx, of which its caller makes a return address: DW_OP_breg3 0 */
ATTACK(rbx_saved, ".cfi_escape 0x10, 3, 2, 0x78, 0", "", "");
ask_function through_rbx;
asm(".pushsection .text\n"
	".type through_rbx, @function\n"
	"through_rbx: .cfi_startproc\n"
	".cfi_escape 0x16, 16, 10, 0x73, 0" TO_USER "\n"
	"call rbx_saved\n"
	"ret\n"
	".cfi_endproc\n"
	".size through_rbx, . - through_rbx\n"
	".popsection");

static const struct {
	const char *name;
	ask_function *ask;
	uint32_t count;
	uint32_t stop;
} attacks[] = {
	{ "a return address", ra_pushed, 1, KUNWIND_STOP_RA_BAD },
	{ "the value of a return address", ra_value, 1, KUNWIND_STOP_RA_BAD },
	{ "where a return address is", ra_saved, 1, KUNWIND_STOP_STACK_FAULT },
	{ "a word that a return address is made of", ra_masked, 1, KUNWIND_STOP_STACK_FAULT },
	{ "half a word that one is made of", ra_half, 1, KUNWIND_STOP_STACK_FAULT },
	{ "a CFA in a register", cfa_register, 1, KUNWIND_STOP_STACK_FAULT },
	{ "where a CFA is", cfa_saved, 1, KUNWIND_STOP_STACK_FAULT },
	{ "a frame pointer", cfa_rbp, 1, KUNWIND_STOP_STACK_FAULT },
	{ "a stack pointer", sp_value, 2, KUNWIND_STOP_STACK_FAULT },
	{ "where rbx is", through_rbx, 2, KUNWIND_STOP_REG_UNKNOWN },
};

static const uint64_t addresses[] = {
	/* The IDT, which is there, whatever is randomized (CPU_ENTRY_AREA_RO_IDT). */
	0xfffffe0000000000,
	0xffffffff81000000,
	0xffff888000000000,
	/* The vsyscall page. */
	0xffffffffff600000,
	/* Behind user space, where no address is canonical. */
	USER_END,
	0x0100000000000000,
	0x8000000000000000,
	0xfffffffffffff000,
};

static void print(int i, uint64_t address, const struct answer *a)
{
	uint32_t frame;

	printf("%#llx as %s: error %d, %u frames, stop %s\n", (unsigned long long)address,
	       attacks[i].name, a->error, a->count, stop_name(a->stop));
	for (frame = 0; frame < a->count && frame < 64; frame++)
		printf("  %#llx\n", (unsigned long long)a->frames[frame]);
}

static int attack(int device, int i, uint64_t address)
{
	struct answer a;
	uint32_t frame;
	int wrong;

	ask_by(attacks[i].ask, device, address, &a);
	wrong = a.error || a.count != attacks[i].count || a.stop != attacks[i].stop;
	for (frame = 0; frame < a.count && frame < 64; frame++)
		wrong |= a.frames[frame] >= USER_END;
	if (wrong)
		print(i, address, &a);
	return wrong;
}

/* The same of the program's own memory: there, the walk goes on and shows what it read. */
static int look(int device, int i)
{
	uint64_t words[64];
	struct answer a;
	int j;

	for (j = 0; j < 64; j++)
		words[j] = (uintptr_t)&words[32];
	ask_by(attacks[i].ask, device, (uintptr_t)words, &a);
	if (!a.error && a.count > attacks[i].count)
		return 0;
	print(i, (uintptr_t)words, &a);
	return 1;
}

int kernel_addresses(struct image *image)
{
	int device = device_open(), wrong = 0;
	size_t i, j;

	(void)image;
	for (i = 0; i < sizeof(attacks) / sizeof(attacks[0]); i++) {
		wrong |= look(device, i);
		for (j = 0; j < sizeof(addresses) / sizeof(addresses[0]); j++)
			wrong |= attack(device, i, addresses[j]);
	}
	close(device);
	return wrong;
}
