// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* A program that shows a long text on the terminal, page by page. */
#include <errno.h>
#include <fcntl.h>
#include <glib.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include "pager.h"
#include "safe.h"

/* Return: a command of the shell; NULL if there is none. */
static const char *command(void)
{
	const char *pager = getenv("PAGER");
	char *less;

	if (pager)
		return pager[0] && strcmp(pager, "cat") ? pager : NULL;
	less = g_find_program_in_path("less");
	g_free(less);
	return less ? "less" : NULL;
}

/* In place of a pager: all lines at once, and what a terminal would act on is escaped. */
static void show_safely(int text)
{
	FILE *from = fdopen(text, "r");
	GString *safe = g_string_new(NULL);
	char *line = NULL;
	size_t room = 0;

	while (from && getline(&line, &room, from) > 0) {
		line[strcspn(line, "\n")] = '\0';
		g_string_truncate(safe, 0);
		kr_safe_append(safe, line);
		puts(safe->str);
	}
	fflush(stdout);
	_exit(0);
}

/* @pager: NULL: this process is one */
static void become(const char *pager, int text)
{
	sigset_t none;

	/* It has Ctrl-C for itself. */
	signal(SIGINT, SIG_DFL);
	signal(SIGPIPE, SIG_DFL);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	if (!pager)
		show_safely(text);
	dup2(text, STDIN_FILENO);
	/* Colours are shown, and what fits on the screen needs no key. */
	setenv("LESS", "FRX", 0);
	execl("/bin/sh", "sh", "-c", pager, NULL);
	_exit(127);
}

bool kc_pager_begin(struct kc_pager *pager, const char **color, bool raw)
{
	const char *term = getenv("TERM");
	bool plain = getenv("NO_COLOR") || !term || !strcmp(term, "dumb");
	const char *name = command();
	int text[2];

	if (!isatty(STDOUT_FILENO) || (!name && !raw))
		return true;
	if (pipe2(text, O_CLOEXEC))
		return !raw;
	if (!name)
		*color = "never";
	else if (!*color || !strcmp(*color, "auto"))
		*color = plain ? "never" : "always";
	pager->pid = fork();
	if (!pager->pid) {
		close(text[1]);
		become(name, text[0]);
	}
	close(text[0]);
	if (pager->pid > 0) {
		pager->terminal = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
		dup2(text[1], STDOUT_FILENO);
	} else {
		pager->pid = 0;
	}
	close(text[1]);
	return pager->pid || !raw;
}

void kc_pager_end(struct kc_pager *pager)
{
	static const int of_terminals[] = { SIGINT, SIGQUIT };
	struct sigaction before[G_N_ELEMENTS(of_terminals)];
	const struct sigaction ignore = { .sa_handler = SIG_IGN };
	size_t i;

	if (!pager->pid)
		return;
	/* They are the pager's. It would share the terminal with the shell if they ended this. */
	for (i = 0; i < G_N_ELEMENTS(of_terminals); i++)
		sigaction(of_terminals[i], &ignore, &before[i]);
	dup2(pager->terminal, STDOUT_FILENO);
	close(pager->terminal);
	while (waitpid(pager->pid, NULL, 0) < 0 && errno == EINTR)
		;
	pager->pid = 0;
	for (i = 0; i < G_N_ELEMENTS(of_terminals); i++)
		sigaction(of_terminals[i], &before[i], NULL);
}
