/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* What /proc says of a process. */
#ifndef KC_PROC_H
#define KC_PROC_H

#include <stdbool.h>
#include <stdint.h>

/* Of /proc/PID/stat. @start: when the process began, in clock ticks after the boot. */
struct kc_proc_stat {
	int parent;
	unsigned long long start;
};

/* Return: whether the process is there. */
bool kc_proc_stat(int pid, struct kc_proc_stat *stat);

/* @process: its number, or "self". Return: the namespace's number; 0 if it cannot be read. */
uint64_t kc_proc_namespace(const char *process, const char *kind);

/* The first line of /proc/PID/task/TID/WHAT. Return: @text; "" if it cannot be read. */
char *kc_proc_line(int pid, int tid, const char *what, char *text, int size);

#endif /* KC_PROC_H */
