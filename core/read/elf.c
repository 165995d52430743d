// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * The ELF reader (gABI chapters 4 and 5, LSB Core 10.6). Program headers say what is
 * mapped, and are believed only as far as the file has bytes. Section headers say where
 * .eh_frame ends, and where it is if .eh_frame_hdr does not say so. They also say where
 * .gopclntab and .go.module are, as nothing else does. They may be missing.
 */
#include "elf.h"
#include "arch/arch.h"
#include "frame.h"

/* Of ELFCLASS64. The head of ELFCLASS32 is shorter; the excess is ignored. */
#define EHDR_LEN	64

#define PT_LOAD		1
#define PT_NOTE		4
#define PT_GNU_EH_FRAME	0x6474e550
#define PF_X		1
#define NT_GNU_BUILD_ID	3

/* The fixed part of .eh_frame_hdr with one pointer, of 8 bytes at most. */
#define EH_HDR_LEN	12

/* The bytes of struct moduledata up to the address of the text, which is number 22 (from 0). */
#define GO_DATA_LEN	(23 * KUW_WORD)

/* One read of a file, and what one part of the file says of the others. */
struct reader {
	struct kuw_elf *elf;
	struct kuw_elf_file *file;
	u64 phoff;
	u32 phnum;
	u32 phdr_len;
	u64 shoff;
	u32 shnum;
	u32 shdr_len;
	u32 shstrndx;
	struct kuw_range notes[KUW_MAX_NOTE_SEGMENTS];
	u32 nr_notes;
	struct kuw_range eh_frame_hdr;
	struct kuw_range go_data;
};

/* ElfN_Addr, ElfN_Off, and ElfN_Xword where ELFCLASS32 has a word. */
static u64 read_word(const struct kuw_elf *elf, struct kuw_cur *c)
{
	return elf->word == KUW_WORD ? kuw_u64(c) : kuw_u32(c);
}

static bool in_file(const struct reader *r, u64 off, u64 len)
{
	return off <= r->file->size && len <= r->file->size - off;
}

/* Fill piece @nr. @c reads it until @nr is filled again. Return: 0, or the file's error. */
static int piece(struct reader *r, u32 nr, u64 off, u32 len, struct kuw_cur *c)
{
	const u8 *bytes;
	int ret = r->file->read(r->file, nr, off, len, &bytes);

	if (!ret)
		*c = kuw_cur(bytes, len);
	return ret;
}

static int read_head(struct reader *r)
{
	/* id[4] is the class, 2 for 64 bits; id[5] must be 1 (little-endian), id[6] 1 (version). */
	static const u8 magic[] = { 0x7f, 'E', 'L', 'F' };
	struct kuw_elf *elf = r->elf;
	u16 type, machine, phentsize, shentsize;
	struct kuw_cur c;
	const u8 *id;
	int ret;

	ret = piece(r, 0, 0, min_t(u64, EHDR_LEN, r->file->size), &c);
	if (ret)
		return ret;
	id = kuw_bytes(&c, 16);
	if (!id || memcmp(id, magic, sizeof(magic)) || (id[4] != 1 && id[4] != 2) ||
	    id[5] != 1 || id[6] != 1)
		return -ENOEXEC;
	elf->word = id[4] == 2 ? KUW_WORD : KUW_I386_WORD;
	r->phdr_len = id[4] == 2 ? 56 : 32;
	r->shdr_len = id[4] == 2 ? 64 : 40;
	type = kuw_u16(&c);
	machine = kuw_u16(&c);
	kuw_u32(&c);
	elf->entry = read_word(elf, &c);
	r->phoff = read_word(elf, &c);
	r->shoff = read_word(elf, &c);
	kuw_bytes(&c, 6);
	phentsize = kuw_u16(&c);
	r->phnum = kuw_u16(&c);
	shentsize = kuw_u16(&c);
	r->shnum = kuw_u16(&c);
	r->shstrndx = kuw_u16(&c);
	/* Only ET_EXEC (2) and ET_DYN (3) are executed or mapped as code. */
	if (!kuw_good(&c) || (type != 2 && type != 3) ||
	    machine != (id[4] == 2 ? KUW_ELF_MACHINE : KUW_I386_ELF_MACHINE))
		return -ENOEXEC;
	if (phentsize != r->phdr_len || !r->phnum || r->phnum > KUW_MAX_PHDRS ||
	    !in_file(r, r->phoff, r->phnum * r->phdr_len))
		return -EINVAL;
	/* Unwinding can do without section headers: bad ones count as absent. */
	if (shentsize != r->shdr_len || r->shnum > KUW_MAX_SHDRS || r->shstrndx >= r->shnum ||
	    !in_file(r, r->shoff, r->shnum * r->shdr_len))
		r->shnum = 0;
	return 0;
}

