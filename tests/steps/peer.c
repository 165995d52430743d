// SPDX-License-Identifier: GPL-2.0-only OR MIT
#include <stdio.h>
#include <stdlib.h>
#include "peer.h"

/* psABI x86-64, figure 3.36, and psABI i386, figure 2.14. */
#define RSP		7
#define I386_ESP	4

struct answer {
	u32 sp;			/* the stack pointer's number */
	u64 *frames;
	u64 *sps;
	u32 capacity;
	u32 count;
};

/* Symbols of the file itself will do; nothing is fetched. */
static int no_debuginfo(Dwfl_Module *mod __maybe_unused,
			void **data __maybe_unused,
			const char *name __maybe_unused,
			Dwarf_Addr base __maybe_unused,
			const char *file __maybe_unused,
			const char *link __maybe_unused,
			GElf_Word crc __maybe_unused,
			char **path __maybe_unused)
{
	return -1;
}

static pid_t next_thread(Dwfl *dwfl __maybe_unused, void *arg, void **thread)
{
	const struct tracee *t = arg;

	if (*thread)
		return 0;
	*thread = arg;
	return t->pid;
}

static bool memory_read(Dwfl *dwfl __maybe_unused, Dwarf_Addr addr,
			Dwarf_Word *word, void *arg)
{
	const struct tracee *t = arg;

	*word = 0;
	return tracee_read(t, addr, word, t->word) == t->word;
}

static bool set_registers(Dwfl_Thread *thread, void *arg)
{
	const struct tracee *t = arg;
	const struct user_regs_struct *r = &t->regs;
	struct kuw_port_regs regs = tracee_port_regs(t);
	const Dwarf_Word i386[] = { r->rax, r->rcx, r->rdx, r->rbx, r->rsp, r->rbp, r->rsi, r->rdi,
				    r->rip };
	Dwarf_Word words[17];
	u32 i;

	if (t->word == 4) {
		for (i = 0; i < ARRAY_SIZE(i386); i++)
			words[i] = (u32)i386[i];
		return dwfl_thread_state_registers(thread, 0, ARRAY_SIZE(i386), words);
	}
	for (i = 0; i < 16; i++)
		words[i] = regs.r[i];
	words[16] = regs.ip;
	return dwfl_thread_state_registers(thread, 0, 17, words);
}

static const Dwfl_Callbacks callbacks = {
	.find_elf = dwfl_linux_proc_find_elf,
	.find_debuginfo = no_debuginfo,
};

static const Dwfl_Thread_Callbacks thread_callbacks = {
	.next_thread = next_thread,
	.memory_read = memory_read,
	.set_initial_registers = set_registers,
};

void peer_use(struct peer *p, const struct tracee *t, u64 maps)
{
	if (p->dwfl && p->maps == maps)
		return;
	peer_free(p);
	p->tracee = t;
	p->maps = maps;
	p->dwfl = dwfl_begin(&callbacks);
	if (!p->dwfl)
		return;
	dwfl_report_begin(p->dwfl);
	if (dwfl_linux_proc_report(p->dwfl, t->pid) ||
	    dwfl_report_end(p->dwfl, NULL, NULL) ||
	    !dwfl_attach_state(p->dwfl, NULL, t->pid, &thread_callbacks,
			       (void *)t))
		fprintf(stderr, "steps: libdw: %s\n", dwfl_errmsg(-1));
}

void peer_free(struct peer *p)
{
	if (p->dwfl)
		dwfl_end(p->dwfl);
	p->dwfl = NULL;
}

static int take_frame(Dwfl_Frame *state, void *arg)
{
	struct answer *a = arg;
	Dwarf_Addr pc;
	Dwarf_Word sp;

	if (!dwfl_frame_pc(state, &pc, NULL))
		return DWARF_CB_ABORT;
	if (a->sps)
		a->sps[a->count] = dwfl_frame_reg(state, a->sp, &sp) ? 0 : sp;
	a->frames[a->count++] = pc;
	return a->count == a->capacity ? DWARF_CB_ABORT : DWARF_CB_OK;
}

u32 peer_walk(struct peer *p, u64 *frames, u64 *sps, u32 capacity)
{
	struct answer a = {
		.sp = p->dwfl && p->tracee->word == 4 ? I386_ESP : RSP,
		.frames = frames, .sps = sps, .capacity = capacity,
	};

	if (p->dwfl)
		dwfl_getthread_frames(p->dwfl, p->tracee->pid, take_frame, &a);
	return a.count;
}

bool peer_has_rule(struct peer *p, u64 addr)
{
	Dwfl_Module *mod = p->dwfl ? dwfl_addrmodule(p->dwfl, addr) : NULL;
	Dwarf_Frame *frame = NULL;
	Dwarf_Addr bias;
	Dwarf_CFI *cfi = mod ? dwfl_module_eh_cfi(mod, &bias) : NULL;
	bool has = cfi && !dwarf_cfi_addrframe(cfi, addr - bias, &frame);

	free(frame);
	return has;
}

static void take_name(char *to, const char *from)
{
	snprintf(to, PEER_NAME, "%s", from);
}

/* Without a symbol: the section that the address is in. */
static void name_section(Dwfl_Module *mod, u64 addr, struct place *place)
{
	Dwarf_Addr at = addr;
	Elf_Scn *scn = dwfl_module_address_section(mod, &at, &(Dwarf_Addr){ 0 });
	GElf_Addr bias;
	Elf *elf = dwfl_module_getelf(mod, &bias);
	const char *name = NULL;
	GElf_Shdr shdr;
	size_t names;

	if (scn && elf && gelf_getshdr(scn, &shdr) &&
	    !elf_getshdrstrndx(elf, &names))
		name = elf_strptr(elf, names, shdr.sh_name);
	take_name(place->function, name ? name : "?");
	if (name)
		place->off = at;
}

struct place peer_place(struct peer *p, u64 addr)
{
	struct place place = { .file = "?", .function = "?", .vaddr = addr };
	Dwfl_Module *mod = p->dwfl ? dwfl_addrmodule(p->dwfl, addr) : NULL;
	const char *path, *base, *symbol;
	GElf_Addr bias = 0;
	GElf_Sym sym;
	GElf_Off off;

	if (!mod)
		return place;
	path = dwfl_module_info(mod, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
	base = path ? strrchr(path, '/') : NULL;
	take_name(place.file, base ? base + 1 : path ? path : "?");
	if (dwfl_module_getelf(mod, &bias))
		place.vaddr = addr - bias;
	place.off = place.vaddr;
	symbol = dwfl_module_addrinfo(mod, addr, &off, &sym, NULL, NULL, NULL);
	if (symbol && sym.st_size && off < sym.st_size) {
		take_name(place.function, symbol);
		place.off = off;
	} else {
		name_section(mod, addr, &place);
	}
	return place;
}
