// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * A file with text at 8 KiB and at 2.25 GiB (sparse), whose FDEs need 8-byte
 * addresses, mapped as a whole: functions at both ends are on the stack.
 *
 * stack: @ask here high low main ... _start
 * stop: COMPLETE, all proven
 */
#include <elf.h>
#include "hard.h"

#define EH_FRAME	0x1000
#define EH_FRAME_HDR	0x1800
#define TEXT		0x2000
#define HIGH		0x90000000UL
#define END		(HIGH + 0x1000)
#define FUNCTION_BYTES	64

/* sub $8,%rsp; mov %rdi,%rax; mov %rsi,%rdi; call *%rax; add $8,%rsp; ret */
static const unsigned char low[] = {
	0x48, 0x83, 0xec, 0x08, 0x48, 0x89, 0xf8, 0x48, 0x89, 0xf7, 0xff, 0xd0,
	0x48, 0x83, 0xc4, 0x08, 0xc3,
};

/* sub $8,%rsp; call *%rdi; nop...; add $8,%rsp; ret */
static const unsigned char high[] = {
	0x48, 0x83, 0xec, 0x08, 0xff, 0xd7, 0x90, 0x90, 0x90, 0x90, 0x90, 0x90,
	0x48, 0x83, 0xc4, 0x08, 0xc3,
};

static const struct __attribute__((packed)) {
	uint32_t cie_size, cie_id;
	uint8_t version;
	char augmentation[3];
	uint8_t code_align, data_align, ra, data_size, fde_encoding;
	uint8_t program[7];
	struct __attribute__((packed)) {
		uint32_t size, cie_pointer;
		int64_t start;
		uint64_t range;
		uint8_t data_size;
		/* DW_CFA_advance_loc 4; def_cfa_offset 16; advance_loc 12; def_cfa_offset 8 */
		uint8_t program[7];
	} fde[2];
	uint32_t end;
} frame = {
	.cie_size = 20, .version = 1, .augmentation = "zR", .code_align = 1,
	.data_align = 0x78, .ra = 16, .data_size = 1,
	/* DW_EH_PE_pcrel | DW_EH_PE_sdata8 */
	.fde_encoding = 0x1c,
	/* DW_CFA_def_cfa rsp, 8; DW_CFA_offset ra, -8 */
	.program = { 0x0c, 7, 8, 0x90, 1 },
	.fde = {
		{ 28, 28, TEXT - (EH_FRAME + 24 + 8), FUNCTION_BYTES, 0,
		  { 0x44, 0x0e, 16, 0x4c, 0x0e, 8 } },
		{ 28, 60, HIGH - (EH_FRAME + 56 + 8), FUNCTION_BYTES, 0,
		  { 0x44, 0x0e, 16, 0x4c, 0x0e, 8 } },
	},
};

/* Version 1; the address of .eh_frame: pcrel, sdata4; no table. */
static const struct {
	uint8_t version, address_encoding, count_encoding, table_encoding;
	int32_t address;
} frame_hdr = { 1, 0x1b, 0xff, 0xff, EH_FRAME - (EH_FRAME_HDR + 4) };

static const struct {
	Elf64_Ehdr ehdr;
	Elf64_Phdr phdr[3];
} head = {
	.ehdr = {
		.e_ident = { 0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB, EV_CURRENT },
		.e_type = ET_DYN, .e_machine = EM_X86_64, .e_version = EV_CURRENT,
		.e_phoff = sizeof(Elf64_Ehdr), .e_ehsize = sizeof(Elf64_Ehdr),
		.e_phentsize = sizeof(Elf64_Phdr), .e_phnum = 3,
	},
	.phdr = {
		{ PT_LOAD, PF_R, 0, 0, 0, TEXT, TEXT, 4096 },
		{ PT_LOAD, PF_R | PF_X, TEXT, TEXT, TEXT, END - TEXT, END - TEXT, 4096 },
		{ PT_GNU_EH_FRAME, PF_R, EH_FRAME_HDR, EH_FRAME_HDR, EH_FRAME_HDR,
		  sizeof(frame_hdr), sizeof(frame_hdr), 4 },
	},
};

static void put(int file, const void *what, size_t size, off_t at)
{
	if (pwrite(file, what, size, at) != (ssize_t)size)
		err(1, "pwrite");
}

/* Its text, mapped. */
static char *make(void)
{
	char path[] = "/tmp/huge-XXXXXX", *text;
	int file = mkstemp(path);

	if (file < 0 || ftruncate(file, END))
		err(1, "%s", path);
	put(file, &head, sizeof(head), 0);
	put(file, &frame, sizeof(frame), EH_FRAME);
	put(file, &frame_hdr, sizeof(frame_hdr), EH_FRAME_HDR);
	put(file, low, sizeof(low), TEXT);
	put(file, high, sizeof(high), HIGH);
	close(file);
	file = open(path, O_RDONLY | O_CLOEXEC);
	text = mmap(NULL, END - TEXT, PROT_READ | PROT_EXEC, MAP_PRIVATE, file, TEXT);
	if (text == MAP_FAILED)
		err(1, "mmap");
	close(file);
	unlink(path);
	return text;
}

FRAME static void here(void)
{
	ask();
	STAY();
}

int main(void)
{
	char *text;

	begin();
	text = make();
	label("low", text, sizeof(low));
	label("high", text + (HIGH - TEXT), sizeof(high));
	((void (*)(void *, void *))text)(text + (HIGH - TEXT), here);
	report();
	return 0;
}
