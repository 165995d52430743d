/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* What walks need beside address maps: memos; see walk.c. */
#ifndef KW_WALKS_H
#define KW_WALKS_H

int kw_walks_open(void);
void kw_walks_close(void);

#endif /* KW_WALKS_H */
