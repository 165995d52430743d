/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * A child that asks what may never answer: a file server, or a process that holds the lock of its
 * memory. No process can end its own wait, and while a file server has the question, nothing can
 * end the child's either. So it has nothing of this process but a pipe: no output, which a
 * pager or a shell would wait for, and no device, which would keep a module.
 */
#ifndef KC_HELPER_H
#define KC_HELPER_H

#include <glib.h>
#include <stdbool.h>
#include <sys/types.h>

/**
 * struct kc_helper - one that runs
 * @pid: its process
 * @about: the process that it asks about; 0: not one alone
 * @from: what it says
 */
struct kc_helper {
	pid_t pid;
	pid_t about;
	int from;
};

/**
 * kc_helper_start() - start one
 * @about: see struct kc_helper
 * @work: what it does; it writes to @to, which ends it if this process has ended, and returns
 *	its exit status
 *
 * Return: 0, or a negative errno; -EBUSY: an earlier one about this process, which was killed,
 * still waits.
 */
int kc_helper_start(struct kc_helper *helper, pid_t about, int (*work)(const void *data, int to),
		    const void *data);

/* Wait so long for all that it says. Return: its exit status; -1: it was late, or was killed. */
int kc_helper_end(struct kc_helper *helper, GByteArray *said, unsigned int patience_ms);

#endif /* KC_HELPER_H */
