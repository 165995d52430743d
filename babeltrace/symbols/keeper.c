// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* What is asked of the symbolizer, and opening files for it. */
#include <errno.h>
#include <glib.h>
#include <poll.h>
#include <stdbool.h>
#include <stdint.h>
#include <unistd.h>
#include "child.h"
#include "costs.h"
#include "elf_file.h"
#include "keeper.h"
#include "module.h"
#include "notes.h"
#include "reader_budgets.h"
#include "servers.h"
#include "speed.h"
#include "wire.h"

/**
 * struct file - a file of the trace
 * @why: what to note of it; KR_NR_NOTES: nothing
 * @out: it is not here, or is left out
 * @path: where it was found, below the sysroot
 * @generation: the symbolizer that has it; 0: none
 * @again: it was closed and opened again for this question
 * @cost: its own
 */
struct file {
	enum kr_note why;
	bool out;
	char *path;
	unsigned int generation;
	bool again;
	struct kr_cost cost;
};

/**
 * struct kr_keeper - the symbolizer, seen from its parent
 * @sysroot: where files are, or NULL
 * @by_name: a file's name is enough
 * @servers: of debuginfod
 * @stop: set when no answer is wanted any more
 * @pid: its process; 0: none runs
 * @socket: its socket
 * @generation: how many there were
 * @files: struct file by number
 * @others: those beyond the budget of files
 * @costs: of all
 */
struct kr_keeper {
	char *sysroot;
	bool by_name;
	struct kr_servers servers;
	const volatile sig_atomic_t *stop;
	pid_t pid;
	int socket;
	unsigned int generation;
	GHashTable *files;
	struct file others;
	struct kr_costs costs;
};

/* What is asked for. */
struct ask {
	uint32_t number;
	const struct kr_module_id *id;
	uint64_t offset;
	gboolean call;
};

static void free_file(gpointer data)
{
	struct file *file = data;

	g_free(file->path);
	g_free(file);
}

bool kr_keeper_start(struct kr_keeper *keeper)
{
	pid_t pid;

	if (keeper->pid)
		return true;
	/* The symbolizer's limits need it: measured here, it is measured once. */
	(void)kr_slowness();
	pid = kr_child_start(&keeper->socket);
	if (pid < 0)
		return false;
	kr_costs_of_process(&keeper->costs, pid);
	keeper->pid = pid;
	keeper->generation++;
	return true;
}

static void stop_symbolizer(struct kr_keeper *keeper)
{
	if (keeper->pid) {
		kr_costs_end(&keeper->costs);
		kr_child_end(keeper->pid, keeper->socket);
	}
	keeper->pid = 0;
}

/*
 * Wait for the symbolizer's next message, as long as the file may cost and it is wanted.
 *
 * Return: NULL if it has ended, or must be ended.
 */
static GVariant *await(struct kr_keeper *keeper, struct file *file, enum kr_wire *kind)
{
	struct pollfd poller = { .fd = keeper->socket, .events = POLLIN };
	int ready;

	kr_costs_turn(&keeper->costs, &file->cost);
	while (!*keeper->stop && !kr_costs_are_spent(&keeper->costs, &file->cost)) {
		ready = poll(&poller, 1, KR_LOOK_MS);
		if (ready > 0)
			return kr_wire_receive(keeper->socket, kind, NULL);
		if (ready < 0 && errno != EINTR)
			return NULL;
		kr_costs_waited(&keeper->costs);
	}
	return NULL;
}

/* Pass a file descriptor, which is closed. */
static bool pass(struct kr_keeper *keeper, struct file *file, enum kr_wire kind,
		 GVariant *body, int fd)
{
	bool done;

	if (fd >= 0)
		kr_costs_allow(&keeper->costs, &file->cost, kr_elf_file_bytes(fd));
	done = kr_wire_send(keeper->socket, kind, body, fd);
	if (fd >= 0)
		close(fd);
	return done;
}

static GVariant *id_bytes(const struct kr_module_id *id)
{
	return kr_wire_bytes(id->build_id, id->build_id_len);
}

/* Return: whether the symbolizer lives; @match: what it says of a file. */
static bool try(struct kr_keeper *keeper, struct file *file, const struct ask *ask, int fd,
		enum kr_match *match)
{
	enum kr_wire kind = KR_NR_WIRES;
	GVariant *said;
	guint32 value = KR_NO_ELF;

	if (!pass(keeper, file, KR_OPEN,
		  g_variant_new("(u@ay@aytt)", ask->number,
				g_variant_new_bytestring(ask->id->path),
				id_bytes(ask->id), ask->id->dev, ask->id->inode), fd))
		return false;
	said = await(keeper, file, &kind);
	if (said && kind == KR_MATCHED)
		g_variant_get(said, KR_MATCHED_TYPE, &value);
	if (said)
		g_variant_unref(said);
	*match = value;
	return kind == KR_MATCHED;
}

/*
 * Without a build ID only the user's word makes a name enough. The reason gets better
 * when a file is there.
 */
static bool is_usable(const struct kr_keeper *keeper, struct file *file, enum kr_match match)
{
	switch (match) {
	case KR_MATCHES:
		file->why = KR_NR_NOTES;
		return true;
	case KR_OTHER_INODE:
		file->why = KR_UNPROVEN;
		if (!keeper->by_name)
			return false;
		/* fallthrough */
	case KR_SAME_INODE:
		file->why = KR_UNCHECKED;
		return true;
	case KR_DIFFERS:
		file->why = KR_OTHER_FILE;
		return false;
	case KR_NO_ELF:
	default:
		file->why = KR_UNREADABLE;
		return false;
	}
}

