/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* Strings in JSON. */
#ifndef KR_JSON_H
#define KR_JSON_H

#include <glib.h>

/* Append a string between double quotes. What is not UTF-8 becomes U+FFFD. */
void kr_json_append(GString *to, const char *string);

/* The same, with "<" escaped: it can stand in a <script> of HTML. */
void kr_json_append_in_html(GString *to, const char *string);

#endif /* KR_JSON_H */
