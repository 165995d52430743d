// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* kunwind status: /sys/kernel/kunwind, for people; Documentation/statistics.md. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <jansson.h>
#include <libkunwind.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>
#include "command.h"

#define FOLDER	"/sys/kernel/kunwind"

static const struct {
	const char *file;
	const char *what;
	bool bytes;
} figures[] = {
	{ "consumers", "consumers", false },
	{ "spaces", "address spaces covered", false },
	{ "maps", "address maps", false },
	{ "tables", "tables", false },
	{ "table_bytes", "memory of tables", true },
	{ "build_bytes", "memory of compilations", true },
	{ "pending", "tasks that catch up", false },
	{ "table_builds", "tables compiled", false },
	{ "table_failures", "files without a table", false },
	{ "table_refusals", "refused by a budget", false },
	{ "table_evictions", "tables evicted", false },
	{ "allocation_failures", "allocations failed", false },
	{ "walks", "stacks walked", false },
};

static bool read_number(const char *file, uint64_t *value)
{
	char path[256];
	FILE *from;
	bool done;

	snprintf(path, sizeof(path), FOLDER "/%s", file);
	from = fopen(path, "re");
	if (!from)
		return false;
	done = fscanf(from, "%" SCNu64, value) == 1;
	fclose(from);
	return done;
}

/* The function that the module cannot hook in this kernel. Return: whether there is one. */
static bool read_missing(char function[64])
{
	FILE *from = fopen(FOLDER "/missing", "re");
	bool found;

	if (!from)
		return false;
	found = fscanf(from, "%63s", function) == 1;
	fclose(from);
	return found;
}

static const char *lttng_side(void)
{
	return access("/sys/module/kunwind_lttng", F_OK) ?
	       "not loaded (sudo modprobe kunwind-lttng)" : "loaded";
}

/* It has BTF if the kernel's headers had any when it was built: without, BPF calls no function. */
static const char *tracing_side(void)
{
	if (access("/sys/module/kunwind_tracing", F_OK))
		return "not loaded (sudo modprobe kunwind-tracing)";
	if (access("/sys/kernel/btf/kunwind_tracing", F_OK))
		return "loaded; without BTF, so not for bpf_kunwind_user_stack()";
	return "loaded";
}

/* Whether a process can ask: the device is there and can be opened. */
static const char *device(void)
{
	int fd = open("/dev/kunwind", O_RDWR | O_CLOEXEC);

	if (fd < 0)
		return strerror(errno);
	close(fd);
	return "works";
}

static void print_bytes(uint64_t bytes)
{
	if (bytes < 1 << 20)
		printf("%.1f KiB\n", bytes / 1024.0);
	else
		printf("%.1f MiB\n", bytes / 1048576.0);
}

static int print_text(const struct utsname *system)
{
	uint64_t value, walks = 0;
	char file[64];
	uint32_t stop;
	size_t i;

	printf("%-24s loaded\n%-24s %s\n%-24s %s\n%-24s %s\n%-24s %s\n",
	       "module kunwind", "module kunwind-lttng", lttng_side(),
	       "module kunwind-tracing", tracing_side(), "/dev/kunwind", device(),
	       "kernel", system->release);
	if (read_missing(file))
		printf("%-24s %s(), so code that mremap() makes longer is covered late\n",
		       "this kernel has no", file);
	if (access(FOLDER "/consumers", R_OK))
		printf("%-24s only root can read them (sudo kunwind status)\n",
		       "figures");
	for (i = 0; i < sizeof(figures) / sizeof(figures[0]); i++) {
		if (!read_number(figures[i].file, &value))
			continue;
		printf("%-24s ", figures[i].what);
		if (figures[i].bytes)
			print_bytes(value);
		else
			printf("%" PRIu64 "\n", value);
		if (!strcmp(figures[i].file, "walks"))
			walks = value;
	}
	for (stop = 0; stop < KUNWIND_NR_STOPS; stop++) {
		snprintf(file, sizeof(file), "stops/%s", kunwind_stop_name(stop));
		if (read_number(file, &value) && value)
			printf("  %-22s %" PRIu64 " (%.1f %%): %s\n",
			       kunwind_stop_name(stop), value,
			       walks ? 100.0 * value / walks : 0.0,
			       kunwind_stop_text(stop));
	}
	return 0;
}

static void add_numbers(json_t *to, const char *below)
{
	char path[300], file[300];
	struct dirent *entry;
	uint64_t value;
	DIR *dir;

	snprintf(path, sizeof(path), FOLDER "/%s", below);
	dir = opendir(path);
	while (dir && (entry = readdir(dir))) {
		snprintf(file, sizeof(file), "%s%.255s", below, entry->d_name);
		if (entry->d_type == DT_REG && read_number(file, &value))
			json_object_set_new(to, entry->d_name,
					    json_integer((json_int_t)value));
	}
	if (dir)
		closedir(dir);
}

static int print_json(const struct utsname *system)
{
	json_t *json = json_object(), *stops = json_object();
	char missing[64];

	json_object_set_new(json, "kernel", json_string(system->release));
	json_object_set_new(json, "kunwind_lttng",
			    json_boolean(!access("/sys/module/kunwind_lttng", F_OK)));
	json_object_set_new(json, "kunwind_tracing",
			    json_boolean(!access("/sys/module/kunwind_tracing", F_OK)));
	json_object_set_new(json, "missing", json_string(read_missing(missing) ? missing : ""));
	add_numbers(json, "");
	add_numbers(stops, "stops/");
	json_object_set_new(json, "stops", stops);
	return kc_print_json(json);
}

int kc_status(int argc, char **argv)
{
	struct utsname system;
	bool json;

	json = kc_parse_json(argc, argv,
		"Show what the kernel module kunwind does: consumers, tables, memory, and "
		"why walks ended. Only root can read the figures."
		"\v/sys/kernel/kunwind has one file for each figure.");
	if (!kc_module_is_loaded())
		return KC_FAILED;
	uname(&system);
	return json ? print_json(&system) : print_text(&system);
}
