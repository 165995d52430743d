/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* Strings of others, each of which is kept once. */
#ifndef KR_POOL_H
#define KR_POOL_H

struct kr_pool;

struct kr_pool *kr_pool_new(void);
void kr_pool_free(struct kr_pool *pool);

/* Return: the pool's own copy. */
const char *kr_pool_add(struct kr_pool *pool, const char *string);

#endif /* KR_POOL_H */
