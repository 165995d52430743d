// SPDX-License-Identifier: MIT
/*
 * The files of a profile, without a module: what the events of mappings say is what
 * /proc/self/maps says, and a file that cannot be written on ends with a whole packet.
 */
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "code.h"
#include "metadata.h"
#include "stream.h"
#include "tap.h"

#define PAGE		4096ul
/* A packet's header, and where its size is. */
#define HEADER		60
#define CONTENT_BITS	24
#define MAX_PLACES	1024

struct place {
	uint64_t start;
	uint64_t end;
	uint64_t offset;
	uint64_t inode;
	uint32_t id_bytes;
	unsigned char id[64];
	char path[512];
};

/* What a reader knows after all events, and what is mapped. */
static struct place told[MAX_PLACES], mapped[MAX_PLACES];
static unsigned int nr_told, nr_mapped;

static int folder;
static struct kunwind_code code;
static unsigned char packets[2][STREAM_PACKET];

static void forget(uint64_t start, uint64_t end)
{
	unsigned int i, nr = nr_told;

	for (i = 0; i < nr; i++) {
		struct place *place = &told[i];

		if (place->end <= start || place->start >= end)
			continue;
		if (place->end > end && nr_told < MAX_PLACES) {
			told[nr_told] = *place;
			told[nr_told].offset += end - place->start;
			told[nr_told++].start = end;
		}
		place->end = place->start < start ? start : place->start;
	}
}

static int by_start(const void *a, const void *b)
{
	const struct place *one = a, *other = b;

	return one->start < other->start ? -1 : one->start > other->start;
}

static uint64_t take(const unsigned char **at, size_t size)
{
	uint64_t value = 0;

	memcpy(&value, *at, size);
	*at += size;
	return value;
}

/* Return: whether the events fill their packets. */
static int replay(const char *name)
{
	static unsigned char bytes[4 << 20];
	int fd = openat(folder, name, O_RDONLY);
	ssize_t size = read(fd, bytes, sizeof(bytes));
	const unsigned char *at = bytes, *end;

	close(fd);
	nr_told = 0;
	while (at < bytes + size) {
		const unsigned char *field = at + CONTENT_BITS;

		end = at + take(&field, 8) / 8;
		at += HEADER;
		while (at < end) {
			uint16_t event = take(&at, 2);
			struct place place = { 0 };

			at += 8 + 8;
			if (event == METADATA_UNMAP) {
				place.start = take(&at, 8);
				forget(place.start, take(&at, 8));
				continue;
			}
			at += 4;
			place.start = take(&at, 8);
			place.end = take(&at, 8);
			place.offset = take(&at, 8);
			at += 4;
			place.inode = take(&at, 8);
			place.id_bytes = take(&at, 4);
			memcpy(place.id, at, place.id_bytes);
			at += place.id_bytes;
			snprintf(place.path, sizeof(place.path), "%s", (const char *)at);
			at += strlen((const char *)at) + 1;
			forget(place.start, place.end);
			if (nr_told == MAX_PLACES)
				return 0;
			told[nr_told++] = place;
		}
		if (at != end)
			return 0;
	}
	for (unsigned int i = 0; i < nr_told; i++)
		if (told[i].start == told[i].end)
			told[i--] = told[--nr_told];
	qsort(told, nr_told, sizeof(told[0]), by_start);
	return 1;
}

static void read_maps(void)
{
	FILE *maps = fopen("/proc/self/maps", "re");
	char line[1024], mode[8];

	nr_mapped = 0;
	while (maps && fgets(line, sizeof(line), maps)) {
		struct place *place = &mapped[nr_mapped];

		place->path[0] = 0;
		sscanf(line, "%lx-%lx %7s %lx %*s %lu %511[^\n]", &place->start, &place->end,
		       mode, &place->offset, &place->inode, place->path);
		if (mode[2] == 'x' && (place->inode || !strcmp(place->path, "[vdso]")))
			nr_mapped++;
	}
	if (maps)
		fclose(maps);
}

static void compare(const char *when)
{
	int same;

	read_maps();
	same = replay("code") && nr_told == nr_mapped;
	for (unsigned int i = 0; same && i < nr_told; i++)
		same = told[i].start == mapped[i].start && told[i].end == mapped[i].end &&
		       told[i].offset == mapped[i].offset && told[i].inode == mapped[i].inode &&
		       !strcmp(told[i].path, mapped[i].path);
	if (tap_ok(same, "%s: %u mappings, as in maps", when, nr_mapped))
		return;
	for (unsigned int i = 0; i < nr_told || i < nr_mapped; i++)
		tap_diag("%lx-%lx %s, %lx-%lx %s", told[i].start, told[i].end, told[i].path,
			 mapped[i].start, mapped[i].end, mapped[i].path);
}

