// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* Children that may wait for ever: see helper.h. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>
#include "helper.h"
#include "sandbox.h"

/* Those that were killed and have not ended: struct kc_helper. For the main thread alone. */
static GArray *killed;

static void reap_killed(void)
{
	guint i = killed->len;

	while (i--)
		if (waitpid(g_array_index(killed, struct kc_helper, i).pid, NULL, WNOHANG))
			g_array_remove_index_fast(killed, i);
}

static bool is_waited_for(pid_t about)
{
	guint i;

	for (i = 0; i < killed->len; i++)
		if (about && g_array_index(killed, struct kc_helper, i).about == about)
			return true;
	return false;
}

int kc_helper_start(struct kc_helper *helper, pid_t about, int (*work)(const void *data, int to),
		    const void *data)
{
	int ends[2];

	if (!killed)
		killed = g_array_new(FALSE, FALSE, sizeof(struct kc_helper));
	reap_killed();
	if (is_waited_for(about))
		return -EBUSY;
	if (pipe2(ends, O_CLOEXEC))
		return -errno;
	*helper = (struct kc_helper){ .pid = fork(), .about = about, .from = ends[0] };
	if (!helper->pid)
		_exit(work(data, kr_sandbox_keep(ends[1])));
	close(ends[1]);
	if (helper->pid > 0)
		return 0;
	close(ends[0]);
	return -EAGAIN;
}

/* Return: whether all came in time. */
static bool receive(int from, GByteArray *said, unsigned int patience_ms)
{
	gint64 begin = g_get_monotonic_time(), waited_ms = 0;
	struct pollfd ready = { .fd = from, .events = POLLIN };
	guint8 piece[1 << 12];
	ssize_t size = 1;

	while (size > 0 && waited_ms < patience_ms) {
		if (poll(&ready, 1, (int)(patience_ms - waited_ms)) > 0) {
			size = read(from, piece, sizeof(piece));
			if (size > 0)
				g_byte_array_append(said, piece, (guint)size);
		}
		waited_ms = (g_get_monotonic_time() - begin) / 1000;
	}
	return size <= 0;
}

int kc_helper_end(struct kc_helper *helper, GByteArray *said, unsigned int patience_ms)
{
	bool came = receive(helper->from, said, patience_ms);
	pid_t ended;
	int status;

	close(helper->from);
	if (came) {
		do {
			ended = waitpid(helper->pid, &status, 0);
		} while (ended < 0 && errno == EINTR);
		return ended > 0 && WIFEXITED(status) ? WEXITSTATUS(status) : -1;
	}
	kill(helper->pid, SIGKILL);
	g_array_append_val(killed, *helper);
	return -1;
}
