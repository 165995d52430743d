// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * Compares core/arch/insn.c with objdump: how long is each instruction, and which register
 * leads to its operand in memory? See insn.test.
 */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "arch/insn.h"
#include "arch/x86_64.h"

/* Wrong ones to print. */
#define EXAMPLES 10

/* Return: how many bytes objdump's line has, in @bytes; 0 if it has no instruction. */
static u32 parse(const char *line, u8 bytes[32], const char **text)
{
	const char *at = strchr(line, ':');
	u32 n = 0;

	if (!at || at[1] != '\t')
		return 0;
	for (at += 2; n < 32 && isxdigit(at[0]) && isxdigit(at[1]) && at[2] == ' '; at += 3)
		bytes[n++] = (u8)strtoul((char[]){ at[0], at[1], 0 }, NULL, 16);
	*text = strchr(at, '\t');
	/* Data in the text, or fwait, which objdump counts to what follows it. */
	if (!*text || strstr(*text, "(bad)") || strstr(*text, ".byte") ||
	    bytes[0] == 0x9b)
		return 0;
	++*text;
	return n;
}

/* Return: the DWARF number of the register whose name has the @len bytes at @name. */
static u8 number_of(const char *name, size_t len)
{
	static const char *const names[] = {
		"rax", "rdx", "rcx", "rbx", "rsi", "rdi", "rbp", "rsp",
		"r8", "r9", "r10", "r11", "r12", "r13", "r14", "r15", "rip",
	};
	u8 i;

	for (i = 0; i < ARRAY_SIZE(names); i++)
		if (strlen(names[i]) == len && !memcmp(names[i], name, len))
			return i;
	return KUW_INSN_NO_REG;
}

/* Return: where DISP(%BASE,%INDEX,SCALE) has its parenthesis; %st(1) is no such operand. */
static const char *find_address(const char *text)
{
	const char *at = strchr(text, '(');

	while (at && at[1] != '%' && at[1] != ',')
		at = strchr(at + 1, '(');
	return at;
}

/* Return: whether the instruction's operand in memory is that of objdump's @text. */
static bool same_operand(const struct kuw_insn *insn, const char *text)
{
	char plain[512];
	const char *address, *name, *disp;
	u8 base = KUW_INSN_NO_REG;
	size_t len;

	/* Without what objdump adds: a name, or where %rip leads. */
	snprintf(plain, sizeof(plain), "%.*s", (int)strcspn(text, "#<\n"), text);
	address = find_address(plain);
	disp = strstr(plain, "%fs:0x");
	if (!address && disp)
		return insn->memory && insn->base == KUW_INSN_FS &&
		       (!insn->op || insn->disp == (s32)strtoull(disp + 4, NULL, 16));
	if (!address)
		return !insn->memory || insn->base == KUW_INSN_NO_REG;
	/* String instructions have no such operand. */
	if (strstr(plain, "%es:(") || strstr(plain, "%ds:("))
		return true;
	name = address + (address[1] == '%' ? 2 : 1);
	len = strcspn(name, ",)");
	/* A gather's index is a vector, which may have the number that means none. */
	if (strstr(name, "mm") && strstr(name, "mm") < strchr(name, ')'))
		return true;
	/* objdump calls an index that is none %riz. */
	if (!strstr(plain, "%fs:") && !strstr(plain, "%gs:") &&
	    (name[len] == ')' || !strncmp(name + len, ",%riz", 5)))
		base = number_of(name, len);
	for (disp = address; disp > plain && (isxdigit(disp[-1]) || strchr("-x", disp[-1])); disp--)
		;
	/* The distances of EVEX are in units of their operand, which nothing needs. */
	return insn->memory && insn->base == base &&
	       (base == KUW_INSN_NO_REG || !insn->op ||
		insn->disp == (s32)strtoull(disp, NULL, 16));
}

int main(void)
{
	unsigned long all = 0, wrong = 0, unknown = 0;
	char line[512];
	const char *text;
	struct kuw_insn insn;
	struct kuw_cur c;
	u8 bytes[32];
	u32 n;

	while (fgets(line, sizeof(line), stdin)) {
		memset(bytes, 0, sizeof(bytes));
		n = parse(line, bytes, &text);
		if (!n)
			continue;
		all++;
		/* More than the instruction has, as a walk reads. */
		c = kuw_cur(bytes, KUW_INSN_BYTES + 1);
		if (!kuw_insn_decode(&c, &insn)) {
			unknown++;
		} else if (kuw_pos(&c, bytes) != n) {
			if (wrong++ < EXAMPLES)
				printf("# %llu bytes, not %u: %s",
				       (unsigned long long)kuw_pos(&c, bytes), n, text);
		} else if (!same_operand(&insn, text)) {
			if (wrong++ < EXAMPLES)
				printf("# memory %u by register %u and %d: %s",
				       insn.memory, insn.base, insn.disp, text);
		}
	}
	printf("# %lu instructions, %lu unknown, %lu wrong\n", all, unknown, wrong);
	/* Unknown ones end a way: they must be few. */
	return wrong || !all || unknown * 500 > all;
}
