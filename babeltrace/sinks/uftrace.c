// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * Entries and exits of functions for uftrace: its folder, format version 4.
 *
 * A function that is in two consecutive stacks of a thread, with the same callers, is one
 * call that lasts from the first to the second. What is in one stack only was entered when
 * that stack was taken, and left when it was last seen.
 *
 * Functions have addresses of our own choice: each module of the profile is mapped, and
 * its functions are 16 bytes long. So the symbols of a module are its functions here, and
 * frames without a symbol have one.
 */
#include <inttypes.h>
#include <string.h>
#include "timeline.h"
#include "traced_machine.h"
#include "uftrace.h"

#define DATA_VERSION	4
#define LITTLE		1
#define ELF_CLASS_64	2
/* enum uftrace_feat_bits: TASK_SESSION, SYM_REL_ADDR, MAX_STACK */
#define FEATURES	(1 << 1 | 1 << 5 | 1 << 6)
/* enum uftrace_info_bits: EXE_NAME, CMDLINE, TASKINFO */
#define INFORMATION	(1 << 0 | 1 << 3 | 1 << 7)
/* What the 10 bits of a record can say. */
#define MAX_DEPTH	1024

/* Of a record. */
#define MAGIC		5
#define ENTRY		0
#define EXIT		1

/* One session has all processes: they have the same modules at the same addresses. */
#define SESSION		"6b756e77696e6400"

#define FUNCTION_BYTES	16
#define MODULE_BITS	32
#define MODULE_BASE(n)	(((uint64_t)(n) + 1) << MODULE_BITS)

/* Addresses are below that of the stack; and a file is called like a module. */
#define MAX_MODULES	30000
#define MODULE_LENGTH	200

/* Processes of another machine get other numbers. Linux gives none above 2^22. */
#define MACHINE_PIDS	10000000

/* What has no module, such as events. */
#define NO_MODULE	"kunwind"

struct header {
	char magic[8];
	uint32_t version;
	uint16_t header_size;
	uint8_t endian;
	uint8_t elf_class;
	uint64_t features;
	uint64_t information;
	uint16_t max_stack;
	uint16_t unused1;
	uint32_t unused2;
};

G_STATIC_ASSERT(sizeof(struct header) == 40);

/* A function that was entered. @node: 0 for an event, which no other stack has */
struct open {
	uint32_t node;
	uint32_t name;
};

/**
 * struct writer - what is being written
 * @output: the folder
 * @profile: its names are functions
 * @addresses: of each name, uint64_t
 * @modules: names of modules
 * @symbols: of each module, GString
 * @open: struct open of the thread at hand, the outermost first
 * @path: scratch: those of the next stack, the innermost first
 * @until: when the last stack was last seen
 * @records: of the thread
 * @text: scratch
 */
struct writer {
	const struct kr_output *output;
	const struct kr_profile *profile;
	GArray *addresses;
	struct kr_strings *modules;
	GPtrArray *symbols;
	GArray *open;
	GArray *path;
	int64_t until;
	GString *records;
	GString *text;
};

static void free_string(gpointer data)
{
	g_string_free(data, TRUE);
}

/* Names in brackets are no files for uftrace, and a path has no spaces. */
static void set_module(GString *to, const char *module)
{
	static const char others[] = "[]/ \t\n";
	gsize i;

	g_string_assign(to, module[0] ? module : NO_MODULE);
	if (to->len > MODULE_LENGTH)
		g_string_truncate(to, MODULE_LENGTH);
	for (i = 0; i < to->len; i++)
		if (strchr(others, to->str[i]))
			to->str[i] = '_';
	/* A file of that name would be hidden. */
	if (to->str[0] == '.')
		to->str[0] = '_';
}

/* Give each name an address, and its module a symbol. */
static void add_functions(struct writer *writer)
{
	const struct kr_strings *names = writer->profile->strings;
	uint32_t i, module;

	for (i = 0; i < kr_strings_count(names); i++) {
		const char *name = kr_strings_get(names, i);
		const char *part = strchr(name, KR_PART);
		GString *symbols;
		uint64_t offset, address;

		set_module(writer->text, writer->symbols->len < MAX_MODULES ? part + 1 : "");
		module = kr_strings_add(writer->modules, writer->text->str);
		if (module == writer->symbols->len)
			g_ptr_array_add(writer->symbols, g_string_new(NULL));
		symbols = g_ptr_array_index(writer->symbols, module);
		offset = (uint64_t)(i + 1) * FUNCTION_BYTES;
		address = MODULE_BASE(module) + offset;
		g_array_append_val(writer->addresses, address);
		g_string_append_printf(symbols, "%016" PRIx64 " T %.*s\n%016" PRIx64
				       " ? __sym_end\n", offset, (int)(part - name), name,
				       offset + FUNCTION_BYTES);
	}
}

