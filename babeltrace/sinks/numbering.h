/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* Numbers for strings, and for pairs of numbers: each is kept once. */
#ifndef KR_NUMBERING_H
#define KR_NUMBERING_H

#include <stdint.h>

struct kr_strings;

struct kr_strings *kr_strings_new(void);
void kr_strings_free(struct kr_strings *strings);

/* Return: the number of a string; the first is 0. */
uint32_t kr_strings_add(struct kr_strings *strings, const char *string);
const char *kr_strings_get(const struct kr_strings *strings, uint32_t number);
uint32_t kr_strings_count(const struct kr_strings *strings);

struct kr_pair {
	uint32_t a;
	uint32_t b;
};

struct kr_pairs;

struct kr_pairs *kr_pairs_new(void);
void kr_pairs_free(struct kr_pairs *pairs);

/* Return: the number of a pair; the first is 0. */
uint32_t kr_pairs_add(struct kr_pairs *pairs, uint32_t a, uint32_t b);
struct kr_pair kr_pairs_get(const struct kr_pairs *pairs, uint32_t number);
uint32_t kr_pairs_count(const struct kr_pairs *pairs);

#endif /* KR_NUMBERING_H */
