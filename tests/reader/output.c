// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* A folder that comes packed in a file, from a process that may have been taken over. */
#include <errno.h>
#include <glib.h>
#include <glib/gstdio.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "output.h"
#include "tap.h"

static char top[] = "/tmp/output-XXXXXX";
static struct kr_output folder;
static int packed;

static void begin(void)
{
	char *path = g_build_filename(top, "folder", NULL);

	if (!kr_output_begin_folder(&folder, path))
		tap_bail("%s: %s", path, strerror(errno));
	packed = kr_output_pack(&folder);
	if (packed < 0)
		tap_bail("packing: %s", strerror(errno));
	g_free(path);
}

static void end(void)
{
	close(packed);
	kr_output_drop(&folder);
}

static void append(const void *bytes, size_t length)
{
	if (write(packed, bytes, length) != (ssize_t)length)
		tap_bail("write: %s", strerror(errno));
}

static void add(const char *name, uint64_t name_length, uint64_t length)
{
	const uint64_t head[] = { name_length, length };

	append(head, sizeof(head));
	append(name, strlen(name));
	append("text", 4);
}

/* @bytes: how long the text claims to be */
static void refuses(const char *what, const char *name, uint64_t name_length, uint64_t bytes)
{
	char *outside = g_build_filename(top, "outside", NULL);

	begin();
	add(name, name_length, bytes);
	tap_ok(!kr_output_unpack(&folder, packed) && access(outside, F_OK), "%s", what);
	end();
	g_free(outside);
}

static void test_good(void)
{
	char *given = NULL, *path, *text = NULL;
	GString *from = g_string_new("some text");
	struct kr_output child;

	begin();
	given = g_strdup_printf("/dev/fd/%d", packed);
	tap_ok(kr_output_begin_given(&child, given, true) &&
	       kr_output_add(&child, "a file", from) && kr_output_add(&child, "empty", from) &&
	       kr_output_end(&child), "files are packed");
	kr_output_drop(&child);
	tap_ok(kr_output_unpack(&folder, packed) && kr_output_end(&folder), "and unpacked");
	path = g_build_filename(top, "folder", "a file", NULL);
	tap_ok(g_file_get_contents(path, &text, NULL, NULL) && !strcmp(text, "some text"),
	       "with their text");
	unlink(path);
	g_free(path);
	path = g_build_filename(top, "folder", "empty", NULL);
	tap_ok(!unlink(path), "or without one");
	g_free(path);
	path = g_build_filename(top, "folder", NULL);
	tap_ok(!rmdir(path), "and nothing else");
	g_free(path);
	g_free(given);
	g_free(text);
	g_string_free(from, TRUE);
	end();
}

/* What was not ended is worth nothing. */
static void test_cut(void)
{
	GString *from = g_string_new("some text");
	struct kr_output child;
	char *given;

	begin();
	given = g_strdup_printf("/dev/fd/%d", packed);
	tap_ok(kr_output_begin_given(&child, given, true) &&
	       kr_output_add(&child, "file", from), "a folder that is not ended");
	kr_output_drop(&child);
	tap_ok(!lseek(packed, 0, SEEK_END), "has no files");
	g_free(given);
	g_string_free(from, TRUE);
	end();
}

/* Another user, whose folder it is in, gives its name to a link to a folder of others. */
static void test_swapped(void)
{
	char *others = g_build_filename(top, "others", NULL);
	char *file = g_build_filename(others, "file", NULL);
	char *away = g_build_filename(top, "away", NULL), *name, *mine;
	GString *from = g_string_new("some text");

	if (g_mkdir(others, 0700) || !g_file_set_contents(file, "text", 4, NULL))
		tap_bail("%s: %s", file, strerror(errno));
	begin();
	name = g_strdup(folder.partial);
	mine = g_build_filename(away, "mine", NULL);
	if (!kr_output_add(&folder, "mine", from) || rename(name, away) || symlink(others, name))
		tap_bail("%s: %s", name, strerror(errno));
	end();
	tap_ok(!access(file, F_OK), "files that a link leads to stay");
	tap_ok(access(mine, F_OK) && !rmdir(away), "its own are removed");
	unlink(name);
	unlink(file);
	rmdir(others);
	g_string_free(from, TRUE);
	g_free(mine);
	g_free(name);
	g_free(away);
	g_free(file);
	g_free(others);
}

static void test_names(void)
{
	char name[NAME_MAX + 2];

	memset(name, 'x', sizeof(name));
	name[sizeof(name) - 1] = '\0';
	refuses("a name that leads out of the folder", "../outside", 10, 4);
	refuses("a folder's own name", ".", 1, 4);
	refuses("a hidden name", ".outside", 8, 4);
	refuses("a path", "a/b", 3, 4);
	refuses("an absolute path", "/tmp/x", 6, 4);
	refuses("no name", "", 0, 4);
	refuses("a name that is too long", name, sizeof(name) - 1, 4);
	refuses("a name that ends behind the file", "x", 200, 4);
	refuses("a name of 2^64 bytes", "x", UINT64_MAX, 4);
	refuses("a text that ends behind the file", "x", 1, 5);
	refuses("a text of 2^64 bytes", "x", 1, UINT64_MAX);
	refuses("a text before a piece of a head", "x", 1, 3);
	begin();
	add("x", 1, 4);
	add("x", 1, 4);
	tap_ok(!kr_output_unpack(&folder, packed), "a name twice");
	end();
}

int main(void)
{
	if (!mkdtemp(top))
		tap_bail("mkdtemp: %s", strerror(errno));
	test_good();
	test_cut();
	test_swapped();
	test_names();
	rmdir(top);
	return tap_done();
}
