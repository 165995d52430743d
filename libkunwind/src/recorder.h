/* SPDX-License-Identifier: MIT */
/* What `kunwind profile --on-request` is asked: to record, and to stop. */
#ifndef LIBKUNWIND_RECORDER_H
#define LIBKUNWIND_RECORDER_H

/* Return: whether this process was started by it. */
int kunwind_recorder_exists(void);

/* Return: when it is done, 0; or a negative errno. */
int kunwind_recorder_start(void);
int kunwind_recorder_stop(void);

#endif /* LIBKUNWIND_RECORDER_H */