/* One PT_LOAD; only the part that the file holds counts. */
static int add_load(struct reader *r, u32 flags, u64 off, u64 vaddr, u64 filesz)
{
	const u64 held = off < r->file->size ? min_t(u64, filesz, r->file->size - off) : 0;
	const struct kuw_segment seg = { .off = off, .vaddr = vaddr, .filesz = held };
	struct kuw_elf *elf = r->elf;

	if (!held)
		return 0;
	if (vaddr + held < vaddr || elf->nr_loads == KUW_MAX_SEGMENTS)
		return -EINVAL;
	/* All segments are kept: .eh_frame_hdr and .eh_frame may be in any. */
	elf->loads[elf->nr_loads++] = seg;
	if (flags & PF_X)
		elf->segments[elf->nr_segments++] = seg;
	return 0;
}

/* Find the bytes of the file from an address on. Return: whether there are any. */
static bool find_vaddr(const struct kuw_elf *elf, u64 vaddr, struct kuw_range *range)
{
	const struct kuw_segment *seg = kuw_segment_of(elf->loads, elf->nr_loads, vaddr);

	if (!seg)
		return false;
	range->vaddr = vaddr;
	range->off = seg->off + (vaddr - seg->vaddr);
	range->len = min_t(u64, seg->filesz - (vaddr - seg->vaddr), KUW_MAX_EH_FRAME);
	return true;
}

static int read_phdrs(struct reader *r)
{
	u64 off, vaddr, filesz, hdr_vaddr = 0, hdr_len = 0;
	struct kuw_elf *elf = r->elf;
	u32 i, type, flags;
	struct kuw_cur c;
	int ret;

	ret = piece(r, 0, r->phoff, r->phnum * r->phdr_len, &c);
	for (i = 0; !ret && i < r->phnum; i++) {
		/* Both classes have the same words; only the flags are elsewhere. */
		type = kuw_u32(&c);
		flags = elf->word == KUW_WORD ? kuw_u32(&c) : 0;
		off = read_word(elf, &c);
		vaddr = read_word(elf, &c);
		read_word(elf, &c);
		filesz = read_word(elf, &c);
		read_word(elf, &c);
		if (elf->word != KUW_WORD)
			flags = kuw_u32(&c);
		read_word(elf, &c);
		if (type == PT_LOAD) {
			ret = add_load(r, flags, off, vaddr, filesz);
		} else if (type == PT_GNU_EH_FRAME) {
			hdr_vaddr = vaddr;
			hdr_len = filesz;
		} else if (type == PT_NOTE && filesz && r->nr_notes < KUW_MAX_NOTE_SEGMENTS &&
			   in_file(r, off, filesz)) {
			r->notes[r->nr_notes++] = (struct kuw_range){
				.off = off, .len = min_t(u64, filesz, KUW_MAX_NOTES),
			};
		}
	}
	if (ret || !kuw_good(&c))
		return ret ?: -EINVAL;
	if (!elf->nr_segments)
		return -ENODATA;
	if (hdr_len && find_vaddr(elf, hdr_vaddr, &r->eh_frame_hdr))
		r->eh_frame_hdr.len = min_t(u64, r->eh_frame_hdr.len, hdr_len);
	return 0;
}

static void find_build_id(struct kuw_elf *elf, struct kuw_cur *c)
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

static int read_notes(struct reader *r)
{
	struct kuw_cur c;
	int ret = 0;
	u32 i;

	for (i = 0; !ret && i < r->nr_notes && !r->elf->build_id_len; i++) {
		ret = piece(r, 0, r->notes[i].off, r->notes[i].len, &c);
		if (!ret)
			find_build_id(r->elf, &c);
	}
	return ret;
}

static int read_eh_frame_hdr(struct reader *r)
{
	struct kuw_section section = {
		.len = min_t(u32, EH_HDR_LEN, r->eh_frame_hdr.len),
		.word = r->elf->word, .vaddr = r->eh_frame_hdr.vaddr,
	};
	struct kuw_cur c, all;
	u8 version, enc;
	u64 vaddr;
	int ret;

	if (!section.len)
		return 0;
	ret = piece(r, 0, r->eh_frame_hdr.off, section.len, &c);
	if (ret)
		return ret;
	all = c;
	section.bytes = kuw_bytes(&all, section.len);
	version = kuw_u8(&c);
	enc = kuw_u8(&c);
	kuw_u16(&c);
	vaddr = kuw_read_encoded(&c, enc, &section);
	if (kuw_good(&c) && version == 1)
		find_vaddr(r->elf, vaddr, &r->elf->eh_frame);
	return 0;
}