static bool write_symbols(struct writer *writer)
{
	GString *map = g_string_new(NULL);
	bool done = true;
	guint i;

	for (i = 0; i < writer->symbols->len && done; i++) {
		GString *symbols = g_ptr_array_index(writer->symbols, i);
		const char *module = kr_strings_get(writer->modules, i);

		g_string_append_printf(map, "%" PRIx64 "-%" PRIx64
				       " r-xp 00000000 00:00 0 /%s\n", MODULE_BASE(i),
				       MODULE_BASE(i + 1), module);
		g_string_printf(writer->text, "%s.sym", module);
		done = kr_output_add(writer->output, writer->text->str, symbols);
	}
	/* Without a stack, uftrace takes all addresses for the kernel's. */
	g_string_append(map, "7ffffffde000-7ffffffff000 rw-p 00000000 00:00 0 [stack]\n");
	done = done && kr_output_add(writer->output, "sid-" SESSION ".map", map);
	g_string_free(map, TRUE);
	return done;
}

static void append_record(struct writer *writer, uint64_t type, uint64_t depth,
			  uint32_t name, int64_t time)
{
	const uint64_t record[] = {
		GUINT64_TO_LE((uint64_t)time),
		GUINT64_TO_LE(type | MAGIC << 3 | depth << 6 |
			      g_array_index(writer->addresses, uint64_t, name) << 16),
	};

	if (depth < MAX_DEPTH)
		g_string_append_len(writer->records, (const char *)record, sizeof(record));
}

static void leave_down_to(struct writer *writer, guint depth)
{
	guint i;

	for (i = writer->open->len; i > depth; i--)
		append_record(writer, EXIT, i - 1,
			      g_array_index(writer->open, struct open, i - 1).name,
			      writer->until);
	g_array_set_size(writer->open, depth);
}

static void set_path(struct writer *writer, const struct kr_span *span)
{
	const struct kr_profile *profile = writer->profile;
	struct open open = { .name = kr_pairs_get(profile->kinds, span->kind).b };

	g_array_set_size(writer->path, 0);
	g_array_append_val(writer->path, open);
	for (open.node = span->node; open.node;) {
		struct kr_pair pair = kr_pairs_get(profile->nodes, open.node - 1);

		open.name = pair.b;
		g_array_append_val(writer->path, open);
		open.node = pair.a;
	}
}

/* The next stack: what it shares with the last one goes on. */
static void take_piece(void *data, const struct kr_span *span, int64_t begin, int64_t end)
{
	struct writer *writer = data;
	guint common = 0, n, i;

	if (!span)
		return;
	set_path(writer, span);
	n = writer->path->len;
	while (common < MIN(n, writer->open->len)) {
		const struct open *now = &g_array_index(writer->open, struct open, common);
		const struct open *next = &g_array_index(writer->path, struct open,
							 n - 1 - common);

		if (!next->node || now->node != next->node)
			break;
		common++;
	}
	leave_down_to(writer, common);
	for (i = common; i < n; i++) {
		const struct open *next = &g_array_index(writer->path, struct open,
							 n - 1 - i);

		append_record(writer, ENTRY, i, next->name, begin);
		g_array_append_vals(writer->open, next, 1);
	}
	writer->until = end;
}

static bool is_known(int64_t number)
{
	return number >= 0 && number < MACHINE_PIDS;
}

static int64_t number_of(const struct kr_lane *lane, int64_t number)
{
	return number + (int64_t)MACHINE_PIDS * lane->machine->number;
}

static int64_t process_of(const struct kr_lane *lane)
{
	return number_of(lane, is_known(lane->pid) ? lane->pid : lane->tid);
}

static bool write_lane(struct writer *writer, const struct kr_lane *lane)
{
	kr_lane_walk(lane, take_piece, writer);
	leave_down_to(writer, 0);
	g_string_printf(writer->text, "%" PRId64 ".dat", number_of(lane, lane->tid));
	return kr_output_add(writer->output, writer->text->str, writer->records);
}

static void append_time(GString *to, int64_t time)
{
	g_string_append_printf(to, "timestamp=%" PRId64 ".%09" PRId64, time / 1000000000,
			       time % 1000000000);
}

