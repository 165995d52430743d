// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * A session of LTTng: events with the context callstack-user in one channel; the
 * events that say what lies where in another one, without contexts, so that
 * neither fills the other's buffers (Documentation/trace-format.md).
 */
#include <glib.h>
#include <grp.h>
#include <lttng/lttng.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include "command.h"
#include "session.h"

#define EVENTS_CHANNEL	"kunwind"
#define MAPS_CHANNEL	"kunwind-maps"
#define LTTNG_MODULE	"/sys/module/kunwind_lttng"

struct kc_session {
	char *name;
	struct lttng_handle *handle;
	bool started;
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

static bool enable_channel(struct kc_session *session, const char *name, bool large)
{
	struct lttng_channel *channel = lttng_channel_create(&domain);
	bool enabled;

	if (!channel)
		return false;
	g_strlcpy(channel->name, name, sizeof(channel->name));
	if (large) {
		channel->attr.subbuf_size = 1 << 20;
		channel->attr.num_subbuf = 16;
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

/* @name: may have '*' in it, for any characters, as LTTng takes it */
static bool is_in(const struct lttng_event *events, int n, const char *name)
{
	int i;

	for (i = 0; i < n; i++)
		if (g_pattern_match_simple(name, events[i].name))
			return true;
	return false;
}

/* Return: LTTNG_EVENT_ALL if there is no such event, and that was said. */
static enum lttng_event_type type_of(struct kc_session *session, const char *name)
{
	enum lttng_event_type type = LTTNG_EVENT_ALL;
	struct lttng_event *events;
	int n;

	n = lttng_list_tracepoints(session->handle, &events);
	if (n >= 0) {
		if (is_in(events, n, name))
			type = LTTNG_EVENT_TRACEPOINT;
		free(events);
	}
	if (type != LTTNG_EVENT_ALL)
		return type;
	n = lttng_list_syscalls(&events);
	if (n >= 0) {
		if (is_in(events, n, name))
			type = LTTNG_EVENT_SYSCALL;
		free(events);
	}
	if (type == LTTNG_EVENT_ALL)
		kc_error("'lttng list --kernel' and 'lttng list --kernel --syscall' list them",
			 "there is no event '%s'", name);
	return type;
}

static bool enable_events(struct kc_session *session, const struct kc_rules *rules)
{
	size_t i;

	for (i = 0; i < rules->nr_events; i++) {
		enum lttng_event_type type = type_of(session, rules->events[i]);

		if (type == LTTNG_EVENT_ALL ||
		    !enable_event(session, EVENTS_CHANNEL, rules->events[i], type,
				  rules->filter))
			return false;
	}
	if (rules->nr_events)
		return true;
	return enable_event(session, EVENTS_CHANNEL, "*", LTTNG_EVENT_SYSCALL,
			    rules->filter) &&
	       (!rules->execve_filter ||
		enable_event(session, EVENTS_CHANNEL, "execve", LTTNG_EVENT_SYSCALL,
			     rules->execve_filter));
}

static bool add_contexts(struct kc_session *session, bool kernel_stack)
{
	static const enum lttng_event_context_type types[] = {
		LTTNG_EVENT_CONTEXT_PROCNAME, LTTNG_EVENT_CONTEXT_PID,
		LTTNG_EVENT_CONTEXT_TID, LTTNG_EVENT_CONTEXT_CALLSTACK_USER,
		LTTNG_EVENT_CONTEXT_CALLSTACK_KERNEL,
	};
	size_t i, n = G_N_ELEMENTS(types) - !kernel_stack;

	for (i = 0; i < n; i++) {
		struct lttng_event_context context = { .ctx = types[i] };

		if (!done(lttng_add_context(session->handle, &context, NULL,
					    EVENTS_CHANNEL), "the contexts"))
			return false;
	}
	return true;
}

struct kc_session *kc_session_create(const char *folder, const struct kc_rules *rules)
{
	struct kc_session *session = g_new0(struct kc_session, 1);
	struct lttng_session_descriptor *descriptor;
	int ret;

	session->name = g_strdup_printf("kunwind-%d", (int)getpid());
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
	session->handle = lttng_create_handle(session->name, &domain);
	if (!session->handle ||
	    !enable_channel(session, EVENTS_CHANNEL, true) ||
	    !enable_channel(session, MAPS_CHANNEL, false) ||
	    !enable_event(session, MAPS_CHANNEL, "kunwind_*", LTTNG_EVENT_TRACEPOINT,
			  NULL) ||
	    !enable_events(session, rules) ||
	    !add_contexts(session, rules->kernel_stack)) {
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

void kc_session_end(struct kc_session *session)
{
	if (!session)
		return;
	if (session->started)
		(void)done(lttng_stop_tracing(session->name), "stop");
	(void)done(lttng_destroy_session(session->name), "end");
	lttng_destroy_handle(session->handle);
	g_free(session->name);
	g_free(session);
}
