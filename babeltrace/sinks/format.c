// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* Fields and frames as text, as strace shows them where it does. */
#include <inttypes.h>
#include <string.h>
#include <linux/kunwind.h>
#include "format.h"
#include "module.h"
#include "resolved_stack.h"
#include "safe.h"

/* Of an array; what is longer is cut. */
#define MAX_ELEMENTS	16
#define MAX_ERRNO	4095

/* LTTng records most pointers as decimal numbers. Few numbers of things are as large. */
#define POINTERS_FROM	G_GINT64_CONSTANT(0x100000000)
#define POINTERS_TO	G_GINT64_CONSTANT(0x800000000000)

const struct kr_colors *kr_colors(bool colored)
{
	static const struct kr_colors none = { "", "", "", "", "", "", "", "" };
	static const struct kr_colors some = {
		.time = "\033[2m", .task = "\033[36m", .name = "\033[1m",
		.error = "\033[31m", .function = "\033[33m",
		.module = "\033[2m", .source = "\033[32m", .off = "\033[0m",
	};

	return colored ? &some : &none;
}

static void format_integer(GString *to, const bt_field *field, bool is_signed)
{
	bool hex = bt_field_class_integer_get_preferred_display_base(
		bt_field_borrow_class_const(field)) ==
		BT_FIELD_CLASS_INTEGER_PREFERRED_DISPLAY_BASE_HEXADECIMAL;

	if (is_signed)
		g_string_append_printf(to, hex ? "%#" PRIx64 : "%" PRId64,
				       bt_field_integer_signed_get_value(field));
	else
		g_string_append_printf(to, hex ? "%#" PRIx64 : "%" PRIu64,
				       bt_field_integer_unsigned_get_value(field));
}

static void format_enumeration(GString *to, const bt_field *field, bool is_signed)
{
	bt_field_class_enumeration_mapping_label_array labels;
	uint64_t n = 0;
	int err;

	err = is_signed ?
	      bt_field_enumeration_signed_get_mapping_labels(field, &labels, &n) :
	      bt_field_enumeration_unsigned_get_mapping_labels(field, &labels, &n);
	if (!err && n)
		kr_safe_append(to, labels[0]);
	else
		format_integer(to, field, is_signed);
}

static void format_array(GString *to, const bt_field *field)
{
	uint64_t i, n = bt_field_array_get_length(field);

	g_string_append_c(to, '[');
	for (i = 0; i < n && i < MAX_ELEMENTS; i++) {
		if (i)
			g_string_append(to, ", ");
		kr_format_field(to,
			bt_field_array_borrow_element_field_by_index_const(field, i));
	}
	g_string_append(to, i < n ? ", ...]" : "]");
}

static void format_real(GString *to, double value)
{
	g_string_append_printf(to, "%g", value);
}

void kr_format_field(GString *to, const bt_field *field)
{
	bt_field_class_type type = bt_field_get_class_type(field);

	if (type == BT_FIELD_CLASS_TYPE_STRING) {
		kr_safe_append_quoted(to, bt_field_string_get_value(field));
	} else if (type == BT_FIELD_CLASS_TYPE_SIGNED_ENUMERATION) {
		format_enumeration(to, field, true);
	} else if (type == BT_FIELD_CLASS_TYPE_UNSIGNED_ENUMERATION) {
		format_enumeration(to, field, false);
	} else if (type == BT_FIELD_CLASS_TYPE_SIGNED_INTEGER) {
		format_integer(to, field, true);
	} else if (type == BT_FIELD_CLASS_TYPE_UNSIGNED_INTEGER) {
		format_integer(to, field, false);
	} else if (type == BT_FIELD_CLASS_TYPE_BOOL) {
		g_string_append(to, bt_field_bool_get_value(field) ? "true" : "false");
	} else if (type == BT_FIELD_CLASS_TYPE_BIT_ARRAY) {
		g_string_append_printf(to, "%#" PRIx64,
			bt_field_bit_array_get_value_as_integer(field));
	} else if (type == BT_FIELD_CLASS_TYPE_SINGLE_PRECISION_REAL) {
		format_real(to, bt_field_real_single_precision_get_value(field));
	} else if (type == BT_FIELD_CLASS_TYPE_DOUBLE_PRECISION_REAL) {
		format_real(to, bt_field_real_double_precision_get_value(field));
	} else if (type == BT_FIELD_CLASS_TYPE_STRUCTURE) {
		g_string_append(to, "{ ");
		kr_format_members(to, field);
		g_string_append(to, " }");
	} else if (bt_field_class_type_is(type, BT_FIELD_CLASS_TYPE_ARRAY)) {
		format_array(to, field);
	} else if (bt_field_class_type_is(type, BT_FIELD_CLASS_TYPE_OPTION)) {
		field = bt_field_option_borrow_field_const(field);
		if (field)
			kr_format_field(to, field);
		else
			g_string_append(to, "none");
	} else {
		kr_format_field(to,
			bt_field_variant_borrow_selected_option_field_const(field));
	}
}

void kr_format_members(GString *to, const bt_field *structure)
{
	const bt_field_class *class = bt_field_borrow_class_const(structure);
	uint64_t i, n = bt_field_class_structure_get_member_count(class);

	for (i = 0; i < n; i++) {
		const char *name = bt_field_class_structure_member_get_name(
			bt_field_class_structure_borrow_member_by_index_const(class,
									      i));

		if (i)
			g_string_append(to, ", ");
		kr_safe_append(to, name);
		g_string_append(to, " = ");
		kr_format_field(to,
			bt_field_structure_borrow_member_field_by_index_const(
				structure, i));
	}
}

