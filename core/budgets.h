/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * All budgets of core/: name, value, reason. "Seen" is the largest value in 3,151 ELF files
 * with .eh_frame on a Debian 12 machine, unless said otherwise.
 */
#ifndef KUW_BUDGETS_H
#define KUW_BUDGETS_H

/* Program headers read; the kernel's own loader refuses more than 64 KiB. */
#define KUW_MAX_PHDRS		1170
/* Section headers read to find .eh_frame's size; seen: 52,000 in object files
 * built with -ffunction-sections, below 100 in files that are mapped.
 */
#define KUW_MAX_SHDRS		4096
/* PT_LOAD segments of one file; seen: 11. */
#define KUW_MAX_SEGMENTS	64
/* Bytes of section names; seen: 600 in files that are mapped. */
#define KUW_MAX_NAMES		65536
/* PT_NOTE segments searched for a build ID; seen: 2, with the build ID in the second. */
#define KUW_MAX_NOTE_SEGMENTS	4
/* Bytes of each such segment that are searched; seen: 200. */
#define KUW_MAX_NOTES		4096
/* Bytes of .eh_frame; seen: 24 MB (chromium). What follows is left out, and counts as a damaged
 * record. A table can span 4 GiB of addresses, as offsets in it have 32 bits.
 */
#define KUW_MAX_EH_FRAME	(1u << 28)
/* Bytes of .gopclntab; seen: 4.4 MB (Go's compiler), half as many as its code. It is held in
 * memory as a whole, as .eh_frame is. The compilation of a table takes half as much again.
 */
#define KUW_MAX_GOPCLNTAB	(1u << 26)
/* Rows of one function in .gopclntab; seen: 1,083. */
#define KUW_MAX_PCSP		(1u << 16)
/* Rows of one file, and words of KUW_AREA_FOUND, of which an FDE has two at least. This bounds the
 * temporary buffers, which have 10 bytes a row, and twice as many where an area has just grown;
 * the index has 4 bytes for each 256 of the text.
 */
#define KUW_MAX_ROWS		(1u << 26)
/* Bytes of a CIE or FDE, which is parsed in one piece; seen: 60,768. */
#define KUW_MAX_RECORD		(1u << 17)
/* Bytes of CIEs that one compilation parses: one again, if others had its slot meanwhile;
 * seen: 34,176.
 */
#define KUW_MAX_CIE_BYTES	(1u << 26)
/* Nested DW_CFA_remember_state; seen: 1, and 5,000 in a test suite. */
#define KUW_MAX_STATES		8192
/* Distinct rules of one file; seen: 883 without callee-saved registers. */
#define KUW_MAX_RULES		65535
/* How many rules, or sets of registers' rules, are compared to find one in the hash, half
 * of which is empty; seen: 26. Without the limit, a hostile file could cause thousands of
 * comparisons for each instruction.
 */
#define KUW_MAX_PROBES		64
/* Rows in which the compiler looks for pairs: all of a small file, and FDEs from all over a large
 * one. Four times as many make tables smaller by 0.3 % of .eh_frame at most.
 */
#define KUW_SAMPLE_ROWS		(1u << 14)
/* How many sequences of rows are compared to find one of the sample; seen: 8. */
#define KUW_MAX_SEQUENCE_TRIES	16
/* Bytes of one DWARF expression; seen: 40. */
#define KUW_MAX_EXPR_BYTES	1024
/* Bytes of all distinct expressions of one file; seen: 400. */
#define KUW_MAX_EXPR_POOL	(1u << 20)
/* Expressions to compare with a new one before storing that, too; seen: 32. */
#define KUW_MAX_EXPR_SEARCH	64
/* Depth of the expression stack; seen: 5. */
#define KUW_EXPR_STACK		32
/* Expression operators in one walk; seen: 80. Bounds DW_OP_bra loops. */
#define KUW_MAX_EXPR_STEPS	4096
/* Frames of one walk whose caller is at a lower address; seen: 2. The walk leaves another
 * stack: that of a signal handler, of a coroutine, of C code that OCaml 5 or Erlang calls. It
 * does so once for each. Or the frame describes the red zone.
 */
#define KUW_MAX_STACK_SWITCHES	16
/* Reads of one walk, or of one piece, that fail without ending it, and searches for a uretprobe
 * that is not there. A read that fails is a page fault, which takes up to a microsecond. A frame
 * may save 15 registers on a missing page. The code before one return address in 16 is read, and
 * its page may be missing: in a child just after fork() with 1,024 frames, that is 64 reads, each
 * tried twice (by the loop, too). The frame that reaches the limit is still finished.
 */
#define KUW_MAX_FAULTS		128
/* A walk starts again if a rule needs a register that its loop has not followed. It does so only if
 * as many frames at most had a rule that the loop cannot apply: each may take 2,900 instructions
 * once more.
 */
#define KUW_MAX_REDONE		384
/* Frames of one walk that a signal interrupted, without the innermost; seen: 2. The list of
 * them takes two bytes each. Each takes a kilobyte of stack.
 */
#define KUW_MAX_INTERRUPTED	64
/* How many bytes below or above the first word of a process's stack the stack pointer of the
 * outermost frame may be, or that of its callee before main(). The outermost frame aligns it,
 * and pushes at most a few words. Seen: 16 below (ld.so for i386), and 32 (musl).
 */
#define KUW_START_BYTES		64
/* From the first word on, start code pops some, and that callee's return address is in their place.
 * How many words it can be, from the first one or the stack pointer; seen: the first (argc). The
 * vector of the kernel is longer. It has the program's entry point from the 25th word on
 * (AT_ENTRY), which a call may precede: 64 bytes and 16 words end before that on x86-64, not always
 * on i386.
 */
#define KUW_START_WORDS		16
/* Bytes from a process's first word to the end of its arguments and environment. The kernel allows
 * them 6 MiB, and has some more words there.
 */
#define KUW_MAX_ARGUMENTS	(1u << 23)
/* Instructions from a system call that makes a thread to the branch that only the child
 * takes; seen: 7 (clone() for i386).
 */
#define KUW_CHILD_INSNS		8
/* Instructions that a walk follows from an ip without a rule to the ret of its function: in one
 * frame, and in all frames of the walk, or of one piece.
 */
#define KUW_MAX_AHEAD		1024
#define KUW_MAX_INSNS		4096
/* In a frame of a JIT compiler's code, the words below the frame pointer that can be the return
 * address instead, and how far away such code calls. Each word counts as an instruction.
 */
#define KUW_MAX_LOCALS		32
#define KUW_JIT_REACH		(1ULL << 27)
/* Branches that the walk comes to on these ways, and those that it may still take. */
#define KUW_MAX_BRANCHES	96
#define KUW_MAX_WAYS		12
/* Executable mappings of one address space; seen: 300. vm.max_map_count is 65,530 by
 * default, and each entry costs 40 bytes.
 */
#define KUW_MAX_MAPPINGS	65536
/* How much the compiler does before its caller may reschedule or stop it: bytes of records, items
 * to sort, rows to put in order, buckets to index, bytes of the table to copy. An FDE or a function
 * counts as so many more, and so does a rule, a set of registers' rules, or an expression, that is
 * searched. In ranking the compiler pauses only to sort, and in filling the hash anew not at all.
 * For a usual file, that takes well below a millisecond; either takes 5 ms for 64,000 rules.
 */
#define KUW_BATCH		(1u << 16)
#define KUW_FDE_WORK		256
#define KUW_SEARCH_WORK		256

#endif /* KUW_BUDGETS_H */
