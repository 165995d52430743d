// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * A signal while the vDSO's code runs. Where that is, chance decides: the program
 * sees it by the interrupted address, and tries until it has happened.
 *
 * stack: @ask handler ... @[vdso] tell_time main ... _start
 * stop: COMPLETE, all proven
 */
#include <elf.h>
#include <sys/auxv.h>
#include <sys/time.h>
#include "hard.h"

static uint64_t vdso_start, vdso_end;
static int (*get_cpu)(unsigned int *, unsigned int *, void *);

static void find(void)
{
	const char *base = (void *)getauxval(AT_SYSINFO_EHDR), *names = NULL;
	const Elf64_Ehdr *ehdr = (const void *)base;
	const Elf64_Phdr *phdr = (const void *)(base + ehdr->e_phoff);
	const Elf64_Sym *symbols = NULL;
	const Elf64_Dyn *dyn = NULL;
	int i;

	for (i = 0; i < ehdr->e_phnum; i++) {
		if (phdr[i].p_type == PT_DYNAMIC)
			dyn = (const void *)(base + phdr[i].p_offset);
		if (phdr[i].p_type == PT_LOAD)
			vdso_end = (uint64_t)base + phdr[i].p_memsz;
	}
	vdso_start = (uint64_t)base;
	for (; dyn->d_tag; dyn++) {
		if (dyn->d_tag == DT_SYMTAB)
			symbols = (const void *)(base + dyn->d_un.d_ptr);
		if (dyn->d_tag == DT_STRTAB)
			names = base + dyn->d_un.d_ptr;
	}
	for (i = 1; strcmp(names + symbols[i].st_name, "__vdso_getcpu"); i++)
		;
	get_cpu = (void *)(base + symbols[i].st_value);
}

FRAME static void handler(int number, siginfo_t *info, void *context)
{
	uint64_t ip = ((ucontext_t *)context)->uc_mcontext.gregs[REG_RIP];

	(void)number;
	(void)info;
	if (!asked && ip - vdso_start < vdso_end - vdso_start)
		ask();
	STAY();
}

FRAME static void tell_time(void)
{
	unsigned int cpu;
	int i;

	while (!asked)
		for (i = 0; i < 1000 && !asked; i++)
			get_cpu(&cpu, NULL, NULL);
}

int main(void)
{
	struct itimerval timer = { { 0, 1000 }, { 0, 1000 } };

	find();
	begin();
	handle(SIGALRM, handler, SA_RESTART);
	setitimer(ITIMER_REAL, &timer, NULL);
	tell_time();
	memset(&timer, 0, sizeof(timer));
	setitimer(ITIMER_REAL, &timer, NULL);
	report();
	return 0;
}
