// SPDX-License-Identifier: MIT
#include "tap.h"

static int points;
static int failures;

int tap_ok(int good, const char *name, ...)
{
	va_list args;

	points++;
	failures += !good;
	printf("%sok %d - ", good ? "" : "not ", points);
	va_start(args, name);
	vprintf(name, args);
	va_end(args);
	putchar('\n');
	fflush(stdout);
	return good;
}

void tap_skip(const char *name, const char *why)
{
	printf("ok %d - %s # SKIP %s\n", ++points, name, why);
	fflush(stdout);
}

void tap_diag(const char *format, ...)
{
	va_list args;

	printf("# ");
	va_start(args, format);
	vprintf(format, args);
	va_end(args);
	putchar('\n');
	fflush(stdout);
}

int tap_done(void)
{
	printf("1..%d\n", points);
	fflush(stdout);
	return failures ? EXIT_FAILURE : EXIT_SUCCESS;
}

void tap_skip_all(const char *why)
{
	printf("1..0 # SKIP %s\n", why);
	fflush(stdout);
	exit(77);
}

void tap_bail(const char *format, ...)
{
	va_list args;

	printf("Bail out! ");
	va_start(args, format);
	vprintf(format, args);
	va_end(args);
	putchar('\n');
	fflush(stdout);
	exit(99);
}
