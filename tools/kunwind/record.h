/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* Recording a command and its children, a process, or everything. */
#ifndef KC_RECORD_H
#define KC_RECORD_H

#include <sys/types.h>
#include <time.h>
#include "session.h"

/**
 * struct kc_recording - what is recorded, and for how long
 * @folder: where the trace goes
 * @command: a command and its arguments; or NULL
 * @gives_way: what it prints goes where errors go
 * @pid: a process; 0: all of them
 * @pidfd: the same
 * @delay: how much later it begins, in seconds
 * @on_request: it begins and ends when the command says so, by libkunwind
 * @duration: in seconds; 0: until the command or process ends, or Ctrl-C
 * @rules: which events; kc_record() fills in of whom
 * @failed: set if nothing was recorded, and that was said
 */
struct kc_recording {
	const char *folder;
	char **command;
	bool gives_way;
	pid_t pid;
	int pidfd;
	time_t delay;
	bool on_request;
	time_t duration;
	struct kc_rules rules;
	bool failed;
};

/* Return: the command's status, or that of the recording. */
int kc_record(struct kc_recording *recording);

#endif /* KC_RECORD_H */
