// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * A session of LTTng: events with the context callstack-user in one channel; the
 * events that say what lies where in another one, without contexts, so that
 * neither fills the other's buffers (Documentation/trace-format.md). Samples,
 * which have a kernel stack of their own, have a channel without that context.
 */
#include <errno.h>
#include <glib.h>
#include <grp.h>
#include <lttng/lttng.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "command.h"
#include "family.h"
#include "names.h"
#include "owner.h"
#include "session.h"

#define EVENTS_CHANNEL	"kunwind"
#define SAMPLES_CHANNEL	"kunwind-samples"
#define MAPS_CHANNEL	"kunwind-maps"
#define SWITCHES_CHANNEL "kunwind-switches"
/* Of the buffer of a CPU. */
#define NR_PARTS	16
#define LTTNG_MODULE	"/sys/module/kunwind_lttng"
#define SESSIOND_PID	"/run/lttng/lttng-sessiond.pid"

struct kc_session {
	char *name;
	struct lttng_handle *handle;
	bool started;
	bool failed;
	int watched;
	uint64_t buffer_bytes;
};

static struct lttng_domain domain = {
	.type = LTTNG_DOMAIN_KERNEL,
	.buf_type = LTTNG_BUFFER_GLOBAL,
};

bool kc_may_trace(void)
{
	const struct group *group = getgrnam("tracing");
	gid_t groups[NGROUPS_MAX];
	int i, n;

	if (!geteuid() || (group && group->gr_gid == getegid()))
		return true;
	n = group ? getgroups(NGROUPS_MAX, groups) : 0;
	for (i = 0; i < n; i++)
		if (groups[i] == group->gr_gid)
			return true;
	return false;
}

bool kc_session_possible(void)
{
	if (!kc_module_is_loaded())
		return false;
	if (access(LTTNG_MODULE, F_OK)) {
		kc_error("load it: sudo modprobe kunwind-lttng",
			 "the kernel module kunwind-lttng is not loaded");
		return false;
	}
	if (!kc_may_trace()) {
		kc_error("use sudo, or have yourself added: sudo usermod -aG tracing $USER, and log in again",
			 "you are neither root nor in the group 'tracing'");
		return false;
	}
	if (lttng_session_daemon_alive() != 1) {
		kc_error("start it: sudo systemctl start lttng-sessiond, or sudo lttng-sessiond --daemonize (Debian's package: lttng-tools)",
			 "LTTng's session daemon, lttng-sessiond, does not run");
		return false;
	}
	return true;
}

/* Return: whether LTTng did it; if not, that was said. */
static bool done(int ret, const char *what)
{
	if (ret >= 0)
		return true;
	kc_error(NULL, "LTTng: %s: %s", what, lttng_strerror(ret));
	return false;
}

/*
 * A part of the memory, so that small machines have room left, and 64 MiB at most. A
 * storm of forks, and dd with blocks of one byte, lose nothing in a guest of 2 GiB
 * (tests/vm/recording.sh). So many channels share it.
 */
static uint64_t suitable_buffer(unsigned int channels)
{
	uint64_t bytes = (uint64_t)sysconf(_SC_PHYS_PAGES) *
			 (uint64_t)sysconf(_SC_PAGESIZE) / 32 / channels /
			 (uint64_t)sysconf(_SC_NPROCESSORS_ONLN);

	return CLAMP(bytes, 4 << 20, 64 << 20);
}

static bool enable_channel(struct kc_session *session, const char *name)
{
	struct lttng_channel *channel = lttng_channel_create(&domain);
	uint64_t part;
	bool enabled;

	if (!channel)
		return false;
	g_strlcpy(channel->name, name, sizeof(channel->name));
	if (!strcmp(name, EVENTS_CHANNEL) || !strcmp(name, SAMPLES_CHANNEL)) {
		/* LTTng takes powers of two. */
		for (part = 4096; part * 2 * NR_PARTS <= session->buffer_bytes; part *= 2)
			;
		channel->attr.subbuf_size = part;
		channel->attr.num_subbuf = NR_PARTS;
		session->buffer_bytes = part * NR_PARTS;
	} else if (!strcmp(name, SWITCHES_CHANNEL)) {
		channel->attr.subbuf_size = 1 << 20;
		channel->attr.num_subbuf = 8;
	}
	enabled = done(lttng_enable_channel(session->handle, channel), name);
	lttng_channel_destroy(channel);
	return enabled;
}

