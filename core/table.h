/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* The unwind table of one file: immutable, position-independent, one block. */
#ifndef KUW_TABLE_H
#define KUW_TABLE_H

#include "kunwind_port.h"

struct kuw_table;

/**
 * kuw_table_bias() - where a mapping of the file puts its addresses
 * @table: the file's table
 * @start: first address of the mapping
 * @len: its bytes
 * @off: the file offset mapped at @start
 * @bias: address in memory minus address in the file, modulo 2^64
 *
 * Return: false if no executable segment of the file lies there.
 */
bool kuw_table_bias(const struct kuw_table *table, u64 start, u64 len, u64 off,
		    u64 *bias);

#endif /* KUW_TABLE_H */