/* Give the file to the symbolizer. Return: false if that has ended. */
static bool provide(struct kr_keeper *keeper, struct file *file, const struct ask *ask)
{
	GPtrArray *places = kr_elf_file_places(ask->id);
	bool lives = true, unreadable;
	enum kr_match match;
	guint i;
	int fd;

	file->why = KR_NO_FILE;
	file->generation = 0;
	for (i = 0; i < places->len && lives && !file->generation; i++) {
		const char *place = g_ptr_array_index(places, i);

		fd = kr_elf_file_open(keeper->sysroot, &keeper->servers, ask->id, place,
				      &unreadable);
		if (fd < 0) {
			if (unreadable && file->why == KR_NO_FILE)
				file->why = errno == EMFILE ? KR_NO_DESCRIPTOR : KR_UNREADABLE;
			continue;
		}
		lives = try(keeper, file, ask, fd, &match);
		if (lives && is_usable(keeper, file, match)) {
			g_free(file->path);
			file->path = g_strdup(place);
			file->generation = keeper->generation;
		}
	}
	file->out = lives && !file->generation;
	if (file->out && ask->id->build_id_len && keeper->servers.given_up)
		file->why = KR_NO_ANSWER;
	g_ptr_array_unref(places);
	return lives;
}

/* The symbolizer looks for debug information. Return: whether it lives. */
static bool find(struct kr_keeper *keeper, struct file *file, GVariant *body)
{
	const char *name;
	GVariant *bytes;
	gconstpointer id;
	gsize length;
	guint32 nth;
	bool more;
	int fd;

	g_variant_get(body, "(^&ay@ayu)", &name, &bytes, &nth);
	id = g_variant_get_fixed_array(bytes, &length, 1);
	fd = kr_elf_file_find_debug(keeper->sysroot, &keeper->servers, file->path, name, id,
				    length, nth, &more);
	if (fd < 0 && !more && length && keeper->servers.given_up && file->why == KR_NR_NOTES)
		file->why = KR_NO_ANSWER;
	g_variant_unref(bytes);
	return pass(keeper, file, KR_FOUND, g_variant_new("(b)", more), fd);
}

/*
 * Return: what the symbolizer answers; NULL if it has ended, or is to be ended, or if the
 * file is out.
 */
static GVariant *look(struct kr_keeper *keeper, struct file *file, const struct ask *ask)
{
	enum kr_wire kind = KR_REOPEN;
	unsigned int attempts = 0, finds = 0;
	GVariant *said;

	while (kind == KR_REOPEN) {
		if (file->generation != keeper->generation &&
		    (attempts++ > 1 || !provide(keeper, file, ask) || file->out))
			return NULL;
		if (!pass(keeper, file, KR_LOOK,
			  g_variant_new("(utb)", ask->number, ask->offset, ask->call), -1))
			return NULL;
		for (;;) {
			said = await(keeper, file, &kind);
			if (!said || kind == KR_ANSWER)
				return said;
			if (kind != KR_FIND || finds++ == KR_FINDS ||
			    !find(keeper, file, said))
				break;
			g_variant_unref(said);
		}
		g_variant_unref(said);
		file->generation = 0;
		file->again = true;
	}
	return NULL;
}

static void leave_out(struct kr_keeper *keeper, struct file *file)
{
	stop_symbolizer(keeper);
	file->why = KR_STOPPED;
	file->out = true;
}

static struct file *file_of(struct kr_keeper *keeper, uint32_t number)
{
	struct file *file = g_hash_table_lookup(keeper->files, GUINT_TO_POINTER(number));

	if (file)
		return file;
	if (g_hash_table_size(keeper->files) >= KR_FILES)
		return &keeper->others;
	file = g_new0(struct file, 1);
	file->why = KR_NO_FILE;
	g_hash_table_insert(keeper->files, GUINT_TO_POINTER(number), file);
	return file;
}

GVariant *kr_keeper_look(struct kr_keeper *keeper, uint32_t number,
			 const struct kr_module_id *id, uint64_t offset, bool call,
			 struct kr_about *about)
{
	const struct ask ask = {
		.number = number, .id = id, .offset = offset, .call = call,
	};
	struct file *file = file_of(keeper, number);
	GVariant *said = NULL;

	file->again = false;
	if (!file->out && kr_costs_are_all_spent(&keeper->costs))
		leave_out(keeper, file);
	if (!file->out && kr_keeper_start(keeper)) {
		said = look(keeper, file, &ask);
		if (said)
			keeper->costs.answer_bytes += g_variant_get_size(said);
		else if (!file->out)
			leave_out(keeper, file);
	}
	*about = (struct kr_about) { .why = file->why, .again = file->again };
	return said;
}

struct kr_keeper *kr_keeper_new(const char *sysroot, bool by_name,
				const volatile sig_atomic_t *stop)
{
	static const volatile sig_atomic_t never;
	struct kr_keeper *keeper = g_new0(struct kr_keeper, 1);

	keeper->sysroot = g_strdup(sysroot);
	keeper->by_name = by_name;
	keeper->stop = keeper->servers.stop = stop ?: &never;
	keeper->files = g_hash_table_new_full(NULL, NULL, NULL, free_file);
	keeper->others = (struct file){ .why = KR_STOPPED, .out = true };
	return keeper;
}

void kr_keeper_free(struct kr_keeper *keeper)
{
	stop_symbolizer(keeper);
	g_hash_table_destroy(keeper->files);
	g_free(keeper->sysroot);
	g_free(keeper);
}
