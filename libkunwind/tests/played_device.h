/* SPDX-License-Identifier: MIT */
/*
 * A program that plays the device: open() is its own, and a seccomp filter turns each
 * request into a signal, whose handler answers.
 */
#ifndef KUNWIND_PLAYED_DEVICE_H
#define KUNWIND_PLAYED_DEVICE_H

#include <stdint.h>

#include "libkunwind.h"

/* The frames of a stack; and of a deep one, of which one request returns less than half. */
#define FRAMES		5
#define DEEP		2500
#define DEEP_PROVEN	2100

/**
 * struct played_device - the device
 * @open_errno: in: the error of open(), or 0
 * @version_answer: in: the error of the request for a version, or 0
 * @version_abi: in: the version
 * @stack_answer: in: the error of the request for a stack, or 0
 * @is_deep: in: whether the stack is deep
 * @failing: in: which request for a deep stack fails, from 1; 0: none
 * @open_flags: out: of open()
 * @requests: out: how many there were
 * @asked: out: the last request for a stack that is not deep
 * @asked_at: out: where it was
 */
struct played_device {
	int open_errno;
	long version_answer;
	uint32_t version_abi;
	long stack_answer;
	int is_deep;
	int failing;
	int open_flags;
	volatile int requests;
	struct kunwind_stack asked;
	const void *asked_at;
};

extern struct played_device played;

/* The device's requests become SIGSYS. Return: 0, or not if there are no seccomp filters. */
int played_trap_requests(void);

/* No system call any more except requests, the handler's return, and the end. Return: 0. */
int played_kill_others(void);

#endif /* KUNWIND_PLAYED_DEVICE_H */
