/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* Requests of the command that is recorded: kunwind_profile_start(), kunwind_profile_stop(). */
#ifndef KC_CONTROL_H
#define KC_CONTROL_H

#include <stdbool.h>
#include <sys/types.h>

/**
 * struct kc_control - the socket that requests come by, and the process that receives the next
 * @own: this program's end; -1: nothing is recorded on request
 * @command: the command's end, until it has it
 * @receiver: the connection to that process; -1: no request can come
 * @pid: that process
 * @receivers: processes that have not ended yet, this one included
 */
struct kc_control {
	int own;
	int command;
	int receiver;
	pid_t pid;
	unsigned int receivers;
};

#define KC_NO_CONTROL	((struct kc_control) { -1, -1, -1, -1, 0 })

enum kc_request {
	KC_REQUEST_NONE,
	KC_REQUEST_START,
	KC_REQUEST_STOP,
	/* It is none of these, but wants an answer. */
	KC_REQUEST_OTHER,
};

/* Return: whether it could be made; if not, that was said. */
bool kc_control_open(struct kc_control *control);

/* In the process that becomes the command: tell it of its end. */
void kc_control_pass(const struct kc_control *control);

/* The command has its end: wait for its requests. */
void kc_control_passed(struct kc_control *control);
void kc_control_close(struct kc_control *control);

/*
 * Return: what was asked, if anything was; then kc_control_answer() follows. Without any process
 * that could ask, @control->receiver is -1.
 */
enum kc_request kc_control_take(struct kc_control *control);

/* @result: 0 or a negative errno */
void kc_control_answer(struct kc_control *control, int result);

#endif /* KC_CONTROL_H */
