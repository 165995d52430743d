/* SPDX-License-Identifier: MIT */
/*
 * The profile of this process. profile.c starts and stops it, sample.c runs in the handler of
 * its signal, and profile_files.c makes the trace's files.
 */
#ifndef LIBKUNWIND_PROFILE_H
#define LIBKUNWIND_PROFILE_H

#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <time.h>
#include <ucontext.h>

#include "code.h"
#include "file.h"
#include "internal.h"
#include "libkunwind.h"
#include "stream.h"

#define SECOND		1000000000ull

/* The answer to a request, at whose end the addresses get the mark. */
struct answer {
	struct kunwind_stack_at at;
	struct kunwind_frame frames[KUNWIND_MAX_FRAMES + 1];
};

struct writer {
	int taken;
	struct kunwind_stream stream;
	struct answer answer;
	unsigned char packet[STREAM_PACKET];
};

_Static_assert(sizeof(uint64_t) * (KUNWIND_MAX_FRAMES + 1) + 256 <= STREAM_EVENT,
	       "the largest sample is an event");

/* What a profile needs, in one piece of memory that is zeros at first. */
struct memory {
	struct kunwind_code code;
	unsigned char code_packet[STREAM_PACKET];
	struct writer writers[];
};

/**
 * struct threads - what the threads of this process are doing with the profile
 * @state: see profile.c
 * @active: handlers that may be using the profile
 * @telling: a handler tells of code
 *
 * It has a page, which the kernel fills with zeros in a child of fork(). The child has none of
 * these threads, and does not sample. Its number says less: as the first process of a PID
 * namespace it can have the number of its parent.
 */
struct threads {
	int state;
	int active;
	int telling;
};

/**
 * struct kunwind_profile - the profile of this process; a child of fork() has its parent's
 * @threads: NULL before the first start
 * @pid: the process that started it
 * @device: the device, which covers this process
 * @folder: where the trace is; while it is made
 * @timer: sends the signal
 * @period: of the timer, in ns
 * @before: what SIGPROF did
 * @nr_writers: how many there are
 * @memory: the writers, and what tells of code; or NULL
 * @bytes: of @memory
 * @mappings: the module's number of what was told
 * @lost: samples that got no writer
 * @owed: time that samples stand for which were not taken
 * @number: how many profiles there were, this one included
 * @name: of the folder, if the caller has named none
 */
struct kunwind_profile {
	struct threads *threads;
	pid_t pid;
	struct kunwind_file device;
	int folder;
	timer_t timer;
	uint64_t period;
	struct sigaction before;
	unsigned int nr_writers;
	struct memory *memory;
	size_t bytes;
	uint64_t mappings;
	uint64_t lost;
	uint64_t owed;
	uint64_t number;
	char name[64];
};

extern struct kunwind_profile kunwind_profile;

/*
 * In the handler: take a sample of what was interrupted. @period: how much CPU time it stands
 * for, in ns. If there is no sample, the next one stands for that time, too.
 */
void kunwind_sample(const ucontext_t *context, uint64_t period);
/*
 * Before the first one: the module must know the request, in this process. Return: 0 or a
 * negative errno.
 */
int kunwind_sample_begin(void);

/* @path: NULL for one of our own choice, which is set. Return: 0 or a negative errno. */
int kunwind_profile_make_folder(const char **path);
/* Return: 0 or a negative errno. What was opened stays open. */
int kunwind_profile_open_files(void);
void kunwind_profile_close_files(void);
/* There is no trace. */
void kunwind_profile_remove_files(void);

#endif /* LIBKUNWIND_PROFILE_H */
