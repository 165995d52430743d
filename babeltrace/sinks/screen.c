// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* Lines of a text for people. */
#include <inttypes.h>
#include <string.h>
#include "screen.h"

double kr_percent(uint64_t part, uint64_t all)
{
	return all ? 100.0 * (double)part / (double)all : 0;
}

/* Three digits or more, in 10 columns. */
void kr_append_ns(GString *to, uint64_t ns)
{
	if (ns >= 1000000000)
		g_string_append_printf(to, "%8.3f s", (double)ns / 1e9);
	else if (ns >= 1000000)
		g_string_append_printf(to, "%7.3f ms", (double)ns / 1e6);
	else
		g_string_append_printf(to, "%7.3f us", (double)ns / 1e3);
}

void kr_append_cost(GString *to, enum kr_weight what, uint64_t cost)
{
	if (what == KR_NS)
		kr_append_ns(to, cost);
	else
		g_string_append_printf(to, "%10" PRIu64, cost);
}

/* Two lines are above it, and what a shell and others say is below. */
unsigned int kr_screen_fit(const struct kr_screen *screen, unsigned int n)
{
	if (!screen->rows || n <= 1 || n + 5 <= screen->rows)
		return n;
	/* One more line says that there are more. */
	return MAX(screen->rows, 7) - 6;
}

/* Append a line, of which no more than fits is shown. */
void kr_screen_line(GString *to, const struct kr_screen *screen, const char *line)
{
	const char *at = line;
	unsigned int n = 0;

	while (*at && screen->columns) {
		/* What gives colours takes no room. */
		if (*at == '\033') {
			at += strcspn(at, "m") + 1;
			continue;
		}
		if (++n > screen->columns)
			break;
		at = g_utf8_next_char(at);
	}
	if (!screen->columns || !*at)
		g_string_append_printf(to, "%s\n", line);
	else
		g_string_append_printf(to, "%.*s%s\n", (int)(at - line), line,
				       screen->colors->off);
}

/* Append the first part of a name: a function, a process or an event. */
void kr_append_first(GString *to, const char *name)
{
	g_string_append_len(to, name, strchr(name, KR_PART) - name);
}

/* Append a frame's function and module, as the text of a stack has them. */
void kr_append_function(GString *to, const struct kr_screen *screen, const char *name)
{
	static const struct {
		const char *suffix;
		const char *mark;
	} sorts[] = {
		{ "_[guessed]", "  [guessed]" }, { "_[k]", "  [kernel]" },
		{ "_[i]", "  (inlined)" },
	};
	const struct kr_colors *colors = screen->colors;
	const char *module = strchr(name, KR_PART) + 1;
	char *function = g_strndup(name, module - 1 - name);
	const char *marks[G_N_ELEMENTS(sorts)] = { 0 };
	size_t i;

	for (i = 0; i < G_N_ELEMENTS(sorts); i++)
		if (g_str_has_suffix(function, sorts[i].suffix)) {
			function[strlen(function) - strlen(sorts[i].suffix)] = '\0';
			marks[i] = sorts[i].mark;
		}
	g_string_append_printf(to, "%s%s%s", colors->function, function, colors->off);
	if (module[0] && !kr_names_module(function, module))
		g_string_append_printf(to, "  %s%s%s", colors->module, module,
				       colors->off);
	for (i = 0; i < G_N_ELEMENTS(sorts); i++)
		g_string_append(to, marks[i] ?: "");
	g_free(function);
}
