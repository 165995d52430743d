// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* A stream and its index, which are cut at 0xff 0xff: what is whole is never longer. */
#include <glib.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include "fuzz_reader.h"
#include "salvage.h"

/* libFuzzer's timer would end a sendfile() in the middle of a copy with EINTR. */
static void restart_after_alarm(void)
{
	struct sigaction alarm;

	sigaction(SIGALRM, NULL, &alarm);
	alarm.sa_flags |= SA_RESTART;
	sigaction(SIGALRM, &alarm, NULL);
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
	static const char metadata[] = "tracer_name = \"libkunwind\"";
	static const volatile sig_atomic_t stop;
	struct kc_salvage how = { .silent = true, .stop = &stop };
	struct stat st;
	const u8 *part;
	size_t length;
	char *copy, *path;

	setenv("TMPDIR", "/dev/shm", 1);
	restart_after_alarm();
	length = fuzz_part(&data, &size, &part);
	fuzz_write("index/stream.idx", part, length);
	/* So that packets are looked for without an index, too. */
	fuzz_write("metadata", (const u8 *)metadata, strlen(metadata));
	fuzz_write("stream", data, size);
	how.hidden = g_hash_table_new(g_str_hash, g_str_equal);
	how.sizes = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
	copy = kc_salvage(fuzz_folder(), &how);
	if (copy) {
		path = g_build_filename(copy, "stream", NULL);
		must(stat(path, &st) || (size_t)st.st_size < size);
		g_free(path);
		kc_salvage_remove(copy);
	}
	g_hash_table_destroy(how.hidden);
	g_hash_table_destroy(how.sizes);
	return 0;
}
