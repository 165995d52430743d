// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * Code of the program's own where the vDSO was: the walk ends there as in any code
 * without an FDE and without a ret, and applies no rule of the vDSO's.
 *
 * stack: @ask instead
 * stop: NO_MAPPING, all proven
 */
#include <dlfcn.h>
#include <sys/auxv.h>

#include "hard.h"

/* push %rbp; mov $0x5a5a5a5a,%ebp; nop; mov $ask,%rax; call *%rax; xor %eax,%eax; pop %rbp; pop %rcx; jmp *%rcx */
static const unsigned char instead[] = {
	0x55, 0xbd, 0x5a, 0x5a, 0x5a, 0x5a, 0x90, 0x48, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0,
	0xff, 0xd0, 0x31, 0xc0, 0x5d, 0x59, 0xff, 0xe1,
};

/* It can be unmapped as a whole only. */
static size_t vdso_size(void)
{
	unsigned long start, end;
	char line[256];
	FILE *maps = fopen("/proc/self/maps", "re");

	while (maps && fgets(line, sizeof(line), maps))
		if (strstr(line, "[vdso]") &&
		    sscanf(line, "%lx-%lx", &start, &end) == 2)
			return end - start;
	errx(1, "there is no vDSO");
}

int main(void)
{
	void (*target)(void) = ask;
	size_t size = vdso_size();
	char *vdso = (char *)getauxval(AT_SYSINFO_EHDR), *code;

	/* The vDSO has a rule for what is at this place. */
	code = dlsym(dlopen("linux-vdso.so.1", RTLD_LAZY | RTLD_NOLOAD), "__vdso_getcpu");
	if (!code)
		errx(1, "there is no __vdso_getcpu");
	begin();
	if (munmap(vdso, size) ||
	    mmap(vdso, size, PROT_READ | PROT_WRITE | PROT_EXEC,
		 MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) != vdso)
		err(1, "mmap");
	memcpy(code, instead, sizeof(instead));
	memcpy(code + 9, &target, sizeof(target));
	label("instead", code, sizeof(instead));
	((void (*)(void))code)();
	report();
	return 0;
}
