// SPDX-License-Identifier: MIT
/* Storms of code: loaded, mapped, moved, replaced. */
#include <dlfcn.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "code.h"

#define PAGE		4096UL
/* What is reserved to map code in. */
#define WINDOW		(16 * PAGE)
#define THREADS		3
#define TURNS		4

int code_open(const char *path, struct code *code)
{
	void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	struct link_map *map = library;
	ElfW(Ehdr) header;
	ElfW(Phdr) segment;
	int fd;

	if (!library) {
		errno = ENOEXEC;
		return -1;
	}
	code->entry = (uintptr_t)dlsym(library, "variant_call") - map->l_addr;
	dlclose(library);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0 || pread(fd, &header, sizeof(header), 0) != sizeof(header))
		return -1;
	for (unsigned int i = 0; i < header.e_phnum; i++) {
		if (pread(fd, &segment, sizeof(segment), header.e_phoff +
			  i * sizeof(segment)) != sizeof(segment))
			return -1;
		if (segment.p_type != PT_LOAD || !(segment.p_flags & PF_X))
			continue;
		code->offset = segment.p_offset & -PAGE;
		code->entry -= segment.p_vaddr & -PAGE;
		code->length = (segment.p_offset + segment.p_filesz -
				code->offset + PAGE - 1) & -PAGE;
		return fd;
	}
	close(fd);
	errno = ENOEXEC;
	return -1;
}

NOINLINE void code_call(const struct code *code, char *at, enum live_bottom bottom,
			const char *where)
{
	struct live_stacks *stacks = live_new();
	variant_fn call = (variant_fn)(uintptr_t)(at + code->entry);

	CALLED();
	call(look_calls(bottom, PEER_BLIND, where), stacks);
	RETURNS();
	live_free(stacks);
}

/* The libraries as files, opened once. */
static struct code variants[NR_VARIANTS];
static int files[NR_VARIANTS];
static pthread_once_t opened = PTHREAD_ONCE_INIT;

static void open_variants(void)
{
	for (unsigned int i = 0; i < NR_VARIANTS; i++) {
		files[i] = code_open(variant_path(i), &variants[i]);
		if (files[i] < 0)
			tap_bail("%s: cannot be opened", variant_path(i));
	}
}

