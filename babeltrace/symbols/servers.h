/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * Files of debuginfod's servers, which DEBUGINFOD_URLS names. A trace can name as many files as it
 * likes, and a server can accept a question and never answer it. So all questions have a budget of
 * time, the first one without an answer ends them, and Ctrl-C ends one.
 */
#ifndef KR_SERVERS_H
#define KR_SERVERS_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/**
 * struct kr_servers - what they may still be asked
 * @stop: set when no answer is wanted any more
 * @waited_us: how long all answers took
 * @given_up: they are asked no more
 */
struct kr_servers {
	const volatile sig_atomic_t *stop;
	int64_t waited_us;
	bool given_up;
};

/**
 * kr_servers_ask() - get a file
 * @servers: the servers
 * @id: its build ID
 * @length: of that, in bytes; 0: it has none
 * @debug: its debug information, not the file itself
 *
 * Return: a file descriptor, or -1.
 */
int kr_servers_ask(struct kr_servers *servers, const uint8_t *id, size_t length, bool debug);

#endif /* KR_SERVERS_H */
