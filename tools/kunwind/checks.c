// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * Why are there no stacks? The modules, what keeps them from being built, loaded or used,
 * and what LTTng and perf need besides.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "checks.h"
#include "command.h"
#include "files.h"
#include "session.h"

/* modules.dep of a distribution has 1 MB, and enabled_functions one line for each function. */
#define MOST_BYTES	(UINT64_C(64) << 20)

#define MOK	"/var/lib/dkms/mok.pub"
#define EFI	"/sys/firmware/efi/"
#define SHIM	"-605dab50-e046-4300-abb6-3dd810dd8b23"

/*
 * What the checks look at: the machine, and what several of them ask. @root: "" for this one.
 * The user of this command is none of another machine's.
 */
struct machine {
	const char *root;
	char *kernel;
	/* Each module that depmod found, with what it needs. */
	char *modules;
	char *lockdown;
	GPtrArray *checks;
};

static bool exists(const char *root, const char *path)
{
	g_autofree char *full = g_strconcat(root, path, NULL);

	return !access(full, F_OK);
}

/* What is at a path of another machine can be a FIFO, which nobody ever writes to. */
static char *read_bytes(const char *root, const char *path, size_t *length)
{
	char *bytes = NULL;

	if (*root)
		return kr_file_read(root, path, MOST_BYTES, length);
	g_file_get_contents(path, &bytes, length, NULL);
	return bytes;
}

char *kc_read(const char *root, const char *path)
{
	char *text = read_bytes(root, path, NULL);

	return text ? g_strchomp(text) : NULL;
}

bool kc_is_loaded(const char *root, const char *module)
{
	g_autofree char *path = g_strconcat("/sys/module/", module, NULL);

	return exists(root, path);
}

static bool file_is(const char *root, const char *path, const char *text)
{
	g_autofree char *there = kc_read(root, path);

	return there && !strcmp(there, text);
}

static void free_check(void *data)
{
	struct kc_check *check = data;

	g_free(check->found);
	g_free(check->todo);
	g_free(check);
}

/* Takes @found and @todo. */
static void add(struct machine *m, const char *what, char *found, char *todo)
{
	struct kc_check *check = g_new0(struct kc_check, 1);

	check->what = what;
	check->found = found;
	check->todo = todo;
	g_ptr_array_add(m->checks, check);
}

/* Return: whether modprobe finds this module, which may be compressed. */
static bool is_installed(const struct machine *m, const char *module)
{
	g_autofree char *pattern =
		g_strdup_printf("^[^:]*/%s\\.ko(\\.(xz|gz|zst))?:", module);

	return m->modules &&
	       g_regex_match_simple(pattern, m->modules, G_REGEX_MULTILINE, 0);
}

static bool wants_signatures(const struct machine *m)
{
	return (m->lockdown && !strstr(m->lockdown, "[none]")) ||
	       file_is(m->root, "/sys/module/module/parameters/sig_enforce", "Y");
}

/* Return: whether this list of the firmware or of shim has the key with which DKMS signs. */
static bool has_key(const struct machine *m, const char *list)
{
	g_autofree char *path = g_strconcat(EFI, list, NULL);
	size_t size = 0, length = 0;
	g_autofree char *key = read_bytes(m->root, MOK, &size);
	g_autofree char *keys = read_bytes(m->root, path, &length);

	return key && size && keys && memmem(keys, length, key, size);
}

/* Only root reads what is in mok-variables. */
static bool key_is_enrolled(const struct machine *m)
{
	return has_key(m, "mok-variables/MokListRT") ||
	       has_key(m, "efivars/MokListRT" SHIM) ||
	       has_key(m, "efivars/db-d719b2cb-3d3a-4596-a3bc-dad00e67656f");
}

