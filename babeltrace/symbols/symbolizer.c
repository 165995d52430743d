// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * The process that reads ELF files and their debug information. It opens none: the
 * keeper passes them on, those that libdwfl looks for included.
 */
#include <glib.h>
#include <stdbool.h>
#include <string.h>
#include <unistd.h>
#include "opened.h"
#include "reader_budgets.h"
#include "right_file.h"
#include "sandbox.h"
#include "symbolizer.h"
#include "wire.h"

static int keeper_socket;

/*
 * A name as bytes. Of one that is too long, the middle is left out: templates' arguments are there,
 * and each frame of each event will have it. A hash in its place keeps different names different.
 */
static GVariant *pack_name(const char *name)
{
	size_t length = strlen(name), head = KR_NAME_BYTES / 2, tail = length - MIN(length, head);
	GVariant *packed;
	char *cut;

	if (length <= KR_NAME_BYTES)
		return g_variant_new_bytestring(name);
	/* Not within a character of UTF-8. */
	while (head && (name[head] & 0xc0) == 0x80)
		head--;
	while (name[tail] && (name[tail] & 0xc0) == 0x80)
		tail++;
	cut = g_strdup_printf("%.*s[...%08x]%s", (int)head, name, g_str_hash(name), name + tail);
	packed = g_variant_new_bytestring(cut);
	g_free(cut);
	return packed;
}

static GVariant *pack(const struct kr_place *place)
{
	GVariantBuilder frames;
	uint32_t i;

	g_variant_builder_init(&frames, G_VARIANT_TYPE("a(ayaytub)"));
	for (i = 0; place && i < place->count; i++) {
		const struct kr_frame *frame = &place->frames[i];

		g_variant_builder_add(&frames, "(@ay@aytub)",
				      pack_name(frame->function),
				      pack_name(frame->file),
				      frame->offset, frame->line, frame->inlined);
	}
	return g_variant_new(KR_ANSWER_TYPE, place && place->signal, place && place->by_fde,
			     place && place->guessed, &frames);
}

static GVariant *look(struct kr_opened *file, uint64_t offset, bool call)
{
	GStringChunk *strings = g_string_chunk_new(4096);
	struct kr_place *place = kr_opened_look(file, strings, offset, call);
	GVariant *packed = pack(place);

	g_free(place);
	g_string_chunk_free(strings);
	return packed;
}

static bool serve_open(GVariant *body, int fd)
{
	uint64_t dev, inode;
	enum kr_match result = KR_NO_ELF;
	guint32 number;
	const char *path;
	GVariant *bytes;
	GBytes *id;

	g_variant_get(body, "(u^&ay@aytt)", &number, &path, &bytes, &dev, &inode);
	id = g_variant_get_data_as_bytes(bytes);
	if (fd >= 0)
		result = kr_right_file(fd, id, dev, inode);
	if (result == KR_DIFFERS || result == KR_NO_ELF)
		close(fd);
	else if (!kr_opened_add(number, path, id, fd))
		result = KR_NO_ELF;
	g_bytes_unref(id);
	g_variant_unref(bytes);
	return kr_wire_send(keeper_socket, KR_MATCHED,
			    g_variant_new("(u)", (guint32)result), -1);
}

static bool serve_look(GVariant *body)
{
	struct kr_opened *file;
	gboolean call;
	uint64_t offset;
	guint32 number;

	g_variant_get(body, KR_LOOK_TYPE, &number, &offset, &call);
	file = kr_opened_use(number);
	if (!file)
		return kr_wire_send(keeper_socket, KR_REOPEN, g_variant_new("(u)", number),
				    -1);
	return kr_wire_send(keeper_socket, KR_ANSWER, look(file, offset, call), -1);
}

static bool serve(void)
{
	enum kr_wire kind;
	bool done = false;
	GVariant *body;
	int fd;

	body = kr_wire_receive(keeper_socket, &kind, &fd);
	if (!body)
		return false;
	if (kind == KR_OPEN)
		done = serve_open(body, fd);
	else if (kind == KR_LOOK)
		done = serve_look(body);
	g_variant_unref(body);
	return done;
}

void kr_symbolizer_run(int keeper)
{
	keeper_socket = keeper;
	kr_opened_begin(keeper);
	if (kr_sandbox_enter(NULL))
		while (serve())
			;
	_exit(0);
}
