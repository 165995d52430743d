/* SPDX-License-Identifier: MIT */
/* The parameters of kunwind-test.ko (tests/module/main.c). */
#ifndef TESTS_PARAMETERS_H
#define TESTS_PARAMETERS_H

#include <err.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define PARAMETERS	"/sys/module/kunwind_test/parameters/"

static void set(const char *parameter, const char *value)
{
	char path[128];
	int fd;

	snprintf(path, sizeof(path), PARAMETERS "%s", parameter);
	fd = open(path, O_WRONLY | O_CLOEXEC);
	if (fd < 0 || write(fd, value, strlen(value)) < 0)
		err(2, "%s", path);
	close(fd);
}

#endif /* TESTS_PARAMETERS_H */