static char *reserve(void)
{
	char *window = mmap(NULL, WINDOW, PROT_NONE,
			    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (window == MAP_FAILED)
		trouble("mmap");
	return window;
}

static char *map_code(unsigned int variant, char *at, int prot)
{
	at = mmap(at, variants[variant].length, prot,
		  MAP_PRIVATE | (at ? MAP_FIXED : 0), files[variant],
		  variants[variant].offset);
	if (at == MAP_FAILED)
		trouble("mmap");
	return at;
}

/* What several threads do at once, in places of their own. */
struct job {
	void (*turn)(enum live_bottom bottom);
	enum live_bottom bottom;
};

static NOINLINE void take_turns(const struct job *job)
{
	CALLED();
	for (int turn = 0; turn < TURNS; turn++)
		job->turn(job->bottom);
	RETURNS();
}

static NOINLINE void *begin_thread(void *argument)
{
	CALLED();
	take_turns(argument);
	RETURNS();
	return NULL;
}

static NOINLINE void in_threads(void (*turn)(enum live_bottom bottom))
{
	struct job theirs = { turn, LIVE_THREAD }, own = { turn, LIVE_MAIN };
	pthread_t threads[THREADS];

	CALLED();
	pthread_once(&opened, open_variants);
	for (int i = 0; i < THREADS; i++)
		if (pthread_create(&threads[i], NULL, begin_thread, &theirs))
			tap_bail("pthread_create");
	take_turns(&own);
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	RETURNS();
}

/* Count it if other code was at @at, of what was put into one of the last places. */
static void note_place(const void *at, unsigned int variant)
{
	static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
	static struct {
		const void *at;
		unsigned int variant;
	} places[64];
	static unsigned int next;
	unsigned int i;

	pthread_mutex_lock(&lock);
	for (i = 0; i < sizeof(places) / sizeof(places[0]); i++)
		if (places[i].at == at)
			break;
	if (i == sizeof(places) / sizeof(places[0]))
		i = next++ % i;
	else if (places[i].variant != variant)
		atomic_fetch_add(&tally->reused, 1);
	places[i].at = at;
	places[i].variant = variant;
	pthread_mutex_unlock(&lock);
}

static NOINLINE void dlopen_turn(enum live_bottom bottom)
{
	unsigned int variant = chance(NR_VARIANTS);
	struct live_stacks *stacks = live_new();
	void *library = dlopen(variant_path(variant), RTLD_NOW | RTLD_LOCAL);
	variant_fn call = NULL;

	CALLED();
	if (library) {
		note_place((void *)((struct link_map *)library)->l_addr, variant);
		call = (variant_fn)(uintptr_t)dlsym(library, "variant_call");
	}
	if (call)
		call(look_calls(bottom, PEER_ASKED, "a library"), stacks);
	else
		trouble("dlopen");
	RETURNS();
	if (library)
		dlclose(library);
	live_free(stacks);
}

NOINLINE void storm_dlopen(void)
{
	CALLED();
	in_threads(dlopen_turn);
	RETURNS();
}

static NOINLINE void mmap_turn(enum live_bottom bottom)
{
	char *window = reserve(), *at;
	unsigned int variant;

	CALLED();
	for (int i = 0; i < TURNS && window != MAP_FAILED; i++) {
		variant = chance(NR_VARIANTS);
		at = map_code(variant, window + chance(2) * PAGE, PROT_READ | PROT_EXEC);
		if (at == MAP_FAILED)
			continue;
		note_place(at, variant);
		code_call(&variants[variant], at, bottom, "code over other code");
	}
	munmap(window, WINDOW);
	RETURNS();
}

NOINLINE void storm_mmap(void)
{
	CALLED();
	in_threads(mmap_turn);
	RETURNS();
}

static NOINLINE void mprotect_turn(enum live_bottom bottom)
{
	unsigned int variant = chance(NR_VARIANTS);
	char *at = map_code(variant, NULL, PROT_READ | chance(2) * PROT_WRITE);
	size_t length = variants[variant].length;

	CALLED();
	if (at != MAP_FAILED) {
		for (int i = 0; i < 2; i++) {
			if (mprotect(at, length, PROT_READ | PROT_EXEC))
				trouble("mprotect");
			code_call(&variants[variant], at, bottom, "code that was data");
			if (mprotect(at, length, PROT_READ))
				trouble("mprotect");
		}
		munmap(at, length);
	}
	RETURNS();
}

NOINLINE void storm_mprotect(void)
{
	CALLED();
	in_threads(mprotect_turn);
	RETURNS();
}

static NOINLINE void mremap_turn(enum live_bottom bottom)
{
	unsigned int variant = chance(NR_VARIANTS);
	char *at = map_code(variant, NULL, PROT_READ | PROT_EXEC), *window = reserve();
	size_t length = variants[variant].length;

	CALLED();
	if (at != MAP_FAILED && window != MAP_FAILED) {
		code_call(&variants[variant], at, bottom, "code before it is moved");
		at = mremap(at, length, length, MREMAP_MAYMOVE | MREMAP_FIXED,
			    window + chance(4) * PAGE);
		if (at == MAP_FAILED)
			trouble("mremap");
		else
			code_call(&variants[variant], at, bottom, "code that was moved");
		munmap(window, WINDOW);
	}
	RETURNS();
}

NOINLINE void storm_mremap(void)
{
	CALLED();
	in_threads(mremap_turn);
	RETURNS();
}

/* Return: whether @to is a copy of @from, whole. */
int code_copy(const char *from, int to)
{
	int fd = open(from, O_RDONLY | O_CLOEXEC);
	char piece[16384];
	ssize_t n = -1;

	while (fd >= 0 && (n = read(fd, piece, sizeof(piece))) > 0)
		if (write(to, piece, n) != n)
			break;
	if (fd >= 0)
		close(fd);
	return n == 0;
}

/* Load what is at @path, which is variant @number now, and call it. */
static NOINLINE void load_and_call(const char *path, const char *where)
{
	void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	struct live_stacks *stacks = live_new();
	variant_fn call = NULL;

	CALLED();
	if (library)
		call = (variant_fn)(uintptr_t)dlsym(library, "variant_call");
	if (call)
		call(look_calls(LIVE_MAIN, PEER_ASKED, where), stacks);
	else
		trouble(dlerror());
	RETURNS();
	if (library)
		dlclose(library);
	live_free(stacks);
}

/* A package is upgraded: the new file takes the old one's name. */
NOINLINE void storm_replace(void)
{
	char folder[] = "/tmp/storm-XXXXXX", path[64], fresh[64];
	struct code old_code, code;
	char *old = NULL, *at;
	int fd;

	CALLED();
	if (!mkdtemp(folder))
		tap_bail("mkdtemp");
	snprintf(path, sizeof(path), "%s/library.so", folder);
	snprintf(fresh, sizeof(fresh), "%s/library.so.new", folder);
	for (int i = 0; i < TURNS; i++) {
		fd = open(fresh, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0755);
		if (fd < 0 || !code_copy(variant_path(chance(NR_VARIANTS)), fd) ||
		    close(fd) || rename(fresh, path))
			trouble("a copy of a library");
		load_and_call(path, "a library that was replaced");
		fd = code_open(path, &code);
		at = fd < 0 ? MAP_FAILED :
			      mmap(NULL, code.length, PROT_READ | PROT_EXEC,
				   MAP_PRIVATE, fd, code.offset);
		if (at == MAP_FAILED) {
			trouble(path);
			continue;
		}
		close(fd);
		code_call(&code, at, LIVE_MAIN, "code of the new file");
		if (old) {
			code_call(&old_code, old, LIVE_MAIN, "code of the old file");
			munmap(old, old_code.length);
		}
		old = at;
		old_code = code;
	}
	if (old)
		munmap(old, old_code.length);
	unlink(path);
	rmdir(folder);
	RETURNS();
}

NOINLINE void storm_memfd(void)
{
	char path[32];
	int fd = memfd_create("variant", 0);

	CALLED();
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	if (fd < 0 || !code_copy(variant_path(chance(NR_VARIANTS)), fd))
		trouble("memfd_create");
	else
		load_and_call(path, "a file without a name");
	close(fd);
	RETURNS();
}
