// SPDX-License-Identifier: MIT
/*
 * Samples a part of itself: the trace is in the folder that is named.
 *
 *	cc -g profile.c $(pkg-config --cflags --libs libkunwind) -o profile
 *	./profile /tmp/profile && kunwind report --top /tmp/profile
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <libkunwind.h>

#define HZ	99

static int compare(const void *a, const void *b)
{
	return strcmp(a, b);
}

/* What is to be made faster. */
static void work(void)
{
	static char words[200000][8];

	for (int round = 0; round < 10; round++) {
		for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
			snprintf(words[i], sizeof(words[i]), "%x", rand() & 0xffffff);
		qsort(words, sizeof(words) / sizeof(words[0]), sizeof(words[0]), compare);
	}
}

int main(int argc, char **argv)
{
	struct kunwind_handle *handle;
	int ret = kunwind_open(&handle);

	if (ret < 0) {
		fprintf(stderr, "kunwind_open: %s\n", strerror(-ret));
		return EXIT_FAILURE;
	}
	ret = kunwind_profile_start(handle, HZ, argc > 1 ? argv[1] : NULL);
	kunwind_close(handle);
	if (ret < 0) {
		fprintf(stderr, "kunwind_profile_start: %s\n", strerror(-ret));
		return EXIT_FAILURE;
	}
	work();
	ret = kunwind_profile_stop();
	if (ret < 0)
		fprintf(stderr, "kunwind_profile_stop: %s\n", strerror(-ret));
	else if (ret)
		fprintf(stderr, "%d samples were lost\n", ret);
	return ret < 0 ? EXIT_FAILURE : EXIT_SUCCESS;
}
