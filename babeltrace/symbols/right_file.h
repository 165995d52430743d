/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* Whether a file that the keeper passes is the one that is meant. */
#ifndef KR_RIGHT_FILE_H
#define KR_RIGHT_FILE_H

#include <glib.h>
#include <stdint.h>
#include "wire.h"

/* @id: the build ID that is wanted; if it is empty, the inode is compared. */
enum kr_match kr_right_file(int fd, GBytes *id, uint64_t dev, uint64_t inode);

/**
 * kr_right_debug() - ask the keeper for separate debug information
 * @keeper: its socket; this process ends if the keeper does
 * @name: what the file's .gnu_debuglink or .gnu_debugaltlink says, or ""
 * @id: the build ID that it has
 * @crc: its sum, where @id is empty; or NULL
 *
 * Return: the file, which the caller closes; -1 if there is none.
 */
int kr_right_debug(int keeper, const char *name, GBytes *id, const uint32_t *crc);

#endif /* KR_RIGHT_FILE_H */
