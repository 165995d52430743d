/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * What is mapped where: the address spaces of one trace, made from the events
 * kunwind_map, kunwind_unmap, kunwind_fork and kunwind_exit.
 */
#ifndef KR_TRACED_SPACE_H
#define KR_TRACED_SPACE_H

#include <stdbool.h>
#include <stdint.h>
#include "mappings.h"

struct kr_spaces;

struct kr_spaces *kr_spaces_new(void);
void kr_spaces_free(struct kr_spaces *spaces);

/* What was there goes. An empty or inverted range changes nothing. */
void kr_spaces_map(struct kr_spaces *spaces, uint64_t space,
		   const struct kr_mapping *mapping);
void kr_spaces_unmap(struct kr_spaces *spaces, uint64_t space, uint64_t start,
		     uint64_t end);

/* The same, but what was there stays. */
void kr_spaces_fill(struct kr_spaces *spaces, uint64_t space,
		    const struct kr_mapping *mapping);

/*
 * The child begins with its parent's mappings. What is known of it already stays. Only the
 * first fork of a child counts.
 */
void kr_spaces_fork(struct kr_spaces *spaces, uint64_t parent, uint64_t child);

/* The number will not come again. */
void kr_spaces_exit(struct kr_spaces *spaces, uint64_t space);

/*
 * Return: how many spaces were forgotten since this was asked, because the trace has too
 * many mappings: those that were used least recently.
 */
uint64_t kr_spaces_take_forgotten(struct kr_spaces *spaces);

/* Fill in what others know. @sure: nothing was lost meanwhile. */
void kr_spaces_add(struct kr_spaces *spaces, const struct kr_spaces *from, bool sure);

/* Whether all of a space has been told, be it before a loss. */
void kr_spaces_set_whole(struct kr_spaces *spaces, uint64_t space);
bool kr_spaces_whole(struct kr_spaces *spaces, uint64_t space);

/* Return: whether nothing was lost since, so that other addresses lie in no file. */
bool kr_spaces_whole_now(struct kr_spaces *spaces, uint64_t space);

/* Whether any mapping of a space has been told until now. */
bool kr_spaces_has(struct kr_spaces *spaces, uint64_t space);

/* Return: what is mapped at an address, until the next change; or NULL. */
const struct kr_mapping *kr_spaces_find(struct kr_spaces *spaces, uint64_t space,
					uint64_t address);

/* Events were lost: what was told until now may have changed. */
void kr_spaces_lose(struct kr_spaces *spaces);

/* Whether what is told from here on is sure: not while events are being lost. */
void kr_spaces_set_sure(struct kr_spaces *spaces, bool sure);

/* Return: whether a mapping that was found is there for sure. */
bool kr_spaces_are_sure(const struct kr_spaces *spaces, const struct kr_mapping *mapping);

/*
 * From here on, all that is mapped is told again. What is not told until
 * kr_spaces_drop_doubted() went unnoticed.
 */
void kr_spaces_doubt(struct kr_spaces *spaces);
void kr_spaces_drop_doubted(struct kr_spaces *spaces);

#endif /* KR_TRACED_SPACE_H */