/* Read the names of the sections, whose headers are in @c. @names stays empty if there are none. */
static int read_names(struct reader *r, struct kuw_cur c, struct kuw_cur *names)
{
	u64 off, len;

	*names = c;
	kuw_cut(names, 0);
	kuw_bytes(&c, (u64)r->shstrndx * r->shdr_len + 8 + 2 * r->elf->word);
	off = read_word(r->elf, &c);
	len = read_word(r->elf, &c);
	if (!len || !in_file(r, off, len))
		return 0;
	/* The caller's headers stay in the other piece. */
	return piece(r, 1, off, min_t(u64, len, KUW_MAX_NAMES), names);
}

/* Return: whether the name that starts at byte @at of @names is @name. */
static bool is_named(struct kuw_cur names, u32 at, const char *name)
{
	kuw_bytes(&names, at);
	for (; *name; name++)
		if (kuw_u8(&names) != *name)
			return false;
	return !kuw_u8(&names) && kuw_good(&names);
}

static int read_sections(struct reader *r)
{
	struct kuw_elf *elf = r->elf;
	bool known = elf->eh_frame.len, is_eh_frame;
	struct kuw_range range;
	struct kuw_cur c, names;
	u64 vaddr, size;
	u32 i, name;
	int ret;

	if (!r->shnum)
		return 0;
	ret = piece(r, 0, r->shoff, r->shnum * r->shdr_len, &c);
	if (!ret)
		ret = read_names(r, c, &names);
	for (i = 0; !ret && i < r->shnum; i++) {
		name = kuw_u32(&c);
		kuw_bytes(&c, 4 + elf->word);
		vaddr = read_word(elf, &c);
		read_word(elf, &c);
		size = read_word(elf, &c);
		kuw_bytes(&c, 8 + 2 * elf->word);
		/* The program unwinds with a section that is loaded. */
		if (!size || !find_vaddr(elf, vaddr, &range) || size > range.len)
			continue;
		range.len = size;
		/*
		 * If .eh_frame_hdr says where .eh_frame is, the section at that address says how
		 * long it is. Otherwise the section that is named ".eh_frame" says both.
		 */
		is_eh_frame = known ? vaddr == elf->eh_frame.vaddr :
				      is_named(names, name, ".eh_frame");
		if (is_eh_frame && !elf->eh_frame_exact) {
			elf->eh_frame = range;
			elf->eh_frame_exact = true;
		} else if ((is_named(names, name, ".gopclntab") ||
			    /* The same in position-independent programs. */
			    is_named(names, name, ".data.rel.ro.gopclntab")) &&
			   size <= KUW_MAX_GOPCLNTAB) {
			elf->gopclntab = range;
		} else if (is_named(names, name, ".go.module")) {
			r->go_data = range;
		}
	}
	return ret;
}

/*
 * Go's struct moduledata (runtime/symtab.go), in a section of its own since Go 1.26: the address of
 * .gopclntab, 21 words that unwinding does not need, and the address of the text. Some linkers
 * leave these words of position-independent files to relocations.
 */
static int read_go_data(struct reader *r)
{
	struct kuw_elf *elf = r->elf;
	struct kuw_cur c;
	int ret;

	if (!elf->gopclntab.len || r->go_data.len < GO_DATA_LEN)
		return 0;
	ret = piece(r, 0, r->go_data.off, GO_DATA_LEN, &c);
	if (ret || kuw_u64(&c) != elf->gopclntab.vaddr)
		return ret;
	kuw_bytes(&c, GO_DATA_LEN - 2 * KUW_WORD);
	elf->go_text = kuw_u64(&c);
	return 0;
}

int kuw_elf_read(struct kuw_elf *elf, struct kuw_elf_file *file)
{
	struct reader r = { .elf = elf, .file = file };
	int ret;

	memset(elf, 0, sizeof(*elf));
	ret = read_head(&r) ?: read_phdrs(&r) ?: read_notes(&r) ?: read_eh_frame_hdr(&r) ?:
	      read_sections(&r) ?: read_go_data(&r);
	if (ret)
		return ret;
	return elf->eh_frame.len || elf->gopclntab.len ? 0 : -ENODATA;
}
