// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * kunwind status: why there are no stacks, and /sys/kernel/kunwind, for people;
 * Documentation/statistics.md.
 */
#include <dirent.h>
#include <glib.h>
#include <inttypes.h>
#include <jansson.h>
#include <libkunwind.h>
#include <stdio.h>
#include <string.h>
#include "checks.h"
#include "command.h"

#define FOLDER	"/sys/kernel/kunwind"

static const struct {
	const char *file;
	const char *what;
	bool bytes;
} figures[] = {
	{ "consumers", "consumers", false },
	{ "spaces", "address spaces covered", false },
	{ "maps", "address maps", false },
	{ "tables", "tables", false },
	{ "table_bytes", "memory of tables", true },
	{ "build_bytes", "memory of compilations", true },
	{ "pending", "tasks that catch up", false },
	{ "table_builds", "tables compiled", false },
	{ "table_failures", "files without a table", false },
	{ "table_refusals", "refused by a budget", false },
	{ "table_evictions", "tables evicted", false },
	{ "allocation_failures", "allocations failed", false },
	{ "walks", "stacks walked", false },
};

/* Where the machine's files are: the argument of --sysroot. */
static const char *root = "";

static bool read_number(const char *file, uint64_t *value)
{
	g_autofree char *path = g_strconcat(FOLDER "/", file, NULL);
	g_autofree char *text = kc_read(root, path);

	return text && sscanf(text, "%" SCNu64, value) == 1;
}

/* The function that the module cannot hook in this kernel. Return: NULL if there is none. */
static char *read_missing(void)
{
	char *function = kc_read(root, FOLDER "/missing");

	if (function && *function)
		return function;
	g_free(function);
	return NULL;
}

static void print_bytes(uint64_t bytes)
{
	if (bytes < 1 << 20)
		printf("%.1f KiB\n", bytes / 1024.0);
	else
		printf("%.1f MiB\n", bytes / 1048576.0);
}

static void print_check(const struct kc_check *check)
{
	/* With --sysroot it is what files of another machine say. */
	printf("%-24s ", check->what);
	kc_put(check->found);
	putchar('\n');
	if (!check->todo)
		return;
	printf("%24s ", "->");
	kc_put(check->todo);
	putchar('\n');
}

static void print_figure(const char *file, const char *what, bool bytes, uint64_t value)
{
	printf("%-24s ", what);
	if (bytes)
		print_bytes(value);
	else
		printf("%" PRIu64 "\n", value);
	if (!value)
		return;
	if (!strcmp(file, "table_failures"))
		printf("%24s kunwind table FILE    # says what is wrong with a file\n", "->");
	if (!strcmp(file, "table_refusals"))
		printf("%24s modinfo kunwind    # table_budget_mb and build_budget_mb allow more\n",
		       "->");
}

static void print_stops(uint64_t walks)
{
	char file[64];
	uint64_t value;
	uint32_t stop;

	for (stop = 0; stop < KUNWIND_NR_STOPS; stop++) {
		snprintf(file, sizeof(file), "stops/%s", kunwind_stop_name(stop));
		if (read_number(file, &value) && value)
			printf("  %-22s %" PRIu64 " (%.1f %%): %s\n",
			       kunwind_stop_name(stop), value,
			       walks ? 100.0 * value / walks : 0.0,
			       kunwind_stop_text(stop));
	}
}

static void print_text(const GPtrArray *checks)
{
	g_autofree char *missing = read_missing();
	uint64_t value, walks = 0;
	size_t i;

	for (i = 0; i < checks->len; i++)
		print_check(checks->pdata[i]);
	if (missing) {
		printf("%-24s ", "this kernel has no");
		kc_put(missing);
		puts("(), so code that mremap() makes longer is covered late");
	}
	if (!kc_is_loaded(root, "kunwind"))
		return;
	if (!read_number("consumers", &value))
		printf("%-24s only root can read them (sudo kunwind status)\n",
		       "figures");
	for (i = 0; i < sizeof(figures) / sizeof(figures[0]); i++) {
		if (!read_number(figures[i].file, &value))
			continue;
		print_figure(figures[i].file, figures[i].what, figures[i].bytes, value);
		if (!strcmp(figures[i].file, "walks"))
			walks = value;
	}
	print_stops(walks);
}

static void add_numbers(json_t *to, const char *below)
{
	g_autofree char *path = g_strconcat(root, FOLDER "/", below, NULL);
	struct dirent *entry;
	uint64_t value;
	DIR *dir;

	dir = opendir(path);
	while (dir && (entry = readdir(dir))) {
		g_autofree char *file = g_strconcat(below, entry->d_name, NULL);

		/* Folders have no number. Some file systems do not tell here what is one. */
		if (read_number(file, &value))
			json_object_set_new(to, entry->d_name,
					    json_integer((json_int_t)value));
	}
	if (dir)
		closedir(dir);
}

static json_t *json_of(const struct kc_check *check)
{
	json_t *json = json_object();

	json_object_set_new(json, "what", kc_json_text(check->what));
	json_object_set_new(json, "found", kc_json_text(check->found));
	json_object_set_new(json, "todo", kc_json_text(check->todo ?: ""));
	return json;
}

static int print_json(const GPtrArray *checks)
{
	json_t *json = json_object(), *stops = json_object(), *list = json_array();
	g_autofree char *missing = read_missing();
	g_autofree char *kernel = kc_read(root, "/proc/sys/kernel/osrelease");
	size_t i;

	for (i = 0; i < checks->len; i++)
		json_array_append_new(list, json_of(checks->pdata[i]));
	json_object_set_new(json, "kernel", kc_json_text(kernel ?: ""));
	json_object_set_new(json, "checks", list);
	json_object_set_new(json, "kunwind", json_boolean(kc_is_loaded(root, "kunwind")));
	json_object_set_new(json, "kunwind_lttng",
			    json_boolean(kc_is_loaded(root, "kunwind_lttng")));
	json_object_set_new(json, "kunwind_tracing",
			    json_boolean(kc_is_loaded(root, "kunwind_tracing")));
	json_object_set_new(json, "missing", kc_json_text(missing ?: ""));
	add_numbers(json, "");
	add_numbers(stops, "stops/");
	json_object_set_new(json, "stops", stops);
	return kc_print_json(json);
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	bool *json = state->input;

	switch (key) {
	case 'j':
		*json = true;
		return 0;
	case 's':
		root = arg;
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

int kc_status(int argc, char **argv)
{
	static const struct argp_option takes[] = {
		{ "json", 'j', NULL, 0, "Print JSON", 0 },
		{ "sysroot", 's', "DIR", 0, "Look at the files of another machine", 0 },
		{ 0 },
	};
	const struct argp argp = {
		.options = takes, .parser = parse,
		.doc = "Say why there are no stacks: which modules are loaded and why not, who "
		       "uses them, and what LTTng and perf lack. Lines with -> say what to do. "
		       "Root also sees tables, memory, and why walks ended."
		       "\v/sys/kernel/kunwind has one file for each figure.",
	};
	g_autoptr(GPtrArray) checks = NULL;
	bool json = false;
	int status = 0;

	kc_parse(&argp, argc, argv, 0, &json);
	checks = kc_checks(root);
	if (json)
		status = print_json(checks);
	else
		print_text(checks);
	return kc_is_loaded(root, "kunwind") ? status : KC_FAILED;
}
