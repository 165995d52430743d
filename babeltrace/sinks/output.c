// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* Where a sink writes. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>
#include "output.h"

bool kr_output_begin(struct kr_output *output, const char *path)
{
	struct stat st;
	char *target;

	*output = (struct kr_output){ .fd = STDOUT_FILENO };
	if (!path)
		return true;
	if (!stat(path, &st) && !S_ISREG(st.st_mode)) {
		output->fd = open(path, O_WRONLY | O_CLOEXEC);
		return output->fd >= 0;
	}
	/* What a link leads to is replaced, not the link. */
	target = realpath(path, NULL);
	output->path = g_strdup(target ?: path);
	free(target);
	output->partial = g_strdup_printf("%s.XXXXXX", output->path);
	output->fd = mkostemp(output->partial, O_CLOEXEC);
	if (output->fd >= 0)
		return true;
	g_clear_pointer(&output->partial, g_free);
	g_clear_pointer(&output->path, g_free);
	return false;
}

bool kr_output_write(const struct kr_output *output, GString *text)
{
	gsize done = 0;
	ssize_t n;

	while (done < text->len) {
		n = write(output->fd, text->str + done, text->len - done);
		/* Ctrl-C is babeltrace2's to handle; what was begun is finished. */
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return false;
		done += n;
	}
	g_string_truncate(text, 0);
	return true;
}

bool kr_output_end(struct kr_output *output)
{
	if (output->partial && rename(output->partial, output->path))
		return false;
	g_clear_pointer(&output->partial, g_free);
	return true;
}

void kr_output_drop(struct kr_output *output)
{
	if (output->partial)
		unlink(output->partial);
	g_clear_pointer(&output->partial, g_free);
	g_clear_pointer(&output->path, g_free);
	if (output->fd > STDERR_FILENO)
		close(output->fd);
	output->fd = -1;
}
