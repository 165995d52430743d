// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* Strings that are safe to print. */
#include "safe.h"

static void append(GString *to, const char *string, gboolean quoted)
{
	const char *next;

	for (;; string = next) {
		gunichar c;

		/* Nearly all of nearly every string. */
		for (next = string; *next >= ' ' && *next <= '~' &&
		     !(quoted && (*next == '"' || *next == '\\'));)
			next++;
		g_string_append_len(to, string, next - string);
		string = next++;
		if (!*string)
			return;
		c = g_utf8_get_char_validated(string, -1);
		if (c == (gunichar)-1 || c == (gunichar)-2) {
			g_string_append_printf(to, "\\x%02x",
					       (unsigned char)*string);
			continue;
		}
		next = g_utf8_next_char(string);
		if (quoted && (c == '"' || c == '\\'))
			g_string_append_printf(to, "\\%c", (char)c);
		else if (quoted && c == '\n')
			g_string_append(to, "\\n");
		else if (quoted && c == '\t')
			g_string_append(to, "\\t");
		else if (c < 0x20 || c == 0x7f)
			g_string_append_printf(to, "\\x%02x", (unsigned int)c);
		else if (!g_unichar_isprint(c))
			g_string_append_printf(to, "\\u%04x", (unsigned int)c);
		else
			g_string_append_len(to, string, next - string);
	}
}

void kr_safe_append(GString *to, const char *string)
{
	append(to, string, FALSE);
}

void kr_safe_append_quoted(GString *to, const char *string)
{
	g_string_append_c(to, '"');
	append(to, string, TRUE);
	g_string_append_c(to, '"');
}
