// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* kunwind: the command. Each subcommand is a file. */
#include <errno.h>
#include <fcntl.h>
#include <glib.h>
#include <jansson.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "command.h"
#include "safe.h"

#define MODULE_FOLDER	"/sys/kernel/kunwind"

static const struct {
	const char *name;
	int (*run)(int argc, char **argv);
	const char *does;
} commands[] = {
	{ "trace", kc_trace, "record system calls or events with their call stacks, then show them" },
	{ "profile", kc_profile, "sample what runs, and show which functions cost most" },
	{ "report", kc_report, "show a recorded trace again: as text, flame graph or timeline" },
	{ "stop", kc_stop, "end recordings whose kunwind trace was killed" },
	{ "stack", kc_stack, "print the stacks of running threads, without stopping them" },
	{ "status", kc_status, "say why there are no stacks, and what the kernel module does" },
	{ "table", kc_table, "show the unwind table of an ELF file, or its rules at an address" },
};

#define NR_COMMANDS	(sizeof(commands) / sizeof(commands[0]))

const char *const kc_colors[] = { "auto", "always", "never", NULL };

static void print_help(FILE *to)
{
	size_t i;

	fputs("Usage: kunwind COMMAND [OPTION...]\n"
	      "Record and show the user call stacks of any program. For example:\n\n"
	      "  kunwind trace -- ls -l /\n\n"
	      "Commands:\n", to);
	for (i = 0; i < NR_COMMANDS; i++)
		fprintf(to, "  %-8s %s\n", commands[i].name, commands[i].does);
	fputs("\n'kunwind COMMAND --help' lists the options of a command, "
	      "and 'man kunwind' explains them.\n", to);
}

/* argp has no -h of its own. */
static error_t parse_help(int key, char *arg, struct argp_state *state)
{
	(void)arg;
	if (key == ARGP_KEY_INIT)
		state->child_inputs[0] = state->input;
	else if (key == 'h')
		argp_state_help(state, stdout, ARGP_HELP_STD_HELP);
	else
		return ARGP_ERR_UNKNOWN;
	return 0;
}

void kc_parse(const struct argp *argp, int argc, char **argv, unsigned int flags,
	      void *data)
{
	static const struct argp_option help[] = {
		{ NULL, 'h', NULL, OPTION_HIDDEN, NULL, 0 },
		{ 0 },
	};
	const struct argp_child children[] = { { argp, 0, NULL, 0 }, { 0 } };
	const struct argp all = {
		.options = help, .parser = parse_help, .children = children,
	};
	char name[64];

	snprintf(name, sizeof(name), "kunwind %s", argv[0]);
	argv[0] = name;
	argp_err_exit_status = KC_USAGE;
	argp_parse(&all, argc, argv, flags, NULL, data);
}

void kc_choose(struct argp_state *state, const char *option, const char *arg,
	       const char *const *list)
{
	const char *const *one;
	char all[64] = "";

	for (one = list; *one; one++) {
		if (!strcmp(arg, *one))
			return;
		snprintf(all + strlen(all), sizeof(all) - strlen(all), "%s%s",
			 one == list ? "" : ", ", *one);
	}
	argp_error(state, "%s is one of: %s", option, all);
}

void kc_error(const char *next, const char *format, ...)
{
	GString *line = g_string_new("kunwind: ");
	g_autofree char *text = NULL;
	va_list args;

	va_start(args, format);
	text = g_strdup_vprintf(format, args);
	va_end(args);
	/* Others chose the names in it. */
	kr_safe_append(line, text);
	fprintf(stderr, "%s\n", line->str);
	g_string_free(line, TRUE);
	if (next)
		fprintf(stderr, "kunwind: %s\n", next);
}

void kc_warn(const char *path, const char *what)
{
	GString *line = g_string_new("kunwind: warning: ");

	kr_safe_append(line, path);
	fprintf(stderr, "%s: %s\n", line->str, what);
	g_string_free(line, TRUE);
}

bool kc_module_is_loaded(void)
{
	if (!access(MODULE_FOLDER, F_OK))
		return true;
	kc_error("load it: sudo modprobe kunwind ('kunwind status' says what is missing)",
		 "the kernel module kunwind is not loaded");
	return false;
}

int kc_print_json(json_t *json)
{
	int err = json_dumpf(json, stdout, JSON_INDENT(2) | JSON_ENSURE_ASCII);

	json_decref(json);
	if (err || putchar('\n') == EOF || fflush(stdout)) {
		kc_error(NULL, "stdout: %s", strerror(errno));
		return KC_FAILED;
	}
	return 0;
}

json_t *kc_json_text(const char *text)
{
	char *valid = g_utf8_make_valid(text, -1);
	json_t *json = json_string(valid);

	g_free(valid);
	return json;
}

void kc_put(const char *text)
{
	GString *safe = g_string_new(NULL);

	kr_safe_append(safe, text);
	fputs(safe->str, stdout);
	g_string_free(safe, TRUE);
}

/* Return: @status, or KC_FAILED if not all of the output could be written. */
static int written(int status)
{
	if (!fflush(stdout) && !ferror(stdout))
		return status;
	if (!status)
		kc_error(NULL, "stdout: %s", strerror(errno));
	return status ?: KC_FAILED;
}

static bool is(const char *word, const char *one, const char *other)
{
	return !strcmp(word, one) || !strcmp(word, other);
}

/*
 * The next file that is opened would get the number of a standard one that is closed, and so
 * what is printed. What is printed to a closed standard output fails. Return: success
 */
static bool fill_standard(void)
{
	static const int modes[] = { O_RDONLY, O_RDONLY, O_WRONLY };
	int fd;

	for (fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
		if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", modes[fd]) != fd)
			return false;
	return true;
}

int main(int argc, char **argv)
{
	static char help[] = "--help";
	size_t i;

	if (!fill_standard())
		return KC_FAILED;
	/* If it is ignored, as the parent may have set it, waitpid() has no status to give. */
	signal(SIGCHLD, SIG_DFL);
	if (argc < 2) {
		print_help(stderr);
		return KC_USAGE;
	}
	if (!strcmp(argv[1], "help") && argc == 3) {
		argv[1] = argv[2];
		argv[2] = help;
	}
	if (is(argv[1], "-h", "--help") || !strcmp(argv[1], "help")) {
		print_help(stdout);
		return written(0);
	}
	if (is(argv[1], "-V", "--version")) {
		puts("kunwind " PACKAGE_VERSION);
		return written(0);
	}
	for (i = 0; i < NR_COMMANDS; i++)
		if (!strcmp(argv[1], commands[i].name))
			return written(commands[i].run(argc - 1, argv + 1));
	kc_error("'kunwind --help' lists them", "there is no command '%s'", argv[1]);
	return KC_USAGE;
}
