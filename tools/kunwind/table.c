// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * kunwind table: the table that the module would make of a file, made by the same
 * code; and the rules of an address, next to what libdw reads in the file itself.
 * A reader (reader.h) reads the file, which anyone may have made.
 */
#include <dwarf.h>
#include <elfutils/libdw.h>
#include <errno.h>
#include <gelf.h>
#include <inttypes.h>
#include <jansson.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include "command.h"
#include "files.h"
#include "load.h"
#include "reader.h"
#include "table.h"

#define TEXT	80

struct options {
	bool json;
	bool has_address;
	uint64_t address;
	const char *path;
	int fd;
};

/* psABI, Figure 3.36; 16 is the return address. */
static const char *const names[] = {
	"rax", "rdx", "rcx", "rbx", "rsi", "rdi", "rbp", "rsp", "r8", "r9", "r10",
	"r11", "r12", "r13", "r14", "r15", "ra",
};

#define NR_NAMES	(sizeof(names) / sizeof(names[0]))

/* What a frame is made of; the others are nobody's to restore. */
static const unsigned int shown[] = { 16, 6, 3, 12, 13, 14, 15 };

#define NR_SHOWN	(sizeof(shown) / sizeof(shown[0]))

static const char *name_of(unsigned int reg)
{
	return reg < NR_NAMES ? names[reg] : "?";
}

static void describe(const struct kuw_table *table, const struct kuw_loc *loc,
		     char *text)
{
	u32 len = 0;

	switch (loc->how) {
	case KUW_SAME:
		snprintf(text, TEXT, "same");
		break;
	case KUW_UNDEF:
		snprintf(text, TEXT, "undefined");
		break;
	case KUW_AT_CFA:
		snprintf(text, TEXT, "[cfa%+d]", loc->off);
		break;
	case KUW_CFA_PLUS:
		snprintf(text, TEXT, "cfa%+d", loc->off);
		break;
	case KUW_REG:
		snprintf(text, TEXT, "%s%+d", name_of(loc->reg), loc->off);
		break;
	case KUW_MEM:
		snprintf(text, TEXT, "[%s%+d]+%u", name_of(loc->reg), loc->off,
			 loc->arg);
		break;
	default:
		kuw_table_expr(table, loc, &len);
		snprintf(text, TEXT, "%s of %u bytes",
			 loc->how == KUW_EXPR ? "expression" : "[expression]", len);
	}
}

static unsigned int register_of(const Dwarf_Op *op, int64_t *offset)
{
	if (op->atom == DW_OP_bregx) {
		*offset = (int64_t)op->number2;
		return op->number;
	}
	if (op->atom >= DW_OP_breg0 && op->atom <= DW_OP_breg31) {
		*offset = (int64_t)op->number;
		return op->atom - DW_OP_breg0;
	}
	return NR_NAMES;
}

static void describe_cfa(const Dwarf_Op *ops, size_t n, char *text)
{
	int64_t offset;
	unsigned int reg = n == 1 ? register_of(ops, &offset) : NR_NAMES;

	if (reg < NR_NAMES)
		snprintf(text, TEXT, "%s%+" PRId64, name_of(reg), offset);
	else
		snprintf(text, TEXT, "expression of %zu operations", n);
}

/* As dwarf_frame_register() has it: a location; of nothing, that says which. */
static void describe_register(const Dwarf_Op *ops, size_t n, const Dwarf_Op *mem,
			      char *text)
{
	bool value = n && ops[n - 1].atom == DW_OP_stack_value;
	int64_t offset = 0;

	if (!n) {
		snprintf(text, TEXT, ops == mem ? "undefined" : "same");
		return;
	}
	if (ops[0].atom == DW_OP_call_frame_cfa && n - value <= 2 &&
	    (n - value == 1 || ops[1].atom == DW_OP_plus_uconst)) {
		if (n - value == 2)
			offset = (int64_t)ops[1].number;
		snprintf(text, TEXT, value ? "cfa%+" PRId64 : "[cfa%+" PRId64 "]",
			 offset);
		return;
	}
	snprintf(text, TEXT, "%s of %zu operations",
		 value ? "expression" : "[expression]", n - value);
}

