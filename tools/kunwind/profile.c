// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* kunwind profile: sample what runs, and show it. */
#include <errno.h>
#include <fcntl.h>
#include <glib.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include "command.h"
#include "run.h"

/* The rate of kunwind-lttng's event cpu_sample. */
#define RATE		"/sys/module/kunwind_lttng/parameters/sample_hz"
#define DEFAULT_HZ	99
#define MAX_HZ		10000

enum key {
	OFF_CPU = 256,
	DELAY,
	ON_REQUEST,
};

struct options {
	unsigned int hz;
	bool all;
	struct kc_run run;
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct options *options = state->input;
	struct kc_recording *recording = &options->run.recording;
	char *end;
	long hz;

	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = &options->run;
		options->run.view.instead = KC_TOP;
		return 0;
	case 'F':
		hz = strtol(arg, &end, 10);
		if (*end || hz <= 0 || hz > MAX_HZ)
			argp_error(state, "-F is a number of samples a second, 1 to %d",
				   MAX_HZ);
		options->hz = (unsigned int)hz;
		return 0;
	case 'a':
		options->all = true;
		return 0;
	case OFF_CPU:
		recording->rules.off_cpu = true;
		return 0;
	case DELAY:
		recording->delay = kc_parse_seconds(state, "--delay", arg);
		return 0;
	case ON_REQUEST:
		recording->on_request = true;
		return 0;
	case ARGP_KEY_END:
		if (recording->on_request && (!recording->command || recording->delay))
			argp_error(state, "--on-request goes with a command, and not with --delay");
		if (options->all && (recording->pid || recording->command))
			argp_error(state, "-a is everything, not a process or a command");
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

/* Return: 0, or a negative errno. */
static int write_rate(unsigned int hz)
{
	int fd = open(RATE, O_WRONLY | O_CLOEXEC), ret = 0;

	if (fd < 0)
		return -errno;
	if (dprintf(fd, "%u", hz) < 0)
		ret = -errno;
	close(fd);
	return ret;
}

/* Return: 0 if it cannot be read. */
static unsigned int read_rate(void)
{
	unsigned int hz = 0;
	char *text = NULL;

	if (g_file_get_contents(RATE, &text, NULL, NULL))
		hz = (unsigned int)strtoul(text, NULL, 10);
	g_free(text);
	return hz;
}

/* Return: the rate of samples; 0 if it is not what was asked for, and that was said. */
static unsigned int set_rate(unsigned int asked)
{
	unsigned int hz = asked ?: DEFAULT_HZ, now = read_rate();
	int ret;

	if (now == hz)
		return hz;
	ret = write_rate(hz);
	if (!ret)
		return hz;
	/* Who did not ask for a rate takes what is set. */
	if (now && !asked) {
		fprintf(stderr, ret == -EBUSY ?
			"kunwind: another profile is being recorded, with %u samples a second\n" :
			"kunwind: %u samples a second: only root changes the rate\n", now);
		return now;
	}
	if (ret == -EBUSY)
		kc_error("end the other one, or leave -F out",
			 "another profile is being recorded, with %u samples a second", now);
	else if (ret == -EACCES)
		kc_error("use sudo, or leave -F out", "only root changes the rate of %u Hz", now);
	else
		kc_error("load it again: sudo modprobe -r kunwind-lttng; sudo modprobe kunwind-lttng",
			 "the kernel module kunwind-lttng is older than this program");
	return 0;
}

int kc_profile(int argc, char **argv)
{
	static const struct argp_option takes[] = {
		{ "frequency", 'F', "HZ", 0,
		  "Take so many samples a second of each CPU (default: 99)", 0 },
		{ "all", 'a', NULL, 0, "Sample everything (default without PID and COMMAND)", 0 },
		{ "off-cpu", OFF_CPU, NULL, 0,
		  "Record where threads wait and for how long, too", 0 },
		{ "delay", DELAY, "SECONDS", 0, "Begin so much later", 0 },
		{ "on-request", ON_REQUEST, NULL, 0,
		  "Record only between the command's calls of kunwind_profile_start() and kunwind_profile_stop()", 0 },
		{ 0 },
	};
	static const struct argp_child children[] = {
		{ &kc_run_argp, 0, NULL, 0 }, { 0 },
	};
	static const struct argp argp = {
		.options = takes, .parser = parse, .args_doc = "[--] [COMMAND [ARG...]]",
		.doc = "Sample what runs on each CPU, with the stacks of the program and of "
		       "the kernel. Then print which functions cost most, and write flame "
		       "graphs. For example:\n\n"
		       "  kunwind profile -- make\n"
		       "  kunwind profile -a --duration 10\n"
		       "  kunwind profile --off-cpu -p 1234 --flame page.html\n\n"
		       "This samples a command and its children, or the process of "
		       "--pid. Without either, it samples everything until Ctrl-C."
		       "\vThe exit status is that of COMMAND.",
		.children = children,
	};
	struct options options = { 0 };
	unsigned int hz;
	int status;

	/* What follows the command is the command's. */
	kc_parse(&argp, argc, argv, ARGP_IN_ORDER, &options);
	options.run.page = "flame.html";
	options.run.recording.rules.sample = true;
	options.run.recording.rules.kernel_stack = true;
	options.run.view.form = options.run.view.form ?: options.run.view.instead;
	if (!kc_view_possible(&options.run.view) || !kc_session_possible())
		return KC_FAILED;
	hz = set_rate(options.hz);
	if (!hz)
		return KC_FAILED;
	status = kc_run(&options.run);
	/* Between this program and its session, another one can set the rate. */
	if (read_rate() != hz)
		kc_error(NULL, "the rate was changed from %u to %u Hz, perhaps before this profile began",
			 hz, read_rate());
	return status;
}
