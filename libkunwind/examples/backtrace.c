// SPDX-License-Identifier: MIT
/*
 * Prints its own call stack.
 *
 *	cc backtrace.c $(pkg-config --cflags --libs libkunwind) -o backtrace
 *
 * To look up the addresses, use addr2line(1), or eu-addr2line -p PID.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <libkunwind.h>

#define CAPACITY	64

static void print(const struct kunwind_bt *bt)
{
	const struct kunwind_frame *frames = kunwind_backtrace_frames(bt);
	uint32_t count = kunwind_backtrace_count(bt);
	uint32_t stop = kunwind_backtrace_stop(bt);

	for (uint32_t i = 0; i < count; i++)
		printf("[%" PRIu32 "] 0x%" PRIx64 "%s%s\n", i,
		       (uint64_t)frames[i].address,
		       frames[i].flags & KUNWIND_FRAME_INTERRUPTED ?
		       " (interrupted)" : "",
		       frames[i].flags & KUNWIND_FRAME_GUESSED ? " (guessed)" : "");
	printf("%s: %s\n", kunwind_stop_name(stop), kunwind_stop_text(stop));
}

static int inner(struct kunwind_handle *handle)
{
	struct kunwind_bt *bt = kunwind_backtrace_new(CAPACITY);
	int ret;

	if (!bt) {
		perror("kunwind_backtrace_new");
		return EXIT_FAILURE;
	}
	ret = kunwind_backtrace(handle, bt);
	if (ret < 0)
		fprintf(stderr, "kunwind_backtrace: %s\n", strerror(-ret));
	else
		print(bt);
	kunwind_backtrace_free(bt);
	return ret < 0 ? EXIT_FAILURE : EXIT_SUCCESS;
}

static int outer(struct kunwind_handle *handle)
{
	return inner(handle);
}

int main(void)
{
	struct kunwind_handle *handle;
	int ret = kunwind_open(&handle);

	if (ret < 0) {
		fprintf(stderr, "kunwind_open: %s\n", strerror(-ret));
		return EXIT_FAILURE;
	}
	ret = outer(handle);
	kunwind_close(handle);
	return ret;
}
