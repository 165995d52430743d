/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* A profile for pprof, and for what ingests its format. */
#ifndef KR_PPROF_H
#define KR_PPROF_H

#include "profile.h"

/*
 * Return: the file, compressed. @profile: of locations, whose processes are "name [tid]"
 */
GString *kr_pprof(const struct kr_profile *profile);

#endif /* KR_PPROF_H */
