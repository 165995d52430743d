/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* Messages of protobuf-c, one after the other, compressed as gzip does (RFC 1952). */
#ifndef KR_GZIP_H
#define KR_GZIP_H

#include <glib.h>
#include <protobuf-c/protobuf-c.h>
#include <zlib.h>

/**
 * struct kr_gzip - a file that grows
 * @buffer: for protobuf_c_message_pack_to_buffer()
 * @stream: zlib's
 * @out: what there is of the file
 */
struct kr_gzip {
	ProtobufCBuffer buffer;
	z_stream stream;
	GString *out;
};

void kr_gzip_begin(struct kr_gzip *gzip);

/* Return: the whole file. */
GString *kr_gzip_end(struct kr_gzip *gzip);

#endif /* KR_GZIP_H */
