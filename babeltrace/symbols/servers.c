// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* Asking debuginfod's servers, and no longer than they may take. */
#include "servers.h"
#ifdef HAVE_LIBDEBUGINFOD
#include <elfutils/debuginfod.h>
#include <errno.h>
#include <glib.h>
#include <stdlib.h>
#include "reader_budgets.h"

struct question {
	const volatile sig_atomic_t *stop;
	int64_t until;
};

/*
 * libdebuginfod calls it once a second at least. Of a file that is coming, @all is the size: how
 * slowly it may come is for libdebuginfod to say. Return: whether to give it up.
 */
static int is_enough(debuginfod_client *client, long done, long all)
{
	const struct question *question = debuginfod_get_user_data(client);

	(void)done;
	return *question->stop || (all <= 0 && g_get_monotonic_time() > question->until);
}

int kr_servers_ask(struct kr_servers *servers, const uint8_t *id, size_t length, bool debug)
{
	const char *urls = getenv("DEBUGINFOD_URLS");
	int64_t begin = g_get_monotonic_time();
	struct question question = {
		.stop = servers->stop, .until = begin + KR_SERVER_S * G_USEC_PER_SEC,
	};
	debuginfod_client *client;
	int fd;

	if (!urls || !*urls || !length || servers->given_up || *servers->stop)
		return -1;
	client = debuginfod_begin();
	if (!client)
		return -1;
	debuginfod_set_user_data(client, &question);
	debuginfod_set_progressfn(client, is_enough);
	fd = debug ? debuginfod_find_debuginfo(client, id, (int)length, NULL) :
		     debuginfod_find_executable(client, id, (int)length, NULL);
	debuginfod_end(client);
	servers->waited_us += g_get_monotonic_time() - begin;
	servers->given_up = fd == -ETIME ||
			    (fd < 0 && g_get_monotonic_time() > question.until) ||
			    servers->waited_us > KR_SERVERS_S * G_USEC_PER_SEC;
	return fd < 0 ? -1 : fd;
}
#else
int kr_servers_ask(struct kr_servers *servers, const uint8_t *id, size_t length, bool debug)
{
	(void)servers;
	(void)id;
	(void)length;
	(void)debug;
	return -1;
}
#endif
