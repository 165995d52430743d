// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* kunwind stop: end recordings that nobody else ends. */
#include <linux/limits.h>
#include <lttng/lttng.h>
#include <stdio.h>
#include <unistd.h>
#include "command.h"
#include "session.h"

int kc_stop(int argc, char **argv)
{
	static const struct argp argp = {
		.doc = "End the recordings of each 'kunwind trace' that was killed together "
		       "with its child kunwind-watch, which else ends them. They go on, and "
		       "so do their costs. Their traces stay.",
	};
	int left;

	kc_parse(&argp, argc, argv, 0, NULL);
	left = lttng_session_daemon_alive() == 1 ? kc_session_leftovers(true) : 0;
	if (left < 0) {
		kc_error("use sudo, or be in the group 'tracing'",
			 "LTTng does not tell its sessions");
		return KC_FAILED;
	}
	/* What could not be ended is said once more. */
	if (left && kc_session_leftovers(false))
		return KC_FAILED;
	if (left)
		return 0;
	if (!kc_may_trace()) {
		kc_error("sudo kunwind stop ends those of root",
			 "you are neither root nor in the group 'tracing', and see no recordings");
		return KC_FAILED;
	}
	puts(geteuid() ? "there is no recording of yours to end; sudo kunwind stop ends those of root" :
			 "there is no recording to end");
	return 0;
}
