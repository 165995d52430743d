// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * The ELF reader (gABI chapters 4 and 5, LSB Core 10.6). Program headers say what is
 * mapped, and are believed only as far as the file has bytes. Section headers say where
 * .eh_frame ends, and where it is if .eh_frame_hdr does not say so. They also say where
 * .gopclntab is, as nothing else does. They may be missing.
 */
#include "elf.h"
#include "arch/arch.h"
#include "frame.h"

enum state {
	STATE_HEAD,
	STATE_PHDRS,
	STATE_NOTES,
	STATE_EH_HDR,
	STATE_NAME_SHDR,
	STATE_NAMES,
	STATE_SHDRS,
	STATE_DONE,
};

/* Of ELFCLASS64. The head of ELFCLASS32 is shorter; the excess is ignored. */
#define EHDR_LEN	64

#define PT_LOAD		1
#define PT_NOTE		4
#define PT_GNU_EH_FRAME	0x6474e550
#define PF_X		1
#define NT_GNU_BUILD_ID	3

/* The fixed part of .eh_frame_hdr with one pointer, of 8 bytes at most. */
#define EH_HDR_LEN	12

void kuw_elf_init(struct kuw_elf *elf, u64 file_size)
{
	memset(elf, 0, sizeof(*elf));
	elf->file_size = file_size;
	elf->state = STATE_HEAD;
}

static u32 phdr_len(const struct kuw_elf *elf)
{
	return elf->word == KUW_WORD ? 56 : 32;
}

static u32 shdr_len(const struct kuw_elf *elf)
{
	return elf->word == KUW_WORD ? 64 : 40;
}

/* ElfN_Addr, ElfN_Off, and ElfN_Xword where ELFCLASS32 has a word. */
static u64 read_word(const struct kuw_elf *elf, struct kuw_cur *c)
{
	return elf->word == KUW_WORD ? kuw_u64(c) : kuw_u32(c);
}

static bool in_file(const struct kuw_elf *elf, u64 off, u64 len)
{
	return off <= elf->file_size && len <= elf->file_size - off;
}

/* Return: whether .eh_frame has been found. */
static bool known(const struct kuw_elf *elf)
{
	return elf->eh_frame.len;
}

int kuw_elf_want(const struct kuw_elf *elf, u64 *off, u32 *len)
{
	*len = 0;
	switch (elf->state) {
	case STATE_HEAD:
		*off = 0;
		*len = min_t(u64, EHDR_LEN, elf->file_size);
		break;
	case STATE_PHDRS:
		*off = elf->phoff;
		*len = elf->phnum * phdr_len(elf);
		break;
	case STATE_NOTES:
		*off = elf->notes[elf->note].off;
		*len = elf->notes[elf->note].len;
		break;
	case STATE_EH_HDR:
		*off = elf->eh_frame_hdr.off;
		*len = min_t(u32, EH_HDR_LEN, elf->eh_frame_hdr.len);
		break;
	case STATE_NAME_SHDR:
		*off = elf->shoff + (u64)elf->shstrndx * shdr_len(elf);
		*len = elf->shnum ? shdr_len(elf) : 0;
		break;
	case STATE_NAMES:
		*off = elf->names.off;
		*len = elf->names.len;
		break;
	case STATE_SHDRS:
		*off = elf->shoff;
		if (known(elf) || elf->nr_names || elf->nr_go_names)
			*len = elf->shnum * shdr_len(elf);
		break;
	}
	return elf->state < STATE_DONE;
}

/* Go to the next state that has something to read. */
static int next_state(struct kuw_elf *elf)
{
	u64 off;
	u32 len;

	if (elf->state == STATE_NOTES && !elf->build_id_len && elf->note + 1 < elf->nr_notes) {
		elf->note++;
		return 0;
	}
	do {
		elf->state++;
	} while (kuw_elf_want(elf, &off, &len) && !len);
	return elf->state < STATE_DONE || known(elf) || elf->gopclntab.len ? 0 : -ENODATA;
}

static int feed_head(struct kuw_elf *elf, struct kuw_cur *c)
{
	/* id[4] is the class; id[5] must be 1 (little-endian), and id[6] 1 (version). */
	static const u8 magic[] = { 0x7f, 'E', 'L', 'F' };
	const u8 *id = kuw_bytes(c, 16);
	u16 type, machine;
	u16 phentsize, shentsize;

	if (!id || memcmp(id, magic, sizeof(magic)) || id[5] != 1 || id[6] != 1)
		return -ENOEXEC;
	if (id[4] == 2)
		elf->word = KUW_WORD;
	else if (id[4] == 1)
		elf->word = KUW_I386_WORD;
	else
		return -ENOEXEC;
	type = kuw_u16(c);
	machine = kuw_u16(c);
	kuw_u32(c);
	elf->entry = read_word(elf, c);
	elf->phoff = read_word(elf, c);
	elf->shoff = read_word(elf, c);
	kuw_u32(c);
	kuw_u16(c);
	phentsize = kuw_u16(c);
	elf->phnum = kuw_u16(c);
	shentsize = kuw_u16(c);
	elf->shnum = kuw_u16(c);
	elf->shstrndx = kuw_u16(c);
	/* Only ET_EXEC (2) and ET_DYN (3) are executed or mapped as code. */
	if (!kuw_good(c) || (type != 2 && type != 3) ||
	    machine != (elf->word == KUW_WORD ? KUW_ELF_MACHINE :
						KUW_I386_ELF_MACHINE))
		return -ENOEXEC;
	if (phentsize != phdr_len(elf) || !elf->phnum || elf->phnum > KUW_MAX_PHDRS ||
	    !in_file(elf, elf->phoff, elf->phnum * phdr_len(elf)))
		return -EINVAL;
	/* Unwinding can do without section headers: bad ones count as absent. */
	if (shentsize != shdr_len(elf) || elf->shnum > KUW_MAX_SHDRS ||
	    elf->shstrndx >= elf->shnum ||
	    !in_file(elf, elf->shoff, elf->shnum * shdr_len(elf)))
		elf->shnum = 0;
	return 0;
}

