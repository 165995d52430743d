/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* The fields of a mapping, the same in kunwind_map and kunwind_statedump_map. */
#ifndef MAPPING_FIELDS_H
#define MAPPING_FIELDS_H

#define MAPPING_FIELDS(m)						\
	ctf_integer(u64, space, (m)->space)				\
	ctf_integer(pid_t, pid, (m)->pid)				\
	ctf_integer_hex(u64, start, (m)->start)				\
	ctf_integer_hex(u64, end, (m)->end)				\
	ctf_integer_hex(u64, offset, (m)->offset)			\
	ctf_integer(u32, dev, (m)->dev)					\
	ctf_integer(u64, inode, (m)->inode)				\
	ctf_sequence_hex(u8, build_id, (m)->build_id, u8, (m)->build_id_len) \
	ctf_string(path, (m)->path)

#endif /* MAPPING_FIELDS_H */
