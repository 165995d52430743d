// SPDX-License-Identifier: MIT
/*
 * Mappings of code: /proc/self/maps, next to what was told of it before. All of it is
 * async-signal-safe: it makes system calls, and nothing else.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include "code.h"
#include "internal.h"
#include "metadata.h"

#define BUILD_ID_BYTES	64

/* /proc/self is the process's first thread. If that has ended, it tells nothing, or cannot be opened. */
static int open_maps(void)
{
	int fd = open("/proc/self/maps", O_RDONLY | O_CLOEXEC);
	char byte;

	if (fd >= 0 && pread(fd, &byte, 1, 0) == 1)
		return fd;
	if (fd >= 0)
		close(fd);
	return open("/proc/thread-self/maps", O_RDONLY | O_CLOEXEC);
}

int kunwind_code_open(struct kunwind_code *code)
{
	code->pid = getpid();
	return kunwind_file_take(&code->maps, open_maps());
}

void kunwind_code_close(struct kunwind_code *code)
{
	kunwind_file_close(&code->maps);
}

/*
 * A mapping may be gone by now: a read of it must fail, not fault. The process's first thread
 * may have ended, so this one reads its own memory.
 */
static int read_memory(uint64_t address, void *bytes, size_t size)
{
	long tid = kunwind_syscall(SYS_gettid, 0, 0, 0, 0);
	struct iovec to = { bytes, size };
	struct iovec from = { (void *)(uintptr_t)address, size };

	return kunwind_syscall6(SYS_process_vm_readv, tid, (long)&to, 1, (long)&from, 1, 0) ==
	       (long)size;
}

/* Return: the bytes of the build ID among notes, or 0. */
static uint32_t find_build_id(const unsigned char *notes, size_t size,
			      unsigned char id[BUILD_ID_BYTES])
{
	Elf64_Nhdr note;
	size_t at = 0, name, desc;

	while (size - at >= sizeof(note)) {
		memcpy(&note, notes + at, sizeof(note));
		at += sizeof(note);
		name = ((size_t)note.n_namesz + 3) & ~(size_t)3;
		desc = ((size_t)note.n_descsz + 3) & ~(size_t)3;
		if (name > size - at || desc > size - at - name)
			return 0;
		if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == 4 &&
		    !memcmp(notes + at, "GNU", 4) && note.n_descsz <= BUILD_ID_BYTES) {
			memcpy(id, notes + at + name, note.n_descsz);
			return note.n_descsz;
		}
		at += name + desc;
	}
	return 0;
}

/* Of the file whose first byte is at @header. Return: the build ID's bytes, or 0. */
static uint32_t build_id_of(struct kunwind_code *code, uint64_t header,
			    unsigned char id[BUILD_ID_BYTES])
{
	Elf64_Phdr *phdrs = code->phdrs;
	uint64_t bias = header;
	uint32_t found = 0;
	Elf64_Ehdr ehdr;
	int i;

	if (!read_memory(header, &ehdr, sizeof(ehdr)) ||
	    memcmp(ehdr.e_ident, ELFMAG, SELFMAG) || ehdr.e_phentsize != sizeof(phdrs[0]))
		return 0;
	if (ehdr.e_phnum > CODE_HEADERS)
		ehdr.e_phnum = CODE_HEADERS;
	if (!read_memory(header + ehdr.e_phoff, phdrs, ehdr.e_phnum * sizeof(phdrs[0])))
		return 0;
	for (i = 0; i < ehdr.e_phnum; i++)
		if (phdrs[i].p_type == PT_LOAD && !phdrs[i].p_offset)
			bias = header - phdrs[i].p_vaddr;
	for (i = 0; i < ehdr.e_phnum && !found; i++) {
		size_t size = phdrs[i].p_filesz < CODE_NOTES ? phdrs[i].p_filesz : CODE_NOTES;

		if (phdrs[i].p_type == PT_NOTE &&
		    read_memory(bias + phdrs[i].p_vaddr, code->notes, size))
			found = find_build_id(code->notes, size, id);
	}
	return found;
}

static uint64_t take_number(const char **text, unsigned int base)
{
	uint64_t number = 0;

	for (;; (*text)++) {
		unsigned int digit = **text <= '9' ? (unsigned int)**text - '0' :
						     (unsigned int)**text - 'a' + 10;

		if (digit >= base)
			return number;
		number = number * base + digit;
	}
}

/* A line of maps. @path: within the line. */
struct line {
	struct kunwind_mapping mapping;
	const char *path;
	int is_code;
};

static void take_apart(const char *text, struct line *line)
{
	struct kunwind_mapping *mapping = &line->mapping;
	const char *c;

	mapping->start = take_number(&text, 16);
	text++;
	mapping->end = take_number(&text, 16);
	/* " r-xp " */
	line->is_code = text[3] == 'x';
	text += 6;
	mapping->offset = take_number(&text, 16);
	text++;
	mapping->dev = take_number(&text, 16) << 20;
	text++;
	mapping->dev |= take_number(&text, 16);
	text++;
	mapping->inode = take_number(&text, 10);
	while (*text == ' ')
		text++;
	line->path = text;
	mapping->path = 2166136261u;
	for (c = text; *c; c++)
		mapping->path = (mapping->path ^ (unsigned char)*c) * 16777619u;
}