bool kr_number_of(const bt_field *field, int64_t *value)
{
	bt_field_class_type type = bt_field_get_class_type(field);

	if (type == BT_FIELD_CLASS_TYPE_SIGNED_INTEGER)
		*value = bt_field_integer_signed_get_value(field);
	else if (type == BT_FIELD_CLASS_TYPE_UNSIGNED_INTEGER)
		*value = bt_field_integer_unsigned_get_value(field);
	else
		return false;
	return true;
}

bool kr_format_pointer(GString *to, const bt_field *field)
{
	int64_t value;

	if (!kr_number_of(field, &value) || value < POINTERS_FROM || value >= POINTERS_TO)
		return false;
	g_string_append_printf(to, "%#" PRIx64, value);
	return true;
}

int kr_result_errno(const bt_field *result)
{
	int64_t value = 0;

	(void)kr_number_of(result, &value);
	return value < 0 && value >= -MAX_ERRNO ? -value : 0;
}

void kr_format_result(GString *to, const bt_field *result,
		      const struct kr_colors *colors)
{
	int err = kr_result_errno(result);

	if (err) {
		const char *name = strerrorname_np(err);

		/* ERESTARTSYS and its like are the kernel's own. */
		g_string_append(to, colors->error);
		if (name)
			g_string_append_printf(to, "-1 %s (%s)", name,
					       strerrordesc_np(err));
		else
			g_string_append_printf(to, "%d", -err);
		g_string_append(to, colors->off);
		return;
	}
	if (!kr_format_pointer(to, result))
		kr_format_field(to, result);
}

/* For each of millions of frames: what "%#x" makes, sooner. */
static void append_hex(GString *to, uint64_t value)
{
	char text[2 + 16 + 1], *at = text + sizeof(text) - 1;

	*at = '\0';
	do {
		*--at = "0123456789abcdef"[value & 15];
		value >>= 4;
	} while (value);
	*--at = 'x';
	*--at = '0';
	g_string_append(to, at);
}

bool kr_names_module(const char *function, const char *module)
{
	size_t length = strlen(module);

	return !strncmp(function, module, length) &&
	       (g_str_has_prefix(function + length, "!0x") ||
		g_str_has_prefix(function + length, "+0x"));
}

static void format_place(GString *to, const struct kr_stack_frame *frame,
			 const struct kr_colors *colors)
{
	const char *module = kr_base_name(frame->module);

	g_string_append(to, frame->function[0] ? colors->function : colors->module);
	if (frame->function[0]) {
		kr_safe_append(to, frame->function);
		if (frame->kind != KR_INLINED) {
			g_string_append_c(to, '+');
			append_hex(to, frame->offset);
		}
		if (!kr_names_module(frame->function, module)) {
			g_string_append_printf(to, "%s  %s", colors->off,
					       colors->module);
			kr_safe_append(to, module);
		}
	} else if (module[0] && frame->offset) {
		kr_safe_append(to, module);
		g_string_append_c(to, '+');
		append_hex(to, frame->offset);
	} else {
		append_hex(to, frame->address);
		if (module[0]) {
			g_string_append(to, "  ");
			kr_safe_append(to, module);
		}
	}
	g_string_append(to, colors->off);
}

void kr_format_frame(GString *to, const struct kr_stack_frame *frame,
		     const struct kr_colors *colors)
{
	format_place(to, frame, colors);
	if (frame->line) {
		g_string_append(to, "  ");
		g_string_append(to, colors->source);
		kr_safe_append(to, frame->file);
		g_string_append_printf(to, ":%" PRIu64 "%s", frame->line,
				       colors->off);
	}
	if (frame->kind == KR_INLINED)
		g_string_append(to, "  (inlined)");
	if (frame->guessed)
		g_string_append(to, "  [guessed]");
}

/* Return: why a stack is not whole, in words. */
static const char *stop_text(const char *stop)
{
	static const struct {
		const char *name;
		const char *text;
	} stops[] = {
#define STOP(number, name, sentence) { #name, sentence },
		KUNWIND_STOPS(STOP)
#undef STOP
	};
	size_t i;

	for (i = 0; i < G_N_ELEMENTS(stops); i++)
		if (!strcmp(stop, stops[i].name))
			return stops[i].text;
	return "the stack is not whole";
}

void kr_format_stack(GString *to, const struct kr_stack *stack,
		     const struct kr_colors *colors, unsigned int most)
{
	struct kr_stack_frame frame;
	uint64_t i, n = most && most < stack->count ? most : stack->count;

	for (i = 0; i < n; i++) {
		kr_stack_frame(stack, i, &frame);
		g_string_append(to, "    ");
		kr_format_frame(to, &frame, colors);
		g_string_append_c(to, '\n');
	}
	if (n < stack->count)
		g_string_append_printf(to, "    ... %" PRIu64 " more %s\n",
				       stack->count - n,
				       stack->count - n == 1 ? "frame" : "frames");
	else if (!kr_stack_is_whole(stack))
		g_string_append_printf(to, "    %s... %s%s\n", colors->error,
				       stop_text(stack->stop), colors->off);
}