/* One PT_LOAD; only the part that the file holds counts. */
static int feed_load(struct kuw_elf *elf, u32 flags, u64 off, u64 vaddr,
		     u64 filesz)
{
	struct kuw_segment *seg;

	if (off >= elf->file_size)
		return 0;
	filesz = min_t(u64, filesz, elf->file_size - off);
	if (!filesz)
		return 0;
	if (vaddr + filesz < vaddr)
		return -EINVAL;
	/* All segments are kept: .eh_frame_hdr and .eh_frame may be in any. */
	if (elf->nr_loads == KUW_MAX_SEGMENTS)
		return -EINVAL;
	seg = &elf->loads[elf->nr_loads++];
	seg->off = off;
	seg->vaddr = vaddr;
	seg->filesz = filesz;
	if (flags & PF_X)
		elf->segments[elf->nr_segments++] = *seg;
	return 0;
}

/* Find the bytes of the file from an address on. Return: whether there are any. */
static bool find_vaddr(const struct kuw_elf *elf, u64 vaddr,
		       struct kuw_range *range)
{
	const struct kuw_segment *seg = elf->loads;
	u32 i;

	for (i = 0; i < elf->nr_loads; i++, seg++) {
		if (vaddr - seg->vaddr >= seg->filesz)
			continue;
		range->vaddr = vaddr;
		range->off = seg->off + (vaddr - seg->vaddr);
		range->len = min_t(u64, seg->filesz - (vaddr - seg->vaddr),
				   KUW_MAX_EH_FRAME);
		return true;
	}
	return false;
}

static int feed_phdrs(struct kuw_elf *elf, struct kuw_cur *c)
{
	u64 off, vaddr, filesz, hdr_vaddr = 0, hdr_len = 0;
	struct kuw_range *note;
	u32 i, type, flags;
	int ret;

	for (i = 0; i < elf->phnum; i++) {
		/* Both classes have the same words; only the flags are elsewhere. */
		type = kuw_u32(c);
		flags = elf->word == KUW_WORD ? kuw_u32(c) : 0;
		off = read_word(elf, c);
		vaddr = read_word(elf, c);
		read_word(elf, c);
		filesz = read_word(elf, c);
		read_word(elf, c);
		if (elf->word != KUW_WORD)
			flags = kuw_u32(c);
		read_word(elf, c);
		if (type == PT_LOAD) {
			ret = feed_load(elf, flags, off, vaddr, filesz);
			if (ret)
				return ret;
		} else if (type == PT_GNU_EH_FRAME) {
			hdr_vaddr = vaddr;
			hdr_len = filesz;
		} else if (type == PT_NOTE && filesz &&
			   elf->nr_notes < KUW_MAX_NOTE_SEGMENTS &&
			   in_file(elf, off, filesz)) {
			note = &elf->notes[elf->nr_notes++];
			note->off = off;
			note->len = min_t(u64, filesz, KUW_MAX_NOTES);
		}
	}
	if (!kuw_good(c))
		return -EINVAL;
	if (!elf->nr_segments)
		return -ENODATA;
	if (hdr_len && find_vaddr(elf, hdr_vaddr, &elf->eh_frame_hdr))
		elf->eh_frame_hdr.len = min_t(u64, elf->eh_frame_hdr.len,
					      hdr_len);
	return 0;
}

static void feed_notes(struct kuw_elf *elf, struct kuw_cur *c)
{
	u32 name_len, len, type;
	const u8 *name, *desc;

	while (kuw_left(c)) {
		name_len = kuw_u32(c);
		len = kuw_u32(c);
		type = kuw_u32(c);
		name = kuw_bytes(c, ALIGN((u64)name_len, 4));
		desc = kuw_bytes(c, len);
		if (!kuw_good(c))
			return;
		/* The last note need not be padded. */
		kuw_bytes(c, min_t(u64, -len & 3, kuw_left(c)));
		if (type != NT_GNU_BUILD_ID || name_len != 4 ||
		    memcmp(name, "GNU", 4) || !len || len > KUW_BUILD_ID_MAX)
			continue;
		memcpy(elf->build_id, desc, len);
		elf->build_id_len = len;
		return;
	}
}