/* Code without a file is not told, except the kernel's (Documentation/trace-format.md). */
static int is_told(const struct line *line)
{
	return line->is_code && (line->mapping.inode || !strcmp(line->path, "[vdso]") ||
				 !strcmp(line->path, "[uprobes]"));
}

static int is_same(const struct kunwind_mapping *a, const struct kunwind_mapping *b)
{
	return a->start == b->start && a->end == b->end && a->offset == b->offset &&
	       a->inode == b->inode && a->dev == b->dev && a->path == b->path;
}

/* Return: whether a list has a mapping, where @at is its first one that may be. */
static int has(const struct kunwind_mapping *list, uint32_t count, uint32_t *at,
	       const struct kunwind_mapping *mapping)
{
	while (*at < count && list[*at].start < mapping->start)
		++*at;
	return *at < count && is_same(&list[*at], mapping);
}

/* @header: where the file's first byte is, or 0 */
static void tell(struct kunwind_code *code, const struct line *line, uint64_t header,
		 uint64_t time)
{
	const struct kunwind_mapping *mapping = &line->mapping;
	struct kunwind_stream *stream = &code->stream;
	unsigned char id[BUILD_ID_BYTES];
	uint32_t id_bytes = header ? build_id_of(code, header, id) : 0;
	uint64_t space = code->pid;
	size_t path_bytes = strnlen(line->path, STREAM_EVENT / 2);

	kunwind_stream_event(stream, METADATA_MAP, time);
	kunwind_stream_put(stream, &space, sizeof(space));
	kunwind_stream_put(stream, &code->pid, sizeof(code->pid));
	kunwind_stream_put(stream, &mapping->start, sizeof(mapping->start));
	kunwind_stream_put(stream, &mapping->end, sizeof(mapping->end));
	kunwind_stream_put(stream, &mapping->offset, sizeof(mapping->offset));
	kunwind_stream_put(stream, &mapping->dev, sizeof(mapping->dev));
	kunwind_stream_put(stream, &mapping->inode, sizeof(mapping->inode));
	kunwind_stream_put(stream, &id_bytes, sizeof(id_bytes));
	kunwind_stream_put(stream, id, id_bytes);
	kunwind_stream_put(stream, line->path, path_bytes);
	kunwind_stream_put(stream, "", 1);
}

static void tell_end(struct kunwind_code *code, uint64_t start, uint64_t end, uint64_t time)
{
	uint64_t fields[] = { code->pid, start, end };

	kunwind_stream_event(&code->stream, METADATA_UNMAP, time);
	kunwind_stream_put(&code->stream, fields, sizeof(fields));
}

/*
 * What of a mapping is in no mapping of a list, whose first one that may be is at @at. The
 * list was told: what was replaced is gone by that.
 */
static void tell_rest(struct kunwind_code *code, const struct kunwind_mapping *mapping,
		      const struct kunwind_mapping *list, uint32_t count, uint32_t *at,
		      uint64_t time)
{
	uint64_t rest = mapping->start;
	uint32_t i;

	while (*at < count && list[*at].end <= rest)
		++*at;
	for (i = *at; i < count && list[i].start < mapping->end; i++) {
		if (rest < list[i].start)
			tell_end(code, rest, list[i].start, time);
		rest = list[i].end;
	}
	if (rest < mapping->end)
		tell_end(code, rest, mapping->end, time);
}

/* Read on. Return: the next line, with a 0 at its end; NULL at the end; or an error. */
static char *next_line(struct kunwind_code *code, uint64_t *offset, uint32_t *at, int *error)
{
	char *begin, *end;
	long ret;

	for (;;) {
		begin = code->text + *at;
		end = memchr(begin, '\n', code->used - *at);
		if (end) {
			*end = 0;
			*at = end + 1 - code->text;
			return begin;
		}
		code->used -= *at;
		memmove(code->text, begin, code->used);
		*at = 0;
		if (code->used == sizeof(code->text)) {
			*error = -E2BIG;
			return NULL;
		}
		ret = kunwind_syscall(SYS_pread64, code->maps.fd, (long)(code->text + code->used),
				      sizeof(code->text) - code->used, *offset);
		if (ret <= 0) {
			*error = ret;
			return NULL;
		}
		*offset += ret;
		code->used += ret;
	}
}

int kunwind_code_tell(struct kunwind_code *code, uint64_t time)
{
	const int last = code->told, next = !last;
	struct kunwind_mapping first = { 0 }, *list = code->lists[next];
	uint32_t count = 0, at = 0, same = 0, i;
	uint64_t offset = 0;
	struct line line;
	int error = 0;
	char *text;

	if (!kunwind_file_is_own(&code->maps))
		return -EBADF;
	code->used = 0;
	while ((text = next_line(code, &offset, &at, &error))) {
		take_apart(text, &line);
		if (!line.mapping.offset)
			first = line.mapping;
		if (!is_told(&line) || count == CODE_MAPPINGS)
			continue;
		list[count++] = line.mapping;
		if (!has(code->lists[last], code->count[last], &same, &line.mapping))
			tell(code, &line, line.mapping.inode == first.inode &&
			     line.mapping.dev == first.dev ? first.start : 0, time);
	}
	for (i = at = 0; i < code->count[last] && !error; i++)
		tell_rest(code, &code->lists[last][i], list, count, &at, time);
	if (!error)
		error = kunwind_stream_flush(&code->stream);
	if (error)
		return error;
	code->count[next] = count;
	code->told = next;
	return 0;
}
