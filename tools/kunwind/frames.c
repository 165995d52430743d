// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* The frames of a live process, with names: from its memory map, and from the files in it. */
#include <errno.h>
#include <glib.h>
#include <inttypes.h>
#include <jansson.h>
#include <libkunwind.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "command.h"
#include "frames.h"
#include "helper.h"
#include "module.h"
#include "reader_budgets.h"

/* One executable line of /proc/PID/maps. @dev, @inode: of its file; 0 if another is at the path. */
struct mapping {
	uint64_t start;
	uint64_t end;
	uint64_t offset;
	uint64_t dev;
	uint64_t inode;
	char *path;
};

struct kc_maps {
	struct kr_modules *modules;
	/* What a child has sent, see send_maps(). */
	GByteArray *bytes;
	struct mapping *list;
	size_t count;
};

static unsigned int patience_ms = KR_MAPS_MS;

void kc_maps_begin(void)
{
	patience_ms = KR_MAPS_MS;
}

/* Return: whether the line is an executable mapping. Its path is in the line. */
static bool take_apart(char *line, struct mapping *m)
{
	char rights[8] = "";
	int path = 0;

	if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %7s %" SCNx64 " %*s %" SCNu64 " %n", &m->start,
		   &m->end, rights, &m->offset, &m->inode, &path) < 5 || !strchr(rights, 'x'))
		return false;
	m->path = line + path;
	m->path[strcspn(m->path, "\n")] = '\0';
	return true;
}

/* Whose mappings, and where its files are. */
struct asked {
	pid_t pid;
	const char *root;
};

/* In the child: write each mapping, and its path with a 0. Return: an exit status, of errno. */
static int send_maps(const void *data, int to)
{
	const struct asked *asked = data;
	char name[64], path[5000], *line = NULL;
	struct mapping m = { 0 };
	size_t room = 0;
	struct stat st;
	FILE *file;

	snprintf(name, sizeof(name), "/proc/%d/maps", asked->pid);
	file = fopen(name, "re");
	if (!file)
		return errno;
	while (getline(&line, &room, file) > 0) {
		if (!take_apart(line, &m))
			continue;
		/* The kernel gives paths from this process's root, if they are below it. */
		snprintf(path, sizeof(path), "%s%s", asked->root, m.path);
		if (m.path[0] != '/' || stat(path, &st) || st.st_ino != m.inode)
			st = (struct stat) { 0 };
		m.dev = st.st_dev;
		m.inode = st.st_ino;
		if (write(to, &m, sizeof(m)) < 0 || write(to, m.path, strlen(m.path) + 1) < 0)
			return errno;
	}
	return 0;
}

/* A child reads them. Return: 0 or a negative errno. */
static int read_maps(pid_t pid, const char *root, GByteArray *bytes)
{
	const struct asked asked = { pid, root };
	unsigned int most_ms = MAX(patience_ms, KR_MAPS_LEAST_MS);
	gint64 begin = g_get_monotonic_time();
	struct kc_helper helper;
	int err = kc_helper_start(&helper, pid, send_maps, &asked), status = -1;

	if (err && err != -EBUSY)
		return err;
	if (!err)
		status = kc_helper_end(&helper, bytes, most_ms);
	patience_ms -= MIN(patience_ms, (g_get_monotonic_time() - begin) / 1000);
	if (status >= 0)
		return -status;
	kc_error(NULL, "process %d: its memory map cannot be read: names are missing", pid);
	return 0;
}

/* Take apart what a child has sent, up to the last whole mapping. */
static void list_maps(struct kc_maps *maps)
{
	size_t left = maps->bytes->len, room = 0, length;
	char *at = (char *)maps->bytes->data;

	while (left > sizeof(struct mapping)) {
		left -= sizeof(struct mapping);
		length = strnlen(at + sizeof(struct mapping), left);
		if (length == left)
			return;
		if (maps->count == room) {
			room = room ? 2 * room : 16;
			maps->list = g_renew(struct mapping, maps->list, room);
		}
		memcpy(&maps->list[maps->count], at, sizeof(struct mapping));
		maps->list[maps->count++].path = at + sizeof(struct mapping);
		at += sizeof(struct mapping) + length + 1;
		left -= length + 1;
	}
}

struct kc_maps *kc_maps_new(pid_t pid, const char *root, struct kr_modules *modules)
{
	struct kc_maps *maps = g_new0(struct kc_maps, 1);
	int err;

	maps->modules = modules;
	maps->bytes = g_byte_array_new();
	err = read_maps(pid, root, maps->bytes);
	if (err) {
		kc_maps_free(maps);
		errno = -err;
		return NULL;
	}
	list_maps(maps);
	return maps;
}

void kc_maps_free(struct kc_maps *maps)
{
	if (!maps)
		return;
	g_byte_array_unref(maps->bytes);
	g_free(maps->list);
	g_free(maps);
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
	struct kr_module_id id = {
		.path = mapping->path, .dev = mapping->dev, .inode = mapping->inode,
	};

	return kr_module_get(maps->modules, &id);
}

static const struct kr_place *place_of(const struct kc_maps *maps, const struct mapping *mapping,
				       const struct kunwind_frame *at)
{
	/* What is at the path of a deleted file is another one. */
	if (!mapping || (mapping->path[0] == '/' && !mapping->inode))
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
