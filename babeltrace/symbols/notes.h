/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * What is missing from the answer, said once: things are noted as they are met,
 * and the end of the trace prints a line for each kind.
 */
#ifndef KR_NOTES_H
#define KR_NOTES_H

#include <stdint.h>

/* Of each kind: what the line says, with the number of them. */
enum kr_note {
	KR_NO_MAPS,
	KR_NO_SPACE,
	KR_UNTOLD,
	KR_DOUBTED,
	KR_LOST,
	KR_LOST_PACKETS,
	KR_NO_FILE,
	KR_OTHER_FILE,
	KR_UNREADABLE,
	KR_NO_DESCRIPTOR,
	KR_UNPROVEN,
	KR_UNCHECKED,
	KR_NO_ANSWER,
	KR_STOPPED,
	KR_FORGOTTEN,
	KR_JIT_LARGE,
	KR_NO_SYMBOLS,
	KR_NO_KALLSYMS,
	KR_NR_NOTES
};

struct kr_notes;

struct kr_notes *kr_notes_new(void);
void kr_notes_free(struct kr_notes *notes);

/* @what: the file, or NULL. The first ones are named. */
void kr_note(struct kr_notes *notes, enum kr_note kind, const char *what);
void kr_note_many(struct kr_notes *notes, enum kr_note kind, uint64_t count);

/* It is said otherwise. */
void kr_notes_forget(struct kr_notes *notes, enum kr_note kind);

/* Print what was noted to stderr, and forget it. @sysroot, @parent: as for kr_modules_new() */
void kr_notes_say(struct kr_notes *notes, const char *sysroot, int parent);

#endif /* KR_NOTES_H */