static bool enable_event(struct kc_session *session, const char *channel,
			 const char *name, enum lttng_event_type type,
			 const char *filter)
{
	struct lttng_event *event = lttng_event_create();
	bool enabled;

	if (!event)
		return false;
	g_strlcpy(event->name, name, sizeof(event->name));
	event->type = type;
	event->loglevel_type = LTTNG_EVENT_LOGLEVEL_ALL;
	enabled = done(lttng_enable_event_with_exclusions(session->handle, event,
				channel, filter, 0, NULL), name);
	lttng_event_destroy(event);
	return enabled;
}

static bool add_contexts(struct kc_session *session, const char *channel,
			 const enum lttng_event_context_type *types, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++) {
		struct lttng_event_context context = { .ctx = types[i] };

		if (!done(lttng_add_context(session->handle, &context, NULL, channel),
			  "the contexts"))
			return false;
	}
	return true;
}

/* What each event with a stack has. */
static bool add_stack(struct kc_session *session, const char *channel, bool kernel)
{
	static const enum lttng_event_context_type types[] = {
		LTTNG_EVENT_CONTEXT_PROCNAME, LTTNG_EVENT_CONTEXT_PID,
		LTTNG_EVENT_CONTEXT_TID, LTTNG_EVENT_CONTEXT_CALLSTACK_USER,
		LTTNG_EVENT_CONTEXT_CALLSTACK_KERNEL,
	};

	return add_contexts(session, channel, types, G_N_ELEMENTS(types) - !kernel);
}

/* They have their own stack of the kernel, and need no context for it. */
static bool enable_samples(struct kc_session *session, const char *filter)
{
	return enable_channel(session, SAMPLES_CHANNEL) &&
	       enable_event(session, SAMPLES_CHANNEL, "cpu_sample",
			    LTTNG_EVENT_TRACEPOINT, filter) &&
	       add_stack(session, SAMPLES_CHANNEL, false);
}

static bool enable_named(struct kc_session *session, const struct kc_rules *rules,
			 const char *filter)
{
	struct kc_names names = { 0 };
	bool enabled = kc_names_load(&names, session->handle);
	size_t i;

	for (i = 0; i < rules->nr_events && enabled; i++) {
		char *name;
		enum lttng_event_type type = kc_names_find(&names, rules->events[i],
							   &name);

		enabled = type != LTTNG_EVENT_ALL &&
			  enable_event(session, EVENTS_CHANNEL, name, type, filter);
		g_free(name);
	}
	kc_names_free(&names);
	return enabled;
}

/*
 * Where the thread waits is at the switch to another one. When it runs again is at a
 * switch from another one, of any process, whose stack is of no interest.
 */
static bool enable_waits(struct kc_session *session, const char *filter)
{
	static const enum lttng_event_context_type of_others[] = {
		LTTNG_EVENT_CONTEXT_PROCNAME, LTTNG_EVENT_CONTEXT_PID,
		LTTNG_EVENT_CONTEXT_TID,
	};

	return enable_channel(session, SWITCHES_CHANNEL) &&
	       enable_event(session, EVENTS_CHANNEL, "sched_switch",
			    LTTNG_EVENT_TRACEPOINT, filter) &&
	       enable_event(session, SWITCHES_CHANNEL, "sched_switch",
			    LTTNG_EVENT_TRACEPOINT, NULL) &&
	       enable_event(session, SWITCHES_CHANNEL, "sched_waking",
			    LTTNG_EVENT_TRACEPOINT, NULL) &&
	       add_contexts(session, SWITCHES_CHANNEL, of_others,
			    G_N_ELEMENTS(of_others));
}

/* Return: the session daemon, which runs as root's if it traces kernels; 0: unknown. */
static int session_daemon(void)
{
	char *text = NULL;
	int pid = 0;

	if (g_file_get_contents(SESSIOND_PID, &text, NULL, NULL))
		pid = atoi(text);
	g_free(text);
	return pid;
}

/* What shows the trace, and LTTng itself, would be most of it. */
static char *without_tracer(void)
{
	GString *filter = g_string_new(NULL);
	int daemon = session_daemon();
	GArray *family = daemon > 0 ? kc_family(daemon) : NULL;
	guint i;

	g_string_printf(filter, "$ctx.pid != %d", (int)getpid());
	for (i = 0; family && i < family->len; i++)
		g_string_append_printf(filter, " && $ctx.pid != %d",
				       g_array_index(family, int, i));
	if (family)
		g_array_unref(family);
	return g_string_free(filter, FALSE);
}

