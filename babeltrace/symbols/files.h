/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * Opening a file whose name others chose: it may be that of a device, of a FIFO, or of
 * a file of the kernel, some of which do things when they are opened or read.
 */
#ifndef KR_FILES_H
#define KR_FILES_H

#include <stddef.h>
#include <stdint.h>

/**
 * kr_file_open() - open a regular file for reading
 * @root: where absolute paths and links lead to, or NULL for this machine's root
 * @path: the file
 *
 * Return: a file descriptor; -1 and errno, which is EINVAL if it is something else than
 * a regular file of a disk.
 */
int kr_file_open(const char *root, const char *path);

/* The same of a file that the user names, also by a link of /proc, such as /proc/PID/exe. */
int kr_file_open_named(const char *path);

/**
 * kr_file_find_nofollow() - find a file or folder, without opening it
 * @path: its path, of which no part is followed that is a symbolic link
 *
 * For what belongs to a trace: its owner would choose where a link leads.
 *
 * Return: a descriptor (O_PATH), of the link if the last part is one; -1 and errno.
 */
int kr_file_find_nofollow(const char *path);

/* As kr_file_open(), and follow no symbolic link; a link is no regular file. */
int kr_file_open_nofollow(const char *path);

/**
 * kr_file_read() - read a regular file
 * @root: as above
 * @path: likewise
 * @most: how long it may be
 * @length: set to its length, if not NULL
 *
 * Return: its bytes and a null byte, for g_free(); NULL and errno, which is EFBIG if it
 * is longer.
 */
char *kr_file_read(const char *root, const char *path, uint64_t most, size_t *length);

/* The same of a file that is open. */
char *kr_file_read_open(int fd, uint64_t most, size_t *length);

#endif /* KR_FILES_H */
