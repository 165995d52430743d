/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * Where a sink writes: the standard output, a file, or a folder of files. A file gets its name
 * when nothing more is written: then it is complete, or the reading was cut, and that is said.
 * Until then the text goes to a file of another name next to it, which only its owner may read,
 * as stacks of all processes are in it. A pipe or a device is
 * written as it is. A folder is treated like a file.
 *
 * A process that cannot make files is given a descriptor by another one, which gives what
 * is written its name, and finds nothing if that was not ended. A folder is packed into
 * one file for that.
 */
#ifndef KR_OUTPUT_H
#define KR_OUTPUT_H

#include <glib.h>
#include <stdbool.h>

/**
 * struct kr_output - where something is written
 * @fd: the file, or the folder
 * @path: what it is called at the end; NULL: as now
 * @partial: what it is called until then; NULL: likewise
 * @folder: it is one
 * @given: it is a descriptor of another process, and was not ended
 */
struct kr_output {
	int fd;
	char *path;
	char *partial;
	bool folder;
	bool given;
};

/* @path: NULL is the standard output. Return: false, with errno, if it cannot be written. */
bool kr_output_begin(struct kr_output *output, const char *path);

/* The same for a folder, which must not be there or be empty. */
bool kr_output_begin_folder(struct kr_output *output, const char *path);

/*
 * Begin a file or a folder. "/dev/fd/N" is a descriptor that another process has given.
 * Return: likewise.
 */
bool kr_output_begin_given(struct kr_output *output, const char *path, bool folder);

/* Return: a file to pack the folder's files into; -1 and errno. */
int kr_output_pack(const struct kr_output *output);

/* Make those files. Return: likewise. Names that lead out of the folder are refused. */
bool kr_output_unpack(const struct kr_output *output, int from);

/* Write the text and empty it. Return: likewise. */
bool kr_output_write(const struct kr_output *output, GString *text);

/* The same for a new file of the folder. */
bool kr_output_add(const struct kr_output *output, const char *name, GString *text);

/* All is written. Return: likewise. */
bool kr_output_end(struct kr_output *output);

/* Nothing more is written: what was not ended is removed. Ended or zeroed ones may be dropped. */
void kr_output_drop(struct kr_output *output);

#endif /* KR_OUTPUT_H */
