/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * Messages between the reader, its parent (parent.h) and the symbolizer (keeper.h). Each is a
 * GVariant of a known type: GLib checks what a process sends that may have been taken over.
 */
#ifndef KR_WIRE_H
#define KR_WIRE_H

#include <glib.h>
#include <stdbool.h>

/**
 * enum kr_wire - kinds of messages
 * @KR_OPEN: a file descriptor: is that the file?
 * @KR_MATCHED: an enum kr_match
 * @KR_LOOK: what is at an address of a file that matched?
 * @KR_ANSWER: frames
 * @KR_REOPEN: the file was closed meanwhile
 * @KR_FIND: where is the debug information?
 * @KR_FOUND: here, or that was the last place
 * @KR_RESOLVE: to the parent: what is at an address of a file?
 * @KR_RESOLVED: frames, and what is to say of the file (struct kr_about)
 * @KR_ASK_PACKAGES: to the parent: which packages have the symbols of files?
 * @KR_PACKAGES: these
 */
enum kr_wire {
	KR_OPEN,
	KR_MATCHED,
	KR_LOOK,
	KR_ANSWER,
	KR_REOPEN,
	KR_FIND,
	KR_FOUND,
	KR_RESOLVE,
	KR_RESOLVED,
	KR_ASK_PACKAGES,
	KR_PACKAGES,
	KR_NR_WIRES
};

/* number, path, build ID, device, inode */
#define KR_OPEN_TYPE	"(uayaytt)"
#define KR_MATCHED_TYPE	"(u)"
/* number, offset, is a return address */
#define KR_LOOK_TYPE	"(utb)"
/* signal, by_fde, guessed, (function, file, offset, line, inlined) */
#define KR_ANSWER_TYPE	"(bbba(ayaytub))"
#define KR_REOPEN_TYPE	"(u)"
/* name or "", build ID, how many were found already */
#define KR_FIND_TYPE	"(ayayu)"
/* whether to ask for another one */
#define KR_FOUND_TYPE	"(b)"
/* number, path, build ID, device, inode, offset, is a return address */
#define KR_RESOLVE_TYPE	"(uayaytttb)"
/* struct kr_about, and KR_ANSWER's body, if there is one */
#define KR_RESOLVED_TYPE "(ubm" KR_ANSWER_TYPE ")"
#define KR_ASK_PACKAGES_TYPE "(aay)"
#define KR_PACKAGES_TYPE "(aay)"

enum kr_match {
	KR_MATCHES,
	KR_DIFFERS,
	KR_SAME_INODE,
	KR_OTHER_INODE,
	KR_NO_ELF,
};

/* Send a message, which is freed. @passed: a file descriptor, or -1 */
bool kr_wire_send(int socket, enum kr_wire kind, GVariant *body, int passed);

/**
 * kr_wire_receive() - wait for a message
 * @socket: where
 * @kind: set to what it is
 * @passed: set to the file descriptor that came with it, or -1; NULL: none is taken
 *
 * Return: NULL if the other side has ended, or what it sent is no message.
 */
GVariant *kr_wire_receive(int socket, enum kr_wire *kind, int *passed);

/* Bytes that are no text, such as a build ID. */
GVariant *kr_wire_bytes(const void *bytes, gsize length);

#endif /* KR_WIRE_H */
