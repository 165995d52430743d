// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * kunwind stack: this program's own stack, which is all that a process without
 * privilege may see. It shows whether module, device, library and symbols work.
 */
#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <libkunwind.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include "command.h"
#include "module.h"
#include "notes.h"

#define CAPACITY	128

/* One line of /proc/self/maps. */
struct mapping {
	uint64_t start;
	uint64_t end;
	uint64_t offset;
	char path[4096];
};

static bool find_mapping(uint64_t address, struct mapping *mapping)
{
	char line[5000];
	FILE *maps = fopen("/proc/self/maps", "re");
	bool found = false;

	while (maps && !found && fgets(line, sizeof(line), maps)) {
		mapping->path[0] = '\0';
		if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %*s %" SCNx64
			   " %*s %*s %4095[^\n]", &mapping->start, &mapping->end,
			   &mapping->offset, mapping->path) >= 3)
			found = address >= mapping->start && address < mapping->end;
	}
	if (maps)
		fclose(maps);
	return found;
}

/* What is mapped here is at its path, whatever its build ID. */
static struct kr_module *module_of(struct kr_modules *modules,
				   const struct mapping *mapping)
{
	struct kr_module_id id = { .path = mapping->path };
	struct stat st;

	if (!stat(mapping->path, &st)) {
		id.dev = st.st_dev;
		id.inode = st.st_ino;
	}
	return kr_module_get(modules, &id);
}

static void print_frame(const struct kunwind_frame *at, const struct kr_frame *frame,
			const char *path)
{
	printf("    %#" PRIx64 "  ", (uint64_t)at->address);
	if (!frame)
		printf("%s", path);
	else if (frame->function[0] && !frame->inlined)
		printf("%s+%#" PRIx64 "  %s", frame->function, frame->offset, path);
	else if (frame->function[0])
		printf("%s  %s", frame->function, path);
	else
		printf("%s+%#" PRIx64, path, frame->offset);
	if (frame && frame->line)
		printf("  %s:%" PRIu32, frame->file, frame->line);
	if (frame && frame->inlined)
		printf("  (inlined)");
	puts(at->flags & KUNWIND_FRAME_GUESSED ? "  [guessed]" : "");
}

static void add_frame(json_t *frames, const struct kunwind_frame *at,
		      const struct kr_frame *frame, const char *path)
{
	json_t *json = json_object();

	json_object_set_new(json, "address", json_integer((json_int_t)at->address));
	json_object_set_new(json, "interrupted",
			    json_boolean(at->flags & KUNWIND_FRAME_INTERRUPTED));
	json_object_set_new(json, "guessed",
			    json_boolean(at->flags & KUNWIND_FRAME_GUESSED));
	json_object_set_new(json, "module", json_string(path));
	if (frame) {
		json_object_set_new(json, "function", json_string(frame->function));
		json_object_set_new(json, "offset",
				    json_integer((json_int_t)frame->offset));
		json_object_set_new(json, "file", json_string(frame->file));
		json_object_set_new(json, "line", json_integer(frame->line));
		json_object_set_new(json, "inlined", json_boolean(frame->inlined));
	}
	json_array_append_new(frames, json);
}

/* @json: where frames are added, or NULL to print them. */
static void show_frames(const struct kunwind_bt *bt, struct kr_modules *modules,
			json_t *json)
{
	const struct kunwind_frame *at = kunwind_backtrace_frames(bt);
	const struct kunwind_frame *end = at + kunwind_backtrace_count(bt);
	uint32_t j;

	for (; at < end; at++) {
		const struct kr_place *place = NULL;
		struct mapping mapping = { .path = "" };

		if (find_mapping(at->address, &mapping))
			place = kr_module_resolve(module_of(modules, &mapping),
				at->address - mapping.start + mapping.offset,
				!(at->flags & KUNWIND_FRAME_INTERRUPTED));
		for (j = 0; j < (place ? place->count : 1); j++) {
			const struct kr_frame *frame = place ? &place->frames[j] : NULL;

			if (json)
				add_frame(json, at, frame, mapping.path);
			else
				print_frame(at, frame, mapping.path);
		}
	}
}

static int show(const struct kunwind_bt *bt, bool as_json)
{
	struct kr_notes *notes = kr_notes_new();
	struct kr_modules *modules = kr_modules_new(NULL, notes);
	uint32_t stop = kunwind_backtrace_stop(bt);
	json_t *json = as_json ? json_object() : NULL, *frames;
	int status = stop == KUNWIND_STOP_COMPLETE ? 0 : KC_FAILED;

	if (json) {
		frames = json_array();
		show_frames(bt, modules, frames);
		json_object_set_new(json, "frames", frames);
		json_object_set_new(json, "proven",
				    json_integer(kunwind_backtrace_proven(bt)));
		json_object_set_new(json, "stop", json_string(kunwind_stop_name(stop)));
		status = kc_print_json(json) ?: status;
	} else {
		show_frames(bt, modules, NULL);
		printf("%" PRIu32 " frames, %" PRIu32 " of them proven; %s: %s\n",
		       kunwind_backtrace_count(bt), kunwind_backtrace_proven(bt),
		       kunwind_stop_name(stop), kunwind_stop_text(stop));
	}
	kr_modules_free(modules);
	kr_notes_free(notes);
	return status;
}

int kc_stack(int argc, char **argv)
{
	struct kunwind_handle *handle;
	struct kunwind_bt *bt;
	int ret, status;
	bool json;

	json = kc_parse_json(argc, argv,
		"Print the call stack of this command itself, with names. It comes from "
		"/dev/kunwind, so this shows whether kunwind works."
		"\vThe exit status is 0 if the stack is complete.");
	if (!kc_module_is_loaded())
		return KC_FAILED;
	ret = kunwind_open(&handle);
	if (ret < 0) {
		kc_error("its mode must be 0666: ls -l /dev/kunwind",
			 "/dev/kunwind: %s", strerror(-ret));
		return KC_FAILED;
	}
	bt = kunwind_backtrace_new(CAPACITY);
	ret = bt ? kunwind_backtrace(handle, bt) : -ENOMEM;
	if (ret < 0) {
		kc_error(NULL, "cannot take the stack: %s", strerror(-ret));
		status = KC_FAILED;
	} else {
		status = show(bt, json);
	}
	kunwind_backtrace_free(bt);
	kunwind_close(handle);
	return status;
}
