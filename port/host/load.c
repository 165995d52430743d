// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* Make a file's table, by the loops that elf.h and compile.h describe. */
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>
#include "load.h"

/* Return: a copy of a piece of the file, alone in its allocation, or NULL. */
static u8 *piece(const struct host_source *source, u64 off, u64 len)
{
	u8 *copy;

	if (off > source->size || len > source->size - off)
		return NULL;
	copy = malloc(len ? len : 1);
	if (!copy)
		return NULL;
	if (source->fd < 0) {
		memcpy(copy, source->bytes + off, len);
	} else if (pread(source->fd, copy, len, (off_t)off) != (ssize_t)len) {
		free(copy);
		return NULL;
	}
	return copy;
}

/* How the ELF reader reads the file. */
struct reading {
	struct kuw_elf_file file;
	const struct host_source *source;
	u8 *pieces[KUW_ELF_PIECES];
};

static int read_piece(struct kuw_elf_file *file, u32 nr, u64 off, u32 len, const u8 **bytes)
{
	struct reading *r = (struct reading *)file;

	if (nr >= KUW_ELF_PIECES || len > KUW_ELF_MAX_READ || off > file->size ||
	    len > file->size - off)
		__builtin_trap();
	free(r->pieces[nr]);
	r->pieces[nr] = piece(r->source, off, len);
	*bytes = r->pieces[nr];
	return *bytes ? 0 : -EIO;
}

int host_read_elf(struct host_table *t, const struct host_source *source)
{
	struct reading r = { .file = { source->size, read_piece }, .source = source };
	struct kuw_elf *elf = &t->elf;
	int ret, i;

	memset(t, 0, sizeof(*t));
	t->stage = "ELF";
	ret = kuw_elf_read(elf, &r.file);
	for (i = 0; i < KUW_ELF_PIECES; i++)
		free(r.pieces[i]);
	if (ret)
		return ret;

	t->stage = "sections";
	t->eh_frame = piece(source, elf->eh_frame.off, elf->eh_frame.len);
	if (!t->eh_frame)
		return -EIO;
	if (elf->gopclntab.len) {
		t->gopclntab = piece(source, elf->gopclntab.off, elf->gopclntab.len);
		if (!t->gopclntab)
			return -EIO;
	}
	return 0;
}

/* A compilation. A pointer to its areas, which come first, is one to this. */
struct run {
	struct kuw_compile compile;
	unsigned int grown;
};

static int grow(struct kuw_areas *areas, u32 id, u64 bytes)
{
	struct kuw_area *area = &areas->area[id];
	void *mem;

	if (bytes <= area->bytes)
		__builtin_trap();
	((struct run *)areas)->grown++;
	mem = realloc(area->mem, bytes);
	if (!mem)
		return -ENOMEM;
	area->mem = mem;
	area->bytes = bytes;
	return 0;
}

static int do_not_pause(struct kuw_areas *areas)
{
	(void)areas;
	return 0;
}

int host_compile(struct host_table *t)
{
	struct run *run = calloc(1, sizeof(*run));
	struct kuw_compile *c = &run->compile;
	const struct kuw_table *made;
	int ret, i;

	if (!run)
		return -ENOMEM;
	t->stage = "compile";
	kuw_compile_init(c, &t->elf, t->eh_frame, t->gopclntab);
	c->areas.grow = grow;
	c->areas.pause = do_not_pause;
	ret = kuw_compile(c);
	t->grown = run->grown;
	if (!ret) {
		made = c->areas.area[KUW_AREA_TABLE].mem;
		t->bytes = made->bytes;
		t->table = malloc(t->bytes);
		if (t->table)
			memcpy(t->table, made, t->bytes);
		else
			ret = -ENOMEM;
	}
	for (i = 0; i < KUW_NR_AREAS; i++)
		free(c->areas.area[i].mem);
	free(run);
	return ret;
}

int host_load_bytes(struct host_table *t, const void *bytes, u64 size)
{
	struct host_source source = { .fd = -1, .bytes = bytes, .size = size };
	int ret = host_read_elf(t, &source);

	return ret ? ret : host_compile(t);
}

int host_load_fd(struct host_table *t, int fd)
{
	struct host_source source = { .fd = fd };
	struct stat st;
	int ret;

	memset(t, 0, sizeof(*t));
	t->stage = "open";
	if (fstat(fd, &st))
		return -errno;
	if (!S_ISREG(st.st_mode))
		return -ENOEXEC;
	source.size = (u64)st.st_size;
	ret = host_read_elf(t, &source);
	return ret ? ret : host_compile(t);
}

int host_load_file(struct host_table *t, const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK), ret;

	memset(t, 0, sizeof(*t));
	t->stage = "open";
	if (fd < 0)
		return -errno;
	ret = host_load_fd(t, fd);
	close(fd);
	return ret;
}

void host_table_free(struct host_table *t)
{
	free(t->eh_frame);
	free(t->gopclntab);
	free(t->table);
	memset(t, 0, sizeof(*t));
}

void host_rules(const struct kuw_table *table, u64 vaddr, struct kuw_rules *rules)
{
	kuw_table_expand(table, kuw_table_find(table, vaddr - table->base), rules);
}
