// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* The decoder, with bytes from an assembler's listing. */
#include "../tap.h"
#include "insn.h"

struct insn_case {
	const char *text;
	u8 bytes[INSN_MAX_BYTES];
	u8 kind;
	u8 len;
};

static const struct insn_case cases[] = {
	{ "call rel32", { 0xe8, 1, 2, 3, 4 }, INSN_CALL, 5 },
	{ "bnd call rel32", { 0xf2, 0xe8, 1, 2, 3, 4 }, INSN_CALL, 6 },
	{ "data16 data16 rex.W call __tls_get_addr@PLT",
	  { 0x66, 0x66, 0x48, 0xe8, 1, 2, 3, 4 }, INSN_CALL, 8 },
	{ "call *%rax", { 0xff, 0xd0 }, INSN_CALL, 2 },
	{ "call *%r12", { 0x41, 0xff, 0xd4 }, INSN_CALL, 3 },
	{ "notrack call *%rcx", { 0x3e, 0xff, 0xd1 }, INSN_CALL, 3 },
	{ "call *(%rax)", { 0xff, 0x10 }, INSN_CALL, 2 },
	{ "call *8(%rax)", { 0xff, 0x50, 8 }, INSN_CALL, 3 },
	{ "call *0x100(%rbx)", { 0xff, 0x93, 0, 1, 0, 0 }, INSN_CALL, 6 },
	{ "call *x(%rip)", { 0xff, 0x15, 1, 2, 3, 4 }, INSN_CALL, 6 },
	{ "call *(%rsp)", { 0xff, 0x14, 0x24 }, INSN_CALL, 3 },
	{ "call *(%r14,%rax,8)", { 0x41, 0xff, 0x14, 0xc6 }, INSN_CALL, 4 },
	{ "call *0x10(%rsp)", { 0xff, 0x54, 0x24, 0x10 }, INSN_CALL, 4 },
	{ "call *x(,%rax,8)", { 0xff, 0x14, 0xc5, 1, 2, 3, 4 }, INSN_CALL, 7 },
	{ "jmp *%rax", { 0xff, 0xe0 }, INSN_OTHER, 0 },
	{ "push x(%rip)", { 0xff, 0x35, 1, 2, 3, 4 }, INSN_OTHER, 0 },
	{ "jmp rel32", { 0xe9, 1, 2, 3, 4 }, INSN_OTHER, 0 },
	{ "ret", { 0xc3 }, INSN_RET, 0 },
	{ "repz ret", { 0xf3, 0xc3 }, INSN_RET, 0 },
	{ "ret $16", { 0xc2, 16, 0 }, INSN_RET, 0 },
	{ "syscall", { 0x0f, 0x05 }, INSN_SYSCALL, 0 },
	{ "endbr64", { 0xf3, 0x0f, 0x1e, 0xfa }, INSN_OTHER, 0 },
	{ "pop %rdi", { 0x5f }, INSN_POP, 0 },
	{ "pop %r15", { 0x41, 0x5f }, INSN_POP, 0 },
	{ "pop 0xd8(%r14)", { 0x41, 0x8f, 0x86, 0xd8, 0, 0, 0 }, INSN_POP, 0 },
	{ "push %rdi", { 0x57 }, INSN_OTHER, 0 },
	{ "mov %r8,%rsp", { 0x4c, 0x89, 0xc4 }, INSN_OTHER, 0 },
	{ "int $0x80", { 0xcd, 0x80 }, INSN_OTHER, 0 },
};

static const struct insn_case i386_cases[] = {
	{ "int $0x80", { 0xcd, 0x80 }, INSN_SYSCALL, 0 },
	{ "sysenter", { 0x0f, 0x34 }, INSN_SYSCALL, 0 },
	{ "inc %ecx; call *%esp", { 0x41, 0xff, 0xd4 }, INSN_OTHER, 0 },
	{ "call *x", { 0xff, 0x15, 1, 2, 3, 4 }, INSN_CALL, 6 },
};

static void check(const struct insn_case *c, u32 n, u32 word)
{
	struct insn insn;
	u32 i;

	for (i = 0; i < n; i++) {
		insn = insn_decode(c[i].bytes, INSN_MAX_BYTES, word);
		tap_ok(insn.kind == c[i].kind && insn.len == c[i].len,
		       "%s%s", word == 4 ? "i386: " : "", c[i].text);
	}
}

int main(void)
{
	struct insn insn;

	check(cases, ARRAY_SIZE(cases), 8);
	check(i386_cases, ARRAY_SIZE(i386_cases), 4);
	insn = insn_decode(cases[0].bytes, 0, 8);
	tap_ok(insn.kind == INSN_OTHER, "no bytes");
	return tap_done();
}
