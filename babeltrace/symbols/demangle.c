// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* Names as programmers wrote them, by libiberty's demanglers. */
#include <libiberty/demangle.h>
#include <setjmp.h>
#include <stdbool.h>
#include <string.h>
#include "demangle.h"
#include "reader_budgets.h"

/* A name that is put together. */
struct demangled {
	GString *text;
	jmp_buf too_long;
};

static void append(const char *piece, size_t length, void *data)
{
	struct demangled *d = data;

	/*
	 * The demangler has no other way to stop: a symbol of 250 characters keeps it
	 * busy for 10 s, and 10 more double that. It works on its stack. Only a name
	 * of Rust in Punycode (RFC 3492) leaves memory behind, 8 times its length at
	 * most.
	 */
	if (length > KR_DEMANGLED_BYTES - d->text->len)
		longjmp(d->too_long, 1);
	g_string_append_len(d->text, piece, length);
}

/* Return: whether it is a name of Rust or C++ of reasonable length. */
static bool demangle(const char *name, struct demangled *d)
{
	if (name[0] != '_' || (name[1] != 'Z' && name[1] != 'R') ||
	    strlen(name) > KR_DEMANGLED_BYTES || setjmp(d->too_long))
		return false;
	if (rust_demangle_callback(name, DMGL_PARAMS | DMGL_ANSI, append, d))
		return true;
	g_string_truncate(d->text, 0);
	return cplus_demangle_v3_callback(name, DMGL_PARAMS | DMGL_ANSI, append, d);
}

/* How long a symbol is without its version, as in memcpy@@GLIBC_2.14. Crystal has @ in names, too. */
static size_t plain_length(const char *name)
{
	static const char version[] = G_CSET_A_2_Z G_CSET_a_2_z G_CSET_DIGITS "_.-+~";
	const char *at = strchr(name, '@');
	const char *tail = at ? at + 1 + (at[1] == '@') : "";

	return *tail && at > name && !tail[strspn(tail, version)] ? (size_t)(at - name) :
								    strlen(name);
}

const char *kr_demangle(GStringChunk *strings, const char *name)
{
	char *plain = g_strndup(name, plain_length(name));
	struct demangled d = { .text = g_string_new(NULL) };

	name = g_string_chunk_insert_const(strings,
					   demangle(plain, &d) ? d.text->str : plain);
	g_string_free(d.text, TRUE);
	g_free(plain);
	return name;
}