/* A module that modprobe does not find: DKMS did not build it. */
static void add_missing(struct machine *m, const char *what, const char *module)
{
	g_autofree char *headers =
		g_strdup_printf("/lib/modules/%s/build/include", m->kernel);

	if (!exists(m->root, "/var/lib/dkms/kunwind"))
		add(m, what, g_strdup("not installed"),
		    strcmp(module, "kunwind") ? NULL :
		    g_strdup("install the package kunwind-dkms"));
	else if (!exists(m->root, headers))
		add(m, what, g_strdup("not built: the headers of this kernel are missing"),
		    g_strdup_printf("sudo apt install linux-headers-%s", m->kernel));
	else if (!strcmp(module, "kunwind-lttng") && !is_installed(m, "lttng-tracer"))
		add(m, what, g_strdup("not built: lttng-modules are missing"),
		    g_strdup("sudo apt install lttng-modules-dkms"));
	else
		add(m, what, g_strdup("not built for this kernel"),
		    g_strdup_printf("sudo dkms autoinstall -k %s    # says why", m->kernel));
}

/* A module that modprobe finds, and that is not loaded. */
static void add_not_loaded(struct machine *m, const char *what, const char *module)
{
	if (!wants_signatures(m) || key_is_enrolled(m))
		add(m, what, g_strdup("not loaded"),
		    g_strdup_printf("sudo modprobe %s", module));
	/* mokutil has made it. Only root can read which key that is. */
	else if (exists(m->root, EFI "efivars/MokNew" SHIM))
		add(m, what,
		    g_strdup("not loaded: only signed modules are, and a key waits for a restart"),
		    g_strdup("sudo reboot    # and choose Enroll MOK"));
	else if (exists(m->root, MOK))
		add(m, what,
		    g_strdup("not loaded: only signed modules are, and DKMS's key is not enrolled"),
		    g_strdup("sudo mokutil --import " MOK
			     "    # then restart, and confirm it"));
	else
		add(m, what, g_strdup("not loaded: only signed modules are, and DKMS has no key"),
		    g_strdup("sudo dkms generate_mok && sudo mokutil --import " MOK));
}

/* @name: in /sys/module, where '-' is '_' */
static bool add_module(struct machine *m, const char *what, const char *name)
{
	g_autofree char *module = g_strdelimit(g_strdup(name), "_", '-');

	if (kc_is_loaded(m->root, name))
		return true;
	if (is_installed(m, module))
		add_not_loaded(m, what, module);
	else
		add_missing(m, what, module);
	return false;
}

static void check_kunwind(struct machine *m)
{
	g_autofree char *version = kc_read(m->root, "/sys/module/kunwind/version");

	if (add_module(m, "module kunwind", "kunwind"))
		add(m, "module kunwind",
		    g_strdup_printf("loaded, version %s", version ?: "unknown"), NULL);
}

static void check_lttng_side(struct machine *m)
{
	if (add_module(m, "module kunwind-lttng", "kunwind_lttng"))
		add(m, "module kunwind-lttng",
		    g_strdup(file_is(m->root, "/sys/module/kunwind_lttng/refcnt", "0") ?
			     "loaded; no session of LTTng uses it" :
			     "loaded; LTTng uses it"), NULL);
}

/* It has BTF if the kernel's headers had any when it was built: without, BPF calls no function. */
static void check_tracing_side(struct machine *m)
{
	g_autofree char *replaced = kc_read(m->root, "/sys/kernel/tracing/enabled_functions");
	const char *used = "";

	if (!add_module(m, "module kunwind-tracing", "kunwind_tracing"))
		return;
	if (replaced)
		used = g_regex_match_simple("^perf_callchain_user .*\\[kunwind\\]", replaced,
					    G_REGEX_MULTILINE, 0) ?
		       "; a tool wants stacks" : "; no tool wants stacks";
	add(m, "module kunwind-tracing",
	    g_strconcat("loaded", used,
			exists(m->root, "/sys/kernel/btf/kunwind_tracing") ? "" :
			"; without BTF, so not for bpf_kunwind_user_stack()", NULL), NULL);
}

/* Another machine's node can be any device of this one, and some act when opened. */
static void check_device(struct machine *m)
{
	static const char path[] = "/dev/kunwind";
	int fd;

	if (*m->root) {
		add(m, path, g_strdup(exists(m->root, path) ? "is there" : strerror(ENOENT)), NULL);
		return;
	}
	fd = open(path, O_RDWR | O_CLOEXEC);
	add(m, path, g_strdup(fd < 0 ? strerror(errno) : "works"), NULL);
	if (fd >= 0)
		close(fd);
}