struct answer {
	const char *name;
	char table[TEXT];
	char libdw[TEXT];
};

/* @frame: what libdw says, or NULL. */
static void compare(const struct kuw_table *table, const struct kuw_rules *rules,
		    Dwarf_Frame *frame, struct answer *answers)
{
	Dwarf_Op *ops, mem[3];
	size_t i, n;

	answers[0].name = "cfa";
	describe(table, &rules->cfa, answers[0].table);
	if (frame && !dwarf_frame_cfa(frame, &ops, &n))
		describe_cfa(ops, n, answers[0].libdw);
	for (i = 0; i < NR_SHOWN; i++) {
		struct answer *answer = &answers[i + 1];

		answer->name = name_of(shown[i]);
		describe(table, &rules->reg[shown[i]], answer->table);
		if (frame && !dwarf_frame_register(frame, shown[i], mem, &ops, &n))
			describe_register(ops, n, mem, answer->libdw);
	}
}

static const char *kind_name(u32 kind)
{
	return kind == KUW_RULES_SIGNAL ? "signal" :
	       kind == KUW_RULES_FRAME ? "frame" : "none";
}

static int show_address(const struct host_table *t, const struct options *options,
			json_t *json)
{
	struct answer answers[1 + NR_SHOWN] = { 0 };
	Dwarf_Frame *frame = NULL;
	struct kuw_rules rules;
	Dwarf_CFI *cfi = NULL;
	json_t *list, *at;
	Elf *elf;
	size_t i;

	elf_version(EV_CURRENT);
	elf = elf_begin(options->fd, ELF_C_READ_MMAP, NULL);
	if (elf)
		cfi = dwarf_getcfi_elf(elf);
	if (cfi && dwarf_cfi_addrframe(cfi, options->address, &frame))
		frame = NULL;
	host_rules(t->table, options->address, &rules);
	if (rules.kind != KUW_RULES_NONE)
		compare(t->table, &rules, frame, answers);
	if (json) {
		list = json_object();
		for (i = 0; rules.kind != KUW_RULES_NONE && i < 1 + NR_SHOWN; i++)
			json_object_set_new(list, answers[i].name,
				json_pack("{ssss}", "table", answers[i].table,
					  "libdw", answers[i].libdw));
		at = json_object();
		json_object_set_new(at, "address",
				    json_integer((json_int_t)options->address));
		json_object_set_new(at, "kind", json_string(kind_name(rules.kind)));
		json_object_set_new(at, "rules", list);
		json_object_set_new(json, "at", at);
	} else if (rules.kind == KUW_RULES_NONE) {
		printf("%#" PRIx64 ": no FDE has a rule for it\n", options->address);
	} else {
		printf("%#" PRIx64 "%s\n  %-4s %-30s %s\n", options->address,
		       rules.kind == KUW_RULES_SIGNAL ? ": a signal frame" : "",
		       "", "table", "libdw");
		for (i = 0; i < 1 + NR_SHOWN; i++)
			printf("  %-4s %-30s %s\n", answers[i].name,
			       answers[i].table, answers[i].libdw);
	}
	free(frame);
	if (cfi)
		dwarf_cfi_end(cfi);
	elf_end(elf);
	return 0;
}

static void show_table(const struct host_table *t, json_t *json)
{
	const struct kuw_table *table = t->table;
	double percent = table->eh_frame_len ?
		100.0 * table->bytes / table->eh_frame_len : 0;

	if (json) {
		json_object_set_new(json, "bytes", json_integer(table->bytes));
		json_object_set_new(json, "eh_frame_bytes",
				    json_integer(table->eh_frame_len));
		json_object_set_new(json, "rows", json_integer(table->nr_rows));
		json_object_set_new(json, "fdes", json_integer(table->nr_fdes));
		json_object_set_new(json, "rules", json_integer(table->nr_rules));
		json_object_set_new(json, "pairs", json_integer(table->nr_pairs));
		json_object_set_new(json, "bad", json_integer(table->nr_bad));
		json_object_set_new(json, "base",
				    json_integer((json_int_t)table->base));
		json_object_set_new(json, "span",
				    json_integer((json_int_t)table->span));
		return;
	}
	printf("text       %#" PRIx64 "-%#" PRIx64 "\n"
	       ".eh_frame  %u bytes, %u FDEs\n"
	       "table      %u bytes, %.1f %% of .eh_frame\n"
	       "rows       %u, %.1f bytes each\n"
	       "rules      %u\n"
	       "pairs      %u\n", (uint64_t)table->base,
	       (uint64_t)(table->base + table->span), table->eh_frame_len,
	       table->nr_fdes, table->bytes, percent, table->nr_rows,
	       table->nr_rows ? (double)table->bytes / table->nr_rows : 0,
	       table->nr_rules, table->nr_pairs);
	if (table->nr_bad)
		printf("left out   %u records, damaged or not representable\n",
		       table->nr_bad);
}

