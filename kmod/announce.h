/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* The trace events that announce a new snapshot of a space. */
#ifndef KW_ANNOUNCE_H
#define KW_ANNOUNCE_H

struct kw_basis;
struct kw_snapshot;
struct kw_space;

void kw_announce_maps(struct kw_space *space, const struct kw_basis *known,
		      const struct kw_basis *now);
void kw_announce_unmaps(const struct kw_space *space, const struct kw_snapshot *old,
			const struct kw_snapshot *snap);

#endif /* KW_ANNOUNCE_H */
