/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* The vDSO's functions, by its own dynamic symbol table. */
#ifndef HARD_VDSO_H
#define HARD_VDSO_H

#include <elf.h>
#include <stdint.h>
#include <string.h>
#include <sys/auxv.h>

/* Return: a function that the vDSO must have; its memory is from @start to @end. */
static void *find_in_vdso(const char *name, uint64_t *start, uint64_t *end)
{
	const char *base = (void *)getauxval(AT_SYSINFO_EHDR), *names = NULL;
	const Elf64_Ehdr *ehdr = (const void *)base;
	const Elf64_Phdr *phdr = (const void *)(base + ehdr->e_phoff);
	const Elf64_Sym *symbols = NULL;
	const Elf64_Dyn *dyn = NULL;
	int i;

	*start = (uint64_t)base;
	for (i = 0; i < ehdr->e_phnum; i++) {
		if (phdr[i].p_type == PT_DYNAMIC)
			dyn = (const void *)(base + phdr[i].p_offset);
		if (phdr[i].p_type == PT_LOAD)
			*end = (uint64_t)base + phdr[i].p_memsz;
	}
	for (; dyn->d_tag; dyn++) {
		if (dyn->d_tag == DT_SYMTAB)
			symbols = (const void *)(base + dyn->d_un.d_ptr);
		if (dyn->d_tag == DT_STRTAB)
			names = base + dyn->d_un.d_ptr;
	}
	for (i = 1; strcmp(names + symbols[i].st_name, name); i++)
		;
	return (void *)(base + symbols[i].st_value);
}

#endif /* HARD_VDSO_H */
