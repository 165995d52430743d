/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * Traces are read by a child without privileges, the reader. babeltrace2 crashes on some
 * damaged traces, and on a file that becomes shorter: that ends the reader alone. This
 * process, its parent, has the terminal, the output file and the user's rights (parent.h).
 */
#ifndef KC_READER_H
#define KC_READER_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

/* Descriptors that a reader needs, besides the standard ones. */
#define KC_READER_KEEPS	4

/**
 * struct kc_reader - the reader
 * @readable: folders and files that it may read; NULL ends them
 * @bytes: how much there is
 * @metadata: how much of it is metadata
 * @tries: what it shows is not wanted, but whether it can
 * @sysroot: where files are that the trace names, or NULL
 * @stop: set when nothing is to be read any more, or NULL
 * @keeps: descriptors that stay open in it, or -1
 * @parent_socket: in the reader: its end
 */
struct kc_reader {
	const char *const *readable;
	uint64_t bytes;
	uint64_t metadata;
	bool tries;
	const char *sysroot;
	const volatile sig_atomic_t *stop;
	int keeps[KC_READER_KEEPS];
	int parent_socket;
};

/**
 * kc_reader_run() - run a function in a reader
 * @reader: all but @parent_socket is filled in
 * @work: what it does, without privileges. Returns an exit status
 * @data: for it
 *
 * Return: as waitpid() says it; -1 and errno if there was no reader.
 */
int kc_reader_run(struct kc_reader *reader,
		  int (*work)(const struct kc_reader *reader, void *data), void *data);

/* Say that a signal ended a reader. @what: what it read */
void kc_reader_say_died(const char *what, int number);

/* In the reader: metadata is read, and streams take longer. */
void kc_reader_begin_streams(const struct kc_reader *reader);

/* In its parent, by a handler of signals: have the reader end what it does. */
void kc_reader_interrupt(void);

/* What the reader gets then. A terminal's signals are not for it. */
#define KC_READER_SIGNAL	SIGUSR1

#endif /* KC_READER_H */
