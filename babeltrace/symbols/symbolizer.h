/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* The process that reads ELF files and their debug information; see keeper.h. */
#ifndef KR_SYMBOLIZER_H
#define KR_SYMBOLIZER_H

/* Answer a keeper until it ends. */
void kr_symbolizer_run(int keeper) __attribute__((noreturn));

#endif /* KR_SYMBOLIZER_H */
