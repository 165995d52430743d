/* SPDX-License-Identifier: MIT */
/* What describes a profile's trace: the file metadata of CTF 1.8. */
#ifndef LIBKUNWIND_METADATA_H
#define LIBKUNWIND_METADATA_H

/* Streams, and the events in them. */
#define METADATA_SAMPLES	0
#define METADATA_SAMPLE		0
#define METADATA_CODE		1
#define METADATA_MAP		0
#define METADATA_UNMAP		1

/* Write the file. Return: 0 or a negative errno. */
int kunwind_metadata_write(int folder);

#endif /* LIBKUNWIND_METADATA_H */
