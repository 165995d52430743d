/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * Every budget of core/: its name, its value, its reason. "Seen" is the largest
 * in 3,151 ELF files with .eh_frame of a Debian 12 machine unless said otherwise.
 */
#ifndef KUW_LIMITS_H
#define KUW_LIMITS_H

/* Program headers read; the kernel's own loader refuses more than 64 KiB. */
#define KUW_MAX_PHDRS		1170
/* Section headers read to find .eh_frame's size; seen: 52,000 in object files
 * built with -ffunction-sections, below 100 in anything that is mapped.
 */
#define KUW_MAX_SHDRS		4096
/* PT_LOAD segments of one file; seen: 11. */
#define KUW_MAX_SEGMENTS	64
/* Bytes of section names; seen: 600 in what is mapped. */
#define KUW_MAX_NAMES		65536
/* PT_NOTE segments searched for a build ID; seen: 2, and it in the second. */
#define KUW_MAX_NOTE_SEGMENTS	4
/* Bytes of each searched for a build ID; seen: 200. */
#define KUW_MAX_NOTES		4096
/* Bytes of .eh_frame; seen: 24 MB (chromium). The address span of one table
 * is 4 GiB at most, and so is what a 32-bit offset can name.
 */
#define KUW_MAX_EH_FRAME	(1u << 28)
/* FDEs of one file: a record has at least 16 bytes. */
#define KUW_MAX_FDES		(KUW_MAX_EH_FRAME / 16)
/* Rows of one file, and words that they are found in: what temporary buffers of 12 bytes
 * a row may cost.
 */
#define KUW_MAX_ROWS		(1u << 26)
/* Bytes of a CIE or FDE, which is looked at in one piece; seen: 60,768. */
#define KUW_MAX_RECORD		(1u << 18)
/* Nested DW_CFA_remember_state; seen: 1, and 5,000 in a test suite. */
#define KUW_MAX_STATES		8192
/* Distinct rules of one file; seen: 883 without callee-saved registers. */
#define KUW_MAX_RULES		65535
/* Of these, and of the registers' rules, how many are looked at to find one by its
 * hash, half of which is empty; seen: 26. Who made a file for it could have thousands
 * compared for each instruction.
 */
#define KUW_MAX_PROBES		256
/* Ways to begin a run of rows; seen: 6,000. They have 16 bits. */
#define KUW_MAX_RUN_NODES	65535
/* Of these, how many are looked at that have the same hash; seen: 7. */
#define KUW_MAX_RUN_TRIES	32
/* Bytes of the codes of one block, which the index counts in 16 bits; seen: 3,604. A row
 * for each byte of code, of which each has a rule of three bytes, would be more: such a
 * file has no table.
 */
#define KUW_MAX_ENTRIES		65535
/* Bytes of one DWARF expression; seen: 40. */
#define KUW_MAX_EXPR_BYTES	1024
/* Bytes of all distinct expressions of one file; seen: 400. */
#define KUW_MAX_EXPR_POOL	(1u << 20)
/* Expressions compared with a new one before it is stored once more; seen: 32. */
#define KUW_MAX_EXPR_SEARCH	64
/* Depth of the expression stack; seen: 5. */
#define KUW_EXPR_STACK		32
/* Expression operators in one walk; seen: 80. Bounds DW_OP_bra loops. */
#define KUW_MAX_EXPR_STEPS	4096
/* Frames of one walk that lead to a lower address: a signal's handler runs on an alternate
 * stack, a coroutine on its own, C code that OCaml 5 calls on another; and frames that
 * describe the red zone. Each may be left downwards once; seen: 2.
 */
#define KUW_MAX_STACK_SWITCHES	16
/* Reads of one walk, or piece of one, that fail and do not end it: each is a page fault of
 * up to a microsecond. A frame may save 15 registers where nothing is, and code whose page
 * is not there is looked at before one return address of 16: of a child just after fork()
 * those are 64 of 1,024 frames, of which the loop has tried each before. The frame that the
 * last one is of is finished.
 */
#define KUW_MAX_FAULTS		128
/* Frames of one walk, the innermost aside, that a signal interrupted: what is listed of
 * them has two bytes each. Seen: 2. A stack needs a kilobyte for each.
 */
#define KUW_MAX_INTERRUPTED	64
/* Bytes below the first word of a process's stack, and above it, in which the stack
 * pointer of its outermost frame may be, which aligns it and pushes a few words at most,
 * and of that frame's callee before main(); seen: 16 below it (ld.so for i386), and 32
 * (musl).
 */
#define KUW_START_BYTES		64
/* Instructions from a system call that makes a thread to where the child goes its own
 * way; seen: 7 (clone() for i386).
 */
#define KUW_CHILD_INSNS		8
/* Mappings with a table in one address space; seen: 300. vm.max_map_count is
 * 65,530 by default, and each entry costs 40 bytes.
 */
#define KUW_MAX_MAPPINGS	65536
/* Records and bytes of them that are looked at, FDEs that are sorted, and rows put in
 * order or encoded (and what was begun with them: an FDE, a block), between two returns
 * to the caller, who may want to reschedule or be killed: of a usual file well below a
 * millisecond.
 */
#define KUW_BATCH_FDES		256
#define KUW_BATCH_BYTES		(1u << 16)
#define KUW_BATCH_PAIRS		(1u << 16)
#define KUW_BATCH_ROWS		(1u << 16)

#endif /* KUW_LIMITS_H */
