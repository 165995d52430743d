// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * The vDSO's clock_gettime() makes a system call for a clock that it has no copy
 * of: the innermost frame is in the vDSO, which is no file.
 *
 * entry clock_gettime: [vdso] tell_time main ... _start
 */
#include <elf.h>
#include <sys/auxv.h>
#include <time.h>
#include "hard.h"

static int (*gettime)(clockid_t, struct timespec *);

/* The vDSO's own function, by its dynamic symbol table. */
static void find(void)
{
	const char *base = (void *)getauxval(AT_SYSINFO_EHDR), *names = NULL;
	const Elf64_Ehdr *ehdr = (const void *)base;
	const Elf64_Phdr *phdr = (const void *)(base + ehdr->e_phoff);
	const Elf64_Sym *symbols = NULL;
	const Elf64_Dyn *dyn = NULL;
	int i;

	for (i = 0; i < ehdr->e_phnum; i++)
		if (phdr[i].p_type == PT_DYNAMIC)
			dyn = (const void *)(base + phdr[i].p_offset);
	for (; dyn->d_tag; dyn++) {
		if (dyn->d_tag == DT_SYMTAB)
			symbols = (const void *)(base + dyn->d_un.d_ptr);
		if (dyn->d_tag == DT_STRTAB)
			names = base + dyn->d_un.d_ptr;
	}
	for (i = 1; strcmp(names + symbols[i].st_name, "__vdso_clock_gettime"); i++)
		;
	gettime = (void *)(base + symbols[i].st_value);
}

FRAME static void tell_time(void)
{
	struct timespec ts;

	if (gettime(CLOCK_PROCESS_CPUTIME_ID, &ts))
		errx(1, "clock_gettime");
	STAY();
}

int main(void)
{
	find();
	tell_time();
	report();
	return 0;
}
