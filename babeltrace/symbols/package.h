/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* Which package of Debian a file is of, and which one has its symbols. */
#ifndef KR_PACKAGE_H
#define KR_PACKAGE_H

#include <glib.h>

/**
 * kr_packages_of_symbols() - what to install for the names of functions
 * @sysroot: where the files are, or NULL for this machine
 * @paths: the keys are files, as processes saw them
 *
 * Return: sorted names of packages, for g_ptr_array_unref(); none if dpkg knows none, or is not
 * asked because of a sysroot.
 */
GPtrArray *kr_packages_of_symbols(const char *sysroot, GHashTable *paths);

#endif /* KR_PACKAGE_H */
