// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* Strings in JSON (RFC 8259, section 7). */
#include "json.h"

static gboolean is_plain(char c, gboolean in_html)
{
	return c >= ' ' && c <= '~' && c != '"' && c != '\\' &&
	       !(in_html && c == '<');
}

static void append(GString *to, const char *string, gboolean in_html)
{
	const char *next;
	gunichar c;

	g_string_append_c(to, '"');
	for (;; string = next) {
		/* Nearly all of nearly every string. */
		for (next = string; is_plain(*next, in_html); next++)
			;
		g_string_append_len(to, string, next - string);
		string = next++;
		if (!*string)
			break;
		if (*string == '"' || *string == '\\') {
			g_string_append_c(to, '\\');
			g_string_append_c(to, *string);
			continue;
		}
		if (!((unsigned char)*string & 0x80)) {
			g_string_append_printf(to, "\\u%04x", (unsigned int)*string);
			continue;
		}
		c = g_utf8_get_char_validated(string, -1);
		if (c == (gunichar)-1 || c == (gunichar)-2) {
			g_string_append(to, "\\ufffd");
			continue;
		}
		next = g_utf8_next_char(string);
		g_string_append_len(to, string, next - string);
	}
	g_string_append_c(to, '"');
}

void kr_json_append(GString *to, const char *string)
{
	append(to, string, FALSE);
}

void kr_json_append_in_html(GString *to, const char *string)
{
	append(to, string, TRUE);
}
