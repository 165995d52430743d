// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* Compressed messages. */
#include "gzip.h"

/* What deflateInit2() takes: the largest window, and gzip's header. */
#define GZIP_BITS	(15 + 16)
#define MEMORY_LEVEL	8

static void deflate_more(struct kr_gzip *gzip, int flush)
{
	unsigned char chunk[16384];

	do {
		gzip->stream.next_out = chunk;
		gzip->stream.avail_out = sizeof(chunk);
		(void)deflate(&gzip->stream, flush);
		g_string_append_len(gzip->out, (const char *)chunk,
				    sizeof(chunk) - gzip->stream.avail_out);
	} while (!gzip->stream.avail_out);
}

static void append(ProtobufCBuffer *buffer, size_t length, const uint8_t *data)
{
	/* The buffer is the first member. */
	struct kr_gzip *gzip = (struct kr_gzip *)buffer;

	gzip->stream.next_in = (unsigned char *)data;
	gzip->stream.avail_in = (unsigned int)length;
	deflate_more(gzip, Z_NO_FLUSH);
}

void kr_gzip_begin(struct kr_gzip *gzip)
{
	*gzip = (struct kr_gzip) {
		.buffer.append = append, .out = g_string_new(NULL),
	};
	if (deflateInit2(&gzip->stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, GZIP_BITS,
			 MEMORY_LEVEL, Z_DEFAULT_STRATEGY) != Z_OK)
		g_error("kunwind: there is no memory to compress with");
}

GString *kr_gzip_end(struct kr_gzip *gzip)
{
	deflate_more(gzip, Z_FINISH);
	deflateEnd(&gzip->stream);
	return gzip->out;
}
