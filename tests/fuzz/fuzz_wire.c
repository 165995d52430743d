// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* Messages of a process that was taken over, and the files that it packs. */
#include <fcntl.h>
#include <glib.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>
#include "fuzz_reader.h"
#include "output.h"
#include "wire.h"

static void receive(const u8 *data, size_t size)
{
	enum kr_wire kind;
	GVariant *body;
	char *printed;
	int ends[2];

	must(!socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends));
	must(!size || write(ends[0], data, size) == (ssize_t)size);
	close(ends[0]);
	body = kr_wire_receive(ends[1], &kind, NULL);
	if (body) {
		must(kind < KR_NR_WIRES && g_variant_is_normal_form(body));
		printed = g_variant_print(body, TRUE);
		g_free(printed);
		g_variant_unref(body);
	}
	close(ends[1]);
}

static void unpack(const u8 *data, size_t size)
{
	struct kr_output folder;
	char path[64];
	int packed;

	snprintf(path, sizeof(path), "%s/folder", fuzz_folder());
	must(kr_output_begin_folder(&folder, path));
	packed = kr_output_pack(&folder);
	must(packed >= 0 && write(packed, data, size) == (ssize_t)size);
	(void)kr_output_unpack(&folder, packed);
	close(packed);
	kr_output_drop(&folder);
	snprintf(path, sizeof(path), "%s", fuzz_folder());
	/* What led out of the folder would be there. */
	must(!rmdir(path) && !mkdir(path, 0700));
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
	if (size && *data & 1)
		receive(data + 1, size - 1);
	else if (size)
		unpack(data + 1, size - 1);
	return 0;
}
