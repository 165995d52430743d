/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* A profile as one page of HTML that needs nothing else. */
#ifndef KR_PAGE_H
#define KR_PAGE_H

#include "profile.h"

/* What a browser still opens at once, and what can be sent by mail. */
#define KR_PAGE_BYTES	1900000

/**
 * kr_page() - the page
 * @profile: what it shows. Frames, processes and events of so little weight that
 *	     they would make it larger than KR_PAGE_BYTES are drawn as one
 * @before: what it compares with; or NULL
 * @first: the weight that it shows first
 */
GString *kr_page(const struct kr_profile *profile, const struct kr_profile *before,
		 enum kr_weight first);

#endif /* KR_PAGE_H */
