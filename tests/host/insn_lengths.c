// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* Compares core/arch/insn.c with objdump: how long is each instruction? See insn.test. */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "arch/insn.h"

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
		}
	}
	printf("# %lu instructions, %lu unknown, %lu wrong\n", all, unknown, wrong);
	/* Unknown ones end a way: they must be few. */
	return wrong || !all || unknown * 500 > all;
}
