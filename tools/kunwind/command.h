/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* What the parts of the command kunwind share. */
#ifndef KC_COMMAND_H
#define KC_COMMAND_H

#include <argp.h>
#include <signal.h>
#include <stdbool.h>

/* Exit statuses other than 0: that of a failure, and that of a wrong command line. */
#define KC_FAILED	1
#define KC_USAGE	2

/* The status of a shell's command that a signal ended. */
#define KC_SIGNALLED(number)	(128 + (number))

/* Each takes its arguments, with its name as the first, and returns a status. */
int kc_trace(int argc, char **argv);
int kc_profile(int argc, char **argv);
int kc_report(int argc, char **argv);
int kc_stop(int argc, char **argv);
int kc_stack(int argc, char **argv);
int kc_status(int argc, char **argv);
int kc_table(int argc, char **argv);

/**
 * kc_parse() - parse the arguments of a subcommand
 * @argp: what it takes; argp prints --help, and -h, and ends the program
 * @flags: of argp_parse()
 * @data: for the parser
 */
void kc_parse(const struct argp *argp, int argc, char **argv, unsigned int flags,
	      void *data);

/* End the program, as argp does, unless the argument of an option is one of a list. */
void kc_choose(struct argp_state *state, const char *option, const char *arg,
	       const char *const *list);

/* What --color takes. */
extern const char *const kc_colors[];

/* Print "kunwind: " and what is wrong, and, if not NULL, what to do next. */
void kc_error(const char *next, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* Print a warning, of a file whose path others chose. */
void kc_warn(const char *path, const char *what);

/* Return: whether the module is loaded; if not, that was said. */
bool kc_module_is_loaded(void);

/* Print a JSON value to stdout, in ASCII, and free it. Return: a status. */
struct json_t;
int kc_print_json(struct json_t *json);

/* A string of JSON: what is not UTF-8 in @text is replaced by U+FFFD. */
struct json_t *kc_json_text(const char *text);

/* Print what others chose: what a terminal would act on is escaped. */
void kc_put(const char *text);

#endif /* KC_COMMAND_H */