/* A process is called as its thread was last. */
static void append_session(struct writer *writer, GString *to, const struct kr_lane *lane)
{
	const struct kr_profile *profile = writer->profile;
	const struct kr_span *last = &g_array_index(lane->spans, struct kr_span,
						    lane->spans->len - 1);
	const char *name = kr_strings_get(profile->strings,
					  kr_pairs_get(profile->kinds, last->kind).a);
	const char *end = g_strrstr_len(name, strchr(name, KR_PART) - name, " [");

	end = end ?: strchr(name, KR_PART);
	g_string_append(to, "SESS ");
	append_time(to, profile->begin);
	g_string_append_printf(to, " pid=%" PRId64 " sid=" SESSION " exename=\"%.*s\"\n",
			       process_of(lane), (int)(end - name), name);
}

/* What threads there are. */
static bool write_tasks(struct writer *writer, const GPtrArray *lanes)
{
	GString *text = g_string_new(NULL);
	int64_t process = -1;
	bool done;
	guint i;

	for (i = 0; i < lanes->len; i++) {
		const struct kr_lane *lane = g_ptr_array_index(lanes, i);

		if (process_of(lane) != process)
			append_session(writer, text, lane);
		process = process_of(lane);
		g_string_append(text, "TASK ");
		append_time(text, writer->profile->begin);
		g_string_append_printf(text, " tid=%" PRId64 " pid=%" PRId64 "\n",
				       number_of(lane, lane->tid), process);
	}
	done = kr_output_add(writer->output, "task.txt", text);
	g_string_free(text, TRUE);
	return done;
}

static bool write_info(struct writer *writer, const GPtrArray *lanes)
{
	const struct header header = {
		.magic = "Ftrace!", .version = GUINT32_TO_LE(DATA_VERSION),
		.header_size = GUINT16_TO_LE(sizeof(header)), .endian = LITTLE,
		.elf_class = ELF_CLASS_64, .features = GUINT64_TO_LE(FEATURES),
		.information = GUINT64_TO_LE(INFORMATION),
		.max_stack = GUINT16_TO_LE(MAX_DEPTH),
	};
	GString *text = g_string_new_len((const char *)&header, sizeof(header));
	bool done;
	guint i;

	g_string_append_printf(text, "exename:kunwind\ncmdline:kunwind report --uftrace\n"
			       "taskinfo:lines=2\ntaskinfo:nr_tid=%u\ntaskinfo:tids=",
			       lanes->len);
	for (i = 0; i < lanes->len; i++) {
		const struct kr_lane *lane = g_ptr_array_index(lanes, i);

		g_string_append_printf(text, "%s%" PRId64, i ? "," : "",
				       number_of(lane, lane->tid));
	}
	g_string_append_c(text, '\n');
	done = kr_output_add(writer->output, "info", text);
	g_string_free(text, TRUE);
	return done;
}

/* Threads whose number is not known cannot have a file. */
static GPtrArray *known_lanes(struct kr_timeline *timeline)
{
	GPtrArray *lanes = kr_timeline_lanes(timeline), *known = g_ptr_array_new();
	guint i;

	for (i = 0; i < lanes->len; i++) {
		struct kr_lane *lane = g_ptr_array_index(lanes, i);

		if (is_known(lane->tid))
			g_ptr_array_add(known, lane);
	}
	return known;
}

bool kr_uftrace(const struct kr_output *output, const struct kr_profile *profile,
		struct kr_timeline *timeline)
{
	struct writer writer = {
		.output = output, .profile = profile, .modules = kr_strings_new(),
		.addresses = g_array_new(FALSE, FALSE, sizeof(uint64_t)),
		.symbols = g_ptr_array_new_with_free_func(free_string),
		.open = g_array_new(FALSE, FALSE, sizeof(struct open)),
		.path = g_array_new(FALSE, FALSE, sizeof(struct open)),
		.records = g_string_new(NULL), .text = g_string_new(NULL),
	};
	GPtrArray *lanes = known_lanes(timeline);
	bool done;
	guint i;

	add_functions(&writer);
	done = write_symbols(&writer) && write_tasks(&writer, lanes) &&
	       write_info(&writer, lanes);
	for (i = 0; i < lanes->len && done; i++)
		done = write_lane(&writer, g_ptr_array_index(lanes, i));
	kr_strings_free(writer.modules);
	g_array_unref(writer.addresses);
	g_ptr_array_unref(writer.symbols);
	g_array_unref(writer.open);
	g_array_unref(writer.path);
	g_string_free(writer.records, TRUE);
	g_string_free(writer.text, TRUE);
	g_ptr_array_unref(lanes);
	return done;
}
