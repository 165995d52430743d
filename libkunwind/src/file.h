/* SPDX-License-Identifier: MIT */
/*
 * A file of the library. The program may have closed all its files, and opened others with the
 * same numbers. So a descriptor is used only while it is the file that it was at first.
 */
#ifndef LIBKUNWIND_FILE_H
#define LIBKUNWIND_FILE_H

#include <stdint.h>
#include <sys/types.h>

/* An open file; of zeros there is none. @dev, @ino: which one it is. */
struct kunwind_file {
	int fd;
	dev_t dev;
	ino_t ino;
};

/*
 * A daemon may have closed files 0, 1 and 2, and still print to them. Return: @fd, or a duplicate
 * that is none of these, in its place; -1, with errno, if there is none or if @fd is -1.
 */
int kunwind_file_move(int fd);

/* Take over @fd, or the error in errno if it is -1. Return: 0 or a negative errno. */
int kunwind_file_take(struct kunwind_file *file, int fd);
void kunwind_file_close(struct kunwind_file *file);

/*
 * Return: whether RLIMIT_FSIZE allows a file of @size bytes. More would be a signal that ends
 * the program, SIGXFSZ. Async-signal-safe, and leaves errno alone.
 */
int kunwind_file_may_have(uint64_t size);

/* Return: whether it is still the same file. Async-signal-safe, and leaves errno alone. */
int kunwind_file_is_own(const struct kunwind_file *file);

#endif /* LIBKUNWIND_FILE_H */