static void feed_eh_hdr(struct kuw_elf *elf, struct kuw_cur *c)
{
	struct kuw_cur all = *c;
	u32 len = kuw_left(c);
	struct kuw_section section = {
		.bytes = kuw_bytes(&all, len), .len = len, .word = elf->word,
		.vaddr = elf->eh_frame_hdr.vaddr,
	};
	u8 version = kuw_u8(c), enc = kuw_u8(c);
	u64 vaddr;

	kuw_u16(c);
	vaddr = kuw_read_encoded(c, enc, &section);
	if (kuw_good(c) && version == 1)
		find_vaddr(elf, vaddr, &elf->eh_frame);
}

/* The section header of the section names. */
static void feed_name_shdr(struct kuw_elf *elf, struct kuw_cur *c)
{
	u64 off, len;

	kuw_bytes(c, 8 + 2 * elf->word);
	off = read_word(elf, c);
	len = read_word(elf, c);
	if (!kuw_good(c) || !in_file(elf, off, len))
		return;
	elf->names.off = off;
	elf->names.len = min_t(u64, len, KUW_MAX_NAMES);
}

/* Return: whether the @len bytes of @name are @at bytes further on. */
static bool is_at(struct kuw_cur c, u64 at, const char *name, u32 len)
{
	const u8 *bytes = kuw_have(&c, at) ? kuw_bytes(&c, len) : NULL;

	return bytes && !memcmp(bytes, name, len);
}

static void feed_names(struct kuw_elf *elf, const struct kuw_cur *c)
{
	static const char eh_frame[] = ".eh_frame", go[] = ".gopclntab", relro[] = ".data.rel.ro";
	const u32 before = sizeof(relro) - 1;
	u32 i;

	for (i = 0; i < kuw_left(c) && elf->nr_names < KUW_ELF_NAMES; i++)
		if (is_at(*c, i, eh_frame, sizeof(eh_frame)))
			elf->name_at[elf->nr_names++] = i;
	for (i = 0; i < kuw_left(c) && elf->nr_go_names + 1 < KUW_ELF_NAMES; i++) {
		if (!is_at(*c, i, go, sizeof(go)))
			continue;
		elf->go_name_at[elf->nr_go_names++] = i;
		/* In position-independent programs. */
		if (i >= before && is_at(*c, i - before, relro, before))
			elf->go_name_at[elf->nr_go_names++] = i - before;
	}
}

static bool is_named(const u32 *names, u32 nr, u32 name)
{
	u32 i;

	for (i = 0; i < nr; i++)
		if (names[i] == name)
			return true;
	return false;
}

/*
 * If .eh_frame_hdr says where .eh_frame is, the section at that address says how long it
 * is. Otherwise the section that is named ".eh_frame" says both.
 */
static bool is_eh_frame(const struct kuw_elf *elf, u32 name, u64 vaddr)
{
	if (elf->eh_frame_exact)
		return false;
	return known(elf) ? vaddr == elf->eh_frame.vaddr :
			    is_named(elf->name_at, elf->nr_names, name);
}

static void feed_shdrs(struct kuw_elf *elf, struct kuw_cur *c)
{
	struct kuw_range range;
	u64 vaddr, size;
	u32 i, name;

	for (i = 0; i < elf->shnum; i++) {
		name = kuw_u32(c);
		kuw_u32(c);
		read_word(elf, c);
		vaddr = read_word(elf, c);
		read_word(elf, c);
		size = read_word(elf, c);
		kuw_bytes(c, 8 + 2 * elf->word);
		/* The program unwinds with a section that is loaded. */
		if (!size || !find_vaddr(elf, vaddr, &range) || size > range.len)
			continue;
		range.len = size;
		if (is_eh_frame(elf, name, vaddr)) {
			elf->eh_frame = range;
			elf->eh_frame_exact = true;
		} else if (is_named(elf->go_name_at, elf->nr_go_names, name) &&
			   size <= KUW_MAX_GOPCLNTAB) {
			elf->gopclntab = range;
		}
	}
}

int kuw_elf_feed(struct kuw_elf *elf, const void *bytes, u32 len)
{
	struct kuw_cur c = kuw_cur(bytes, len);
	int ret = 0;

	switch (elf->state) {
	case STATE_HEAD:
		ret = feed_head(elf, &c);
		break;
	case STATE_PHDRS:
		ret = feed_phdrs(elf, &c);
		break;
	case STATE_NOTES:
		feed_notes(elf, &c);
		break;
	case STATE_EH_HDR:
		feed_eh_hdr(elf, &c);
		break;
	case STATE_NAME_SHDR:
		feed_name_shdr(elf, &c);
		break;
	case STATE_NAMES:
		feed_names(elf, &c);
		break;
	case STATE_SHDRS:
		feed_shdrs(elf, &c);
		break;
	}
	return ret ? ret : next_state(elf);
}
