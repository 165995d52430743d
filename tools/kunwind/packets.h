/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * Where the packets of a stream's file end. LTTng's index says it (struct ctf_packet_index of
 * lttng-tools, big-endian). libkunwind writes no index, but the begin of its packets is always
 * the same (libkunwind/src/stream.c).
 */
#ifndef KC_PACKETS_H
#define KC_PACKETS_H

#include <stdbool.h>
#include <stdint.h>

/* Why an index cannot be used. */
enum kc_bad_index {
	KC_INDEX_GOOD,		/* or there is none */
	KC_INDEX_UNREADABLE,
	KC_INDEX_TOO_LONG,
};

/**
 * struct kc_packets - the packets of a stream's file
 * @budget: in and out: how many packets of all files were looked at, KR_PACKETS at most
 * @whole: out: how many bytes are whole packets; all if that is not known
 * @lost: out: how many more packets the index tells of
 * @unknown: out: there was no budget to find out
 * @bad_index: out: why the index cannot be used
 * @error: out: errno, if it is unreadable
 */
struct kc_packets {
	unsigned int *budget;
	uint64_t whole;
	uint64_t lost;
	bool unknown;
	enum kc_bad_index bad_index;
	int error;
};

/* Look at the file @name of a trace's folder, which is open as @fd and has @size bytes. */
void kc_packets_find(struct kc_packets *packets, const char *folder, const char *name, int fd,
		     uint64_t size);

#endif /* KC_PACKETS_H */
