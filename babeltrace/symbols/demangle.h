/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* Names of C++ and Rust. */
#ifndef KR_DEMANGLE_H
#define KR_DEMANGLE_H

#include <glib.h>

/**
 * kr_demangle() - a name as its programmer wrote it
 * @strings: where names are kept
 * @name: of a symbol, with or without a version
 *
 * Return: the name in @strings, without the version; @name's own if it is no name of C++ or Rust.
 */
const char *kr_demangle(GStringChunk *strings, const char *name);

#endif /* KR_DEMANGLE_H */
