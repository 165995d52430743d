/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* A session of LTTng that records stacks, and what lies where. */
#ifndef KC_SESSION_H
#define KC_SESSION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct kc_session;

/**
 * struct kc_rules - what is recorded
 * @events: names of tracepoints or system calls
 * @nr_events: how many; 0 for all system calls
 * @filter: which of them, an expression of LTTng; NULL: all but the tracer's own
 * @kernel_stack: the kernel's stack too
 * @sample: what runs, instead of events
 * @off_cpu: where threads wait, likewise
 * @buffer_bytes: of each CPU; 0: as much as suits this machine
 */
struct kc_rules {
	char *const *events;
	size_t nr_events;
	const char *filter;
	bool kernel_stack;
	bool sample;
	bool off_cpu;
	uint64_t buffer_bytes;
};

/* Return: whether LTTng lets this user trace the kernel. */
bool kc_may_trace(void);

/* Return: whether LTTng can be asked to record; if not, that was said. */
bool kc_session_possible(void);

/* Return: a session that records into a folder as soon as it is started, or NULL. */
struct kc_session *kc_session_create(const char *folder, const struct kc_rules *rules);

bool kc_session_start(struct kc_session *session);

/* Return: how many events were lost until now. */
uint64_t kc_session_lost(const struct kc_session *session);

/* Return: how large its buffers are, in bytes for each CPU. */
uint64_t kc_session_buffer(const struct kc_session *session);

/*
 * Say which sessions still record although their kunwind trace was killed; @stop: end
 * them. Return: how many they are, or -1 if LTTng does not tell.
 */
int kc_session_leftovers(bool stop);

/* Record no more. Return: whether it did record. */
bool kc_session_stop(struct kc_session *session);

/*
 * Stop it, wait for what is recorded to be written, and forget it; NULL is none.
 * Return: whether LTTng has done so; if not, that was said.
 */
bool kc_session_end(struct kc_session *session);

#endif /* KC_SESSION_H */
