// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * For tests/vm/protected.sh: code of one library was at an address, another library is
 * there now, and mprotect() makes it executable. The stack has a return address there,
 * which would be walked by the first library's rule if what was there before was
 * believed until mprotect() is over.
 *
 * usage: protected LIBRARY OTHER, of which LIBRARY has the function mark()
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <err.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

/*
 * mprotect() as if it was called from @ra: where it makes the system call, what CFI says
 * is the return address is @ra, and behind that on the stack is the true one.
 */
long protect(void *at, size_t length, int protection, const void *ra);

__asm__(".text\n"
	".type protect, @function\n"
	"protect:\n"
	".cfi_startproc\n"
	"	push %rcx\n"
	"	mov $10, %eax\n"
	"	syscall\n"
	"	lea 8(%rsp), %rsp\n"
	"	ret\n"
	".cfi_endproc\n"
	".size protect, . - protect\n");

struct place {
	uintptr_t start;
	size_t length;
	long offset;
};

/* Where in which file @address lies. */
static struct place place_of(const void *address)
{
	uintptr_t start, end, wanted = (uintptr_t)address;
	FILE *maps = fopen("/proc/self/maps", "re");
	char line[4096];
	long offset;

	if (!maps)
		err(2, "/proc/self/maps");
	while (fgets(line, sizeof(line), maps)) {
		if (sscanf(line, "%" SCNxPTR "-%" SCNxPTR " %*s %lx", &start, &end, &offset) != 3 ||
		    wanted < start || wanted >= end)
			continue;
		fclose(maps);
		return (struct place) { start, end - start, offset };
	}
	errx(2, "%p is not mapped", address);
}

static void map(void *at, const char *name, const struct place *place, int protection)
{
	int fd = open(name, O_RDONLY | O_CLOEXEC);

	if (fd < 0 || mmap(at, place->length, protection, MAP_PRIVATE | MAP_FIXED, fd,
			   place->offset) == MAP_FAILED)
		err(2, "%s", name);
	close(fd);
}

int main(int argc, char **argv)
{
	struct place place;
	void *library, *mark;
	char *at;

	if (argc != 3)
		errx(2, "usage: protected LIBRARY OTHER");
	library = dlopen(argv[1], RTLD_NOW);
	mark = library ? dlsym(library, "mark") : NULL;
	if (!mark)
		errx(2, "%s", dlerror());
	place = place_of(mark);
	at = mmap(NULL, place.length, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (at == MAP_FAILED)
		err(2, "mmap");
	map(at, argv[1], &place, PROT_READ | PROT_EXEC);
	map(at, argv[2], &place, PROT_READ);
	if (protect(at, place.length, PROT_READ | PROT_EXEC,
		    at + ((uintptr_t)mark - place.start) + 1))
		errx(2, "mprotect failed");
	return 0;
}
