/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* Requests of the command that is recorded: kunwind_profile_start(), kunwind_profile_stop(). */
#ifndef KC_CONTROL_H
#define KC_CONTROL_H

#include <stdbool.h>

/**
 * struct kc_control - both ends of the socket that requests come by
 * @own: this program's; -1: nothing is recorded on request
 * @command: the command's, until it has it
 */
struct kc_control {
	int own;
	int command;
};

enum kc_request {
	KC_REQUEST_NONE,
	KC_REQUEST_START,
	KC_REQUEST_STOP,
};

/* Return: whether it could be made; if not, that was said. */
bool kc_control_open(struct kc_control *control);

/* In the process that becomes the command: tell it of its end. */
void kc_control_pass(const struct kc_control *control);

/* The command has its end. */
void kc_control_passed(struct kc_control *control);
void kc_control_close(struct kc_control *control);

/*
 * Return: what was asked, if anything was; then *@answer is where the answer goes, by
 * kc_control_answer(). Without any process that could ask, @control->own is -1.
 */
enum kc_request kc_control_take(struct kc_control *control, int *answer);

/* @result: 0 or a negative errno */
void kc_control_answer(int answer, int result);

#endif /* KC_CONTROL_H */