static bool enable_events(struct kc_session *session, const struct kc_rules *rules)
{
	/* By now LTTng has started all that it needs. */
	char *filter = rules->filter ? g_strdup(rules->filter) : without_tracer();
	bool enabled;

	if (rules->sample)
		enabled = enable_samples(session, filter) &&
			  (!rules->off_cpu || enable_waits(session, filter));
	else if (rules->off_cpu)
		enabled = enable_waits(session, filter);
	else if (rules->nr_events)
		enabled = enable_named(session, rules, filter);
	else
		enabled = enable_event(session, EVENTS_CHANNEL, "*",
				       LTTNG_EVENT_SYSCALL, filter);
	g_free(filter);
	return enabled;
}

struct kc_session *kc_session_create(const char *folder, const struct kc_rules *rules)
{
	struct kc_session *session = g_new0(struct kc_session, 1);
	/* Samples and maps have channels of their own. */
	bool has_events = !rules->sample || rules->off_cpu;
	struct lttng_session_descriptor *descriptor;
	int ret;

	session->name = kc_owner_name();
	session->buffer_bytes = rules->buffer_bytes ?: suitable_buffer(rules->sample + has_events);
	descriptor = lttng_session_descriptor_local_create(session->name, folder);
	ret = descriptor ? -(int)lttng_create_session_ext(descriptor) : -1;
	/* LTTNG_OK is not 0. */
	if (!done(ret == -(int)LTTNG_OK ? 0 : ret, "a session")) {
		lttng_session_descriptor_destroy(descriptor);
		g_free(session->name);
		g_free(session);
		return NULL;
	}
	lttng_session_descriptor_destroy(descriptor);
	session->watched = kc_owner_watch(session->name);
	session->handle = lttng_create_handle(session->name, &domain);
	if (!session->handle ||
	    (has_events && !enable_channel(session, EVENTS_CHANNEL)) ||
	    !enable_channel(session, MAPS_CHANNEL) ||
	    !enable_event(session, MAPS_CHANNEL, "kunwind_*", LTTNG_EVENT_TRACEPOINT,
			  NULL) ||
	    !enable_events(session, rules) ||
	    (has_events &&
	     !add_stack(session, EVENTS_CHANNEL, rules->kernel_stack))) {
		kc_session_end(session);
		return NULL;
	}
	return session;
}

bool kc_session_start(struct kc_session *session)
{
	session->started = done(lttng_start_tracing(session->name), "start");
	return session->started;
}

uint64_t kc_session_lost(const struct kc_session *session)
{
	struct lttng_channel *channels;
	uint64_t lost = 0, events, packets;
	int i, n = lttng_list_channels(session->handle, &channels);

	for (i = 0; i < n; i++) {
		if (!lttng_channel_get_discarded_event_count(&channels[i], &events))
			lost += events;
		if (!lttng_channel_get_lost_packet_count(&channels[i], &packets))
			lost += packets;
	}
	if (n > 0)
		free(channels);
	return lost;
}

uint64_t kc_session_buffer(const struct kc_session *session)
{
	return session->buffer_bytes;
}

int kc_session_leftovers(bool stop)
{
	struct lttng_session *sessions;
	int i, n = lttng_list_sessions(&sessions), left = 0;

	for (i = 0; i < n; i++) {
		if (!kc_owner_is_gone(sessions[i].name))
			continue;
		left++;
		if (!stop) {
			kc_error("'kunwind stop' ends it",
				 "the session %s still records: the kunwind trace of it was killed",
				 sessions[i].name);
		} else if (done(lttng_destroy_session(sessions[i].name), sessions[i].name)) {
			printf("%s is ended; its trace is in ", sessions[i].name);
			kc_put(sessions[i].path);
			putchar('\n');
		}
	}
	if (n > 0)
		free(sessions);
	return n < 0 ? -1 : left;
}

bool kc_session_stop(struct kc_session *session)
{
	bool started = session->started;

	if (started && !done(lttng_stop_tracing(session->name), "stop"))
		session->failed = true;
	session->started = false;
	return started;
}

bool kc_session_end(struct kc_session *session)
{
	bool ended, whole;

	if (!session)
		return true;
	(void)kc_session_stop(session);
	ended = done(lttng_destroy_session(session->name), "end");
	whole = ended && !session->failed;
	kc_owner_unwatch(session->watched, ended);
	lttng_destroy_handle(session->handle);
	g_free(session->name);
	g_free(session);
	return whole;
}
