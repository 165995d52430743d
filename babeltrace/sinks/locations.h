/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * Frames with all that is known of them, each kept once. Flame graphs count by function;
 * formats that other tools continue with keep addresses, files and lines.
 */
#ifndef KR_LOCATIONS_H
#define KR_LOCATIONS_H

#include <stdbool.h>
#include <stdint.h>
#include "numbering.h"

struct kr_stack_frame;

/**
 * struct kr_location - a frame; strings are numbers of struct kr_strings
 * @address: its position in the module's file; without a file, that in memory
 * @name: what the frame is called
 * @module: path of the module's file; that of "" if unknown
 * @build_id: the module's, likewise
 * @file: source file, likewise
 * @line: in it; 0 if unknown
 * @inlined: it is part of the function of the next frame further out
 */
struct kr_location {
	uint64_t address;
	uint32_t name;
	uint32_t module;
	uint32_t build_id;
	uint32_t file;
	uint32_t line;
	uint32_t inlined;
};

struct kr_locations;

/* @strings: outlive the locations, and are shared with others. */
struct kr_locations *kr_locations_new(struct kr_strings *strings);
void kr_locations_free(struct kr_locations *locations);

/* Return: the number of a frame; the first is 0. */
uint32_t kr_locations_add(struct kr_locations *locations,
			  const struct kr_stack_frame *frame);

/* The same for frames that are missing. @name: says that, and why */
uint32_t kr_locations_add_missing(struct kr_locations *locations, const char *name);

const struct kr_location *kr_locations_get(const struct kr_locations *locations,
					   uint32_t number);

#endif /* KR_LOCATIONS_H */
