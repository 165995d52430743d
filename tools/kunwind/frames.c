// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* The frames of a live process, with names: from its memory map, and from the files in it. */
#include <inttypes.h>
#include <jansson.h>
#include <libkunwind.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include "command.h"
#include "frames.h"
#include "module.h"

/* One executable line of /proc/PID/maps. */
struct mapping {
	uint64_t start;
	uint64_t end;
	uint64_t offset;
	char *path;
};

struct kc_maps {
	pid_t pid;
	struct kr_modules *modules;
	struct mapping *list;
	size_t count;
};

/* Return: whether the line is an executable mapping and was added. */
static bool add(struct kc_maps *maps, const char *line)
{
	struct mapping m, *list;
	char rights[8] = "";
	int path = 0;

	if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %7s %" SCNx64 " %*s %*s %n", &m.start,
		   &m.end, rights, &m.offset, &path) < 4 || !strchr(rights, 'x'))
		return false;
	list = reallocarray(maps->list, maps->count + 1, sizeof(*list));
	if (!list)
		return false;
	maps->list = list;
	m.path = strndup(line + path, strcspn(line + path, "\n"));
	if (!m.path)
		return false;
	list[maps->count++] = m;
	return true;
}

struct kc_maps *kc_maps_new(pid_t pid, struct kr_modules *modules)
{
	struct kc_maps *maps = calloc(1, sizeof(*maps));
	char path[64], *line = NULL;
	size_t room = 0;
	FILE *file;

	if (!maps)
		return NULL;
	maps->pid = pid;
	maps->modules = modules;
	snprintf(path, sizeof(path), "/proc/%d/maps", pid);
	file = fopen(path, "re");
	if (!file) {
		free(maps);
		return NULL;
	}
	while (getline(&line, &room, file) > 0)
		add(maps, line);
	free(line);
	fclose(file);
	return maps;
}

void kc_maps_free(struct kc_maps *maps)
{
	if (!maps)
		return;
	while (maps->count)
		free(maps->list[--maps->count].path);
	free(maps->list);
	free(maps);
}

static const struct mapping *find(const struct kc_maps *maps, uint64_t address)
{
	size_t i;

	for (i = 0; i < maps->count; i++)
		if (address >= maps->list[i].start && address < maps->list[i].end)
			return &maps->list[i];
	return NULL;
}

/* What is mapped there is at its path, whatever its build ID. */
static struct kr_module *module_of(const struct kc_maps *maps, const struct mapping *mapping)
{
	struct kr_module_id id = { .path = mapping->path };
	char path[5000];
	struct stat st;

	/* As the process sees it. */
	snprintf(path, sizeof(path), "/proc/%d/root%s", maps->pid, mapping->path);
	if (mapping->path[0] == '/' && !stat(path, &st)) {
		id.dev = st.st_dev;
		id.inode = st.st_ino;
	}
	return kr_module_get(maps->modules, &id);
}

static const struct kr_place *place_of(const struct kc_maps *maps, const struct mapping *mapping,
				       const struct kunwind_frame *at)
{
	if (!mapping)
		return NULL;
	return kr_module_resolve(module_of(maps, mapping),
				 at->address - mapping->start + mapping->offset,
				 !(at->flags & KUNWIND_FRAME_INTERRUPTED));
}

static void print_frame(const struct kunwind_frame *at, const struct kr_frame *frame,
			const char *path)
{
	bool has_name = frame && frame->function[0];

	printf("    %#" PRIx64 "  ", (uint64_t)at->address);
	if (has_name) {
		kc_put(frame->function);
		if (!frame->inlined)
			printf("+%#" PRIx64, frame->offset);
		printf("  ");
	}
	kc_put(path);
	if (frame && !has_name)
		printf("+%#" PRIx64, frame->offset);
	if (frame && frame->line) {
		printf("  ");
		kc_put(frame->file);
		printf(":%" PRIu32, frame->line);
	}
	if (frame && frame->inlined)
		printf("  (inlined)");
	puts(at->flags & KUNWIND_FRAME_GUESSED ? "  [guessed]" : "");
}

static json_t *frame_json(const struct kunwind_frame *at, const struct kr_frame *frame,
			  const char *path)
{
	json_t *json = json_object();

	json_object_set_new(json, "address", json_integer((json_int_t)at->address));
	json_object_set_new(json, "interrupted",
			    json_boolean(at->flags & KUNWIND_FRAME_INTERRUPTED));
	json_object_set_new(json, "guessed",
			    json_boolean(at->flags & KUNWIND_FRAME_GUESSED));
	json_object_set_new(json, "module", kc_json_text(path));
	if (frame) {
		json_object_set_new(json, "function", kc_json_text(frame->function));
		json_object_set_new(json, "offset",
				    json_integer((json_int_t)frame->offset));
		json_object_set_new(json, "file", kc_json_text(frame->file));
		json_object_set_new(json, "line", json_integer(frame->line));
		json_object_set_new(json, "inlined", json_boolean(frame->inlined));
	}
	return json;
}

/* @json: an array where frames are added, or NULL to print them. */
static void show(const struct kunwind_bt *bt, const struct kc_maps *maps, json_t *json)
{
	const struct kunwind_frame *at = kunwind_backtrace_frames(bt);
	const struct kunwind_frame *end = at + kunwind_backtrace_count(bt);
	uint32_t j;

	for (; at < end; at++) {
		/* A return address can be the first byte after the mapping. */
		const struct mapping *mapping = find(maps, at->address -
			!(at->flags & KUNWIND_FRAME_INTERRUPTED));
		const struct kr_place *place = place_of(maps, mapping, at);
		const char *path = mapping ? mapping->path : "";

		for (j = 0; j < (place ? place->count : 1); j++) {
			const struct kr_frame *frame = place ? &place->frames[j] : NULL;

			if (json)
				json_array_append_new(json, frame_json(at, frame, path));
			else
				print_frame(at, frame, path);
		}
	}
}

void kc_frames_print(const struct kunwind_bt *bt, struct kc_maps *maps)
{
	show(bt, maps, NULL);
}

json_t *kc_frames_json(const struct kunwind_bt *bt, struct kc_maps *maps)
{
	json_t *json = json_array();

	show(bt, maps, json);
	return json;
}