static void check_ftrace(struct machine *m)
{
	if (file_is(m->root, "/proc/sys/kernel/ftrace_enabled", "0"))
		add(m, "ftrace", g_strdup("disabled, so kunwind cannot follow any program"),
		    g_strdup("sudo sysctl kernel.ftrace_enabled=1"));
	else
		add(m, "ftrace", g_strdup("enabled"), NULL);
}

static void check_lockdown(struct machine *m)
{
	if (m->lockdown && strstr(m->lockdown, "[confidentiality]"))
		add(m, "lockdown",
		    g_strdup("confidentiality: no tracefs, which tracepoints of perf and BPF need"),
		    NULL);
	else if (m->lockdown && strstr(m->lockdown, "[integrity]"))
		add(m, "lockdown", g_strdup("integrity: only signed modules are loaded"), NULL);
}

/* Only root's daemon traces the kernel. */
static bool daemon_runs(const struct machine *m)
{
	g_autofree char *pid = kc_read(m->root, "/run/lttng/lttng-sessiond.pid");
	g_autofree char *process = g_strconcat("/proc/", pid, NULL);

	return pid && *pid && exists(m->root, process);
}

static void check_lttng(struct machine *m)
{
	if (!kc_is_loaded(m->root, "lttng_tracer") && !is_installed(m, "lttng-tracer"))
		add(m, "LTTng", g_strdup("lttng-modules are not installed for this kernel"),
		    g_strdup("sudo apt install lttng-modules-dkms"));
	else if (!daemon_runs(m))
		add(m, "LTTng", g_strdup("its session daemon does not run"),
		    g_strdup("sudo systemctl start lttng-sessiond    # of lttng-tools"));
	else if (*m->root)
		add(m, "LTTng",
		    g_strdup("its session daemon runs; root and the group tracing may trace"),
		    NULL);
	else if (!kc_may_trace())
		add(m, "LTTng", g_strdup("you are neither root nor in the group tracing"),
		    g_strdup("sudo usermod -aG tracing $USER    # and log in again"));
	else
		add(m, "LTTng", g_strdup("its session daemon runs, and you may trace"), NULL);
}

static void check_perf(struct machine *m)
{
	g_autofree char *text = kc_read(m->root, "/proc/sys/kernel/perf_event_paranoid");
	int paranoid = text ? atoi(text) : 2;
	const char *who = paranoid > 2 ? "root alone may trace" :
			  paranoid > 0 ? "users may trace their own processes" :
			  "users may trace the system";

	add(m, "perf", g_strdup_printf("%s (kernel.perf_event_paranoid is %d)", who, paranoid),
	    paranoid > 2 && (*m->root || geteuid()) ?
	    g_strdup("sudo sysctl kernel.perf_event_paranoid=2") : NULL);
}

/* It becomes part of commands that are to be pasted: those of another machine are others'. */
static char *read_release(const char *root)
{
	char *release = kc_read(root, "/proc/sys/kernel/osrelease");

	if (release && g_regex_match_simple("^[A-Za-z0-9.+_~-]+\\z", release, 0, 0))
		return release;
	g_free(release);
	return g_strdup("unknown");
}

GPtrArray *kc_checks(const char *root)
{
	struct machine m = { .root = root };
	g_autofree char *index = NULL;

	m.checks = g_ptr_array_new_with_free_func(free_check);
	m.kernel = read_release(root);
	index = g_strdup_printf("/lib/modules/%s/modules.dep", m.kernel);
	m.modules = kc_read(root, index);
	m.lockdown = kc_read(root, "/sys/kernel/security/lockdown");

	add(&m, "kernel", g_strdup(m.kernel), NULL);
	check_kunwind(&m);
	check_lttng_side(&m);
	check_tracing_side(&m);
	if (kc_is_loaded(root, "kunwind"))
		check_device(&m);
	check_ftrace(&m);
	check_lockdown(&m);
	check_lttng(&m);
	check_perf(&m);
	g_free(m.kernel);
	g_free(m.modules);
	g_free(m.lockdown);
	return m.checks;
}