static void test_code(void)
{
	int one = open("/proc/self/exe", O_RDONLY | O_CLOEXEC), other;
	char *at;

	other = openat(folder, "other \n file", O_RDWR | O_CREAT | O_CLOEXEC, 0700);
	if (ftruncate(other, 16 * PAGE))
		tap_bail("ftruncate: %s", strerror(errno));
	tap_ok(!kunwind_code_tell(&code, 1), "what is mapped at the start");
	compare("at the start");
	at = mmap(NULL, 8 * PAGE, PROT_READ | PROT_EXEC, MAP_PRIVATE, one, 0);
	tap_ok(!kunwind_code_tell(&code, 2), "one more");
	compare("one more");
	/* A hole, another file at its end and over it, and one page that stays. */
	munmap(at + PAGE, PAGE);
	mmap(at + 4 * PAGE, 2 * PAGE, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_FIXED, other, 0);
	mprotect(at + 7 * PAGE, PAGE, PROT_READ);
	tap_ok(!kunwind_code_tell(&code, 3), "parts of it");
	compare("parts of it");
	munmap(at, 8 * PAGE);
	at = mmap(at + PAGE, 4 * PAGE, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_FIXED, other, PAGE);
	tap_ok(!kunwind_code_tell(&code, 4), "another one in its place");
	compare("another one in its place");
	munmap(at, 4 * PAGE);
	tap_ok(!kunwind_code_tell(&code, 5), "none");
	compare("none");
	for (int i = 0; i < 300; i++)
		if (mmap(NULL, PAGE, PROT_READ | PROT_EXEC, MAP_PRIVATE, other,
			 i % 2 * 2 * PAGE) == MAP_FAILED)
			tap_bail("mmap: %s", strerror(errno));
	tap_ok(!kunwind_code_tell(&code, 6), "many");
	compare("many");
	close(one);
	close(other);
}

/* The build ID of a loaded file, by the loader's own list. */
static int has_id(struct dl_phdr_info *info, size_t size, void *seen)
{
	unsigned int i, *count = seen;

	(void)size;
	for (i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *phdr = &info->dlpi_phdr[i];
		const char *note = (const char *)(info->dlpi_addr + phdr->p_vaddr);
		const ElfW(Nhdr) *header = (const ElfW(Nhdr) *)note;
		unsigned int j;

		if (phdr->p_type != PT_NOTE || header->n_type != NT_GNU_BUILD_ID)
			continue;
		for (j = 0; j < nr_told; j++)
			if (told[j].id_bytes == header->n_descsz &&
			    !memcmp(told[j].id, note + 16, told[j].id_bytes)) {
				++*count;
				return 0;
			}
		tap_diag("%s: no build ID", info->dlpi_name);
		return 1;
	}
	return 0;
}

static void test_ids(void)
{
	unsigned int count = 0;
	int failed = dl_iterate_phdr(has_id, &count);

	tap_ok(!failed && count, "%u build IDs are the loader's", count);
}

static void add(struct kunwind_stream *stream, unsigned int count)
{
	static const char room[1000];

	while (count--) {
		kunwind_stream_event(stream, 0, 7);
		kunwind_stream_put(stream, room, sizeof(room));
	}
}

static long file_size(const char *name)
{
	struct stat st;

	return fstatat(folder, name, &st, 0) ? -1 : st.st_size;
}

/* The file that is written to may not become larger. */
static void set_limit(rlim_t bytes)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_FSIZE, &limit))
		tap_bail("getrlimit: %s", strerror(errno));
	limit.rlim_cur = bytes < limit.rlim_max ? bytes : limit.rlim_max;
	if (setrlimit(RLIMIT_FSIZE, &limit))
		tap_bail("setrlimit: %s", strerror(errno));
}

static void test_stream(void)
{
	struct kunwind_stream stream = { .packet = packets[1] };
	long size;
	int fd;

	tap_ok(!kunwind_stream_open(&stream, folder, "full", 0, 0), "a file");
	tap_ok(kunwind_stream_open(&(struct kunwind_stream) { 0 }, folder, "full", 0, 0) ==
	       -EEXIST, "one that exists");
	tap_ok(!kunwind_stream_flush(&stream) && !file_size("full"), "no event, no packet");
	add(&stream, 200);
	size = file_size("full");
	tap_ok(size > 0 && (size_t)size == stream.offset && stream.written == 4 && stream.events,
	       "packets are written when they are full");
	set_limit(stream.offset + 100);
	tap_ok(kunwind_stream_flush(&stream) == -EFBIG && stream.error == -EFBIG,
	       "beyond the limit of files");
	tap_ok(file_size("full") == size && stream.discarded > 0 && !stream.events,
	       "its events are lost, and counted");
	set_limit(RLIM_INFINITY);
	add(&stream, 1);
	tap_ok(!kunwind_stream_flush(&stream) && file_size("full") > size, "it goes on after that");
	size = file_size("full");
	fd = stream.file.fd;
	close(fd);
	add(&stream, 1);
	tap_ok(kunwind_stream_flush(&stream) == -EBADF, "a file that is closed");
	tap_ok(openat(folder, "other", O_RDWR | O_CREAT | O_CLOEXEC, 0600) == fd,
	       "another one has its number");
	add(&stream, 1);
	tap_ok(kunwind_stream_flush(&stream) == -EBADF && !file_size("other"),
	       "nothing is written to that");
	kunwind_stream_close(&stream);
	tap_ok(fcntl(fd, F_GETFD) >= 0, "nor is it closed");
	close(fd);
	tap_ok(file_size("full") == size, "what was written stays");
}

int main(void)
{
	char name[] = "/tmp/kunwind-written-XXXXXX", remove[64];

	if (!mkdtemp(name))
		tap_bail("%s: %s", name, strerror(errno));
	folder = open(name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	tap_ok(!kunwind_metadata_write(folder) && file_size("metadata") > 1000, "metadata");
	code.stream.packet = packets[0];
	tap_ok(!kunwind_stream_open(&code.stream, folder, "code", METADATA_CODE, 0) &&
	       !kunwind_code_open(&code), "a file for mappings");
	test_code();
	test_ids();
	test_stream();
	kunwind_code_close(&code);
	tap_ok(kunwind_code_tell(&code, 9) == -EBADF, "without maps: EBADF");
	kunwind_stream_close(&code.stream);
	close(folder);
	snprintf(remove, sizeof(remove), "rm -rf -- %s", name);
	if (system(remove))
		tap_diag("%s is left", name);
	return tap_done();
}