static const char *why(int err)
{
	switch (err) {
	case -ENODATA:
		return "it has no usable .eh_frame";
	case -ENOEXEC:
		return "it is no ELF file for x86-64 or i386";
	case -E2BIG:
		return "it is beyond a limit of core/budgets.h";
	default:
		return strerror(-err);
	}
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct options *options = state->input;
	char *end;

	switch (key) {
	case 'j':
		options->json = true;
		return 0;
	case ARGP_KEY_ARG:
		if (state->arg_num == 0) {
			options->path = arg;
			return 0;
		}
		if (state->arg_num > 1)
			return ARGP_ERR_UNKNOWN;
		errno = 0;
		options->address = strtoull(arg, &end, 0);
		options->has_address = true;
		if (errno || *end || end == arg)
			argp_error(state, "%s is no address; write it as 0x1234, as in the file",
				   arg);
		return 0;
	case ARGP_KEY_END:
		if (!options->path)
			argp_error(state, "which file?");
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

/* In the reader. Return: a status. */
static int show(const struct kc_reader *reader, void *data)
{
	const struct options *options = data;
	json_t *json = NULL;
	struct host_table t;
	int err, status = 0;

	kc_reader_begin_streams(reader);
	err = host_load_fd(&t, options->fd);
	if (err) {
		kc_error(NULL, "%s: %s", options->path, why(err));
		status = KC_FAILED;
	} else {
		if (options->json)
			json = json_object();
		show_table(&t, json);
		if (options->has_address)
			status = show_address(&t, options, json);
		if (json)
			status = kc_print_json(json);
	}
	host_table_free(&t);
	return status;
}

int kc_table(int argc, char **argv)
{
	static const struct argp_option takes[] = {
		{ "json", 'j', NULL, 0, "Print JSON", 0 },
		{ 0 },
	};
	static const struct argp argp = {
		.options = takes, .parser = parse, .args_doc = "FILE [ADDRESS]",
		.doc = "Compile the unwind table of an ELF file, as the kernel module "
		       "does, and print its size. With an address, also print the rules "
		       "at that address, next to those that libdw reads. For example:\n\n"
		       "  kunwind table /bin/ls 0x6000\n",
	};
	static const char *const nothing[] = { NULL };
	struct options options = { 0 };
	struct kc_reader reader = { .readable = nothing };
	struct stat st;
	int status;

	kc_parse(&argp, argc, argv, 0, &options);
	options.fd = kr_file_open_named(options.path);
	if (options.fd < 0 || fstat(options.fd, &st)) {
		kc_error(NULL, "%s: %s", options.path,
			 errno == EINVAL ? "it is no regular file of a disk" : strerror(errno));
		return KC_FAILED;
	}
	/* Not its size: a sparse file has any. */
	reader.bytes = (uint64_t)st.st_blocks * 512;
	reader.keeps[0] = options.fd;
	status = kc_reader_run(&reader, show, &options);
	close(options.fd);
	if (status >= 0 && WIFEXITED(status))
		return WEXITSTATUS(status);
	/* Nobody reads the output any more. */
	if (status >= 0 && WTERMSIG(status) == SIGPIPE)
		return KC_SIGNALLED(SIGPIPE);
	if (status < 0)
		kc_error(NULL, "the reader of the file: %s", strerror(errno));
	else
		kc_reader_say_died(options.path, WTERMSIG(status));
	return KC_FAILED;
}
