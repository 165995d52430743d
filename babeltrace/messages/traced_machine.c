// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* Machines, told apart by name and boot. */
#include <string.h>
#include "secret_hash.h"
#include "traced_machine.h"

static void free_machine(gpointer data)
{
	struct kr_machine *machine = data;

	g_free(machine->name);
	g_free(machine);
}

struct kr_machines *kr_machines_new(void)
{
	struct kr_machines *machines = g_new0(struct kr_machines, 1);

	machines->machines = g_ptr_array_new_with_free_func(free_machine);
	machines->ids = g_hash_table_new_full(kr_hash_string, g_str_equal, g_free, NULL);
	machines->traces = g_hash_table_new_full(NULL, NULL,
		(GDestroyNotify)bt_trace_put_ref, NULL);
	return machines;
}

void kr_machines_free(struct kr_machines *machines)
{
	g_hash_table_destroy(machines->traces);
	g_hash_table_destroy(machines->ids);
	g_ptr_array_unref(machines->machines);
	g_free(machines);
}

static const char *host_of(const bt_trace *trace)
{
	const bt_value *name =
		bt_trace_borrow_environment_entry_value_by_name_const(trace,
								      "hostname");

	return name && bt_value_is_string(name) ? bt_value_string_get(name) : "";
}

/* LTTng gives its clock the UUID of the boot. */
static void append_boot(GString *to, const bt_trace *trace)
{
	const bt_trace_class *class = bt_trace_borrow_class_const(trace);
	uint64_t i, n = bt_trace_class_get_stream_class_count(class);
	bt_uuid uuid = NULL;

	for (i = 0; i < n && !uuid; i++) {
		const bt_clock_class *clock =
			bt_stream_class_borrow_default_clock_class_const(
				bt_trace_class_borrow_stream_class_by_index_const(
					class, i));

		if (clock)
			uuid = bt_clock_class_get_uuid(clock);
	}
	for (i = 0; uuid && i < 16; i++)
		g_string_append_printf(to, "%02x", uuid[i]);
}

static char *name_of(const struct kr_machines *machines, const char *host)
{
	char *name = g_strdup(host);
	guint i, same = 1;

	for (i = 0; i < machines->machines->len; i++) {
		const struct kr_machine *other =
			g_ptr_array_index(machines->machines, i);

		if (strcmp(other->name, name))
			continue;
		g_free(name);
		name = g_strdup_printf("%s#%u", host, ++same);
	}
	return name;
}

static struct kr_machine *add(struct kr_machines *machines, const bt_trace *trace)
{
	const char *host = host_of(trace);
	GString *id = g_string_new(host);
	struct kr_machine *machine;

	g_string_append_c(id, '/');
	append_boot(id, trace);
	machine = g_hash_table_lookup(machines->ids, id->str);
	if (machine) {
		g_string_free(id, TRUE);
		return machine;
	}
	machine = g_new0(struct kr_machine, 1);
	machine->name = name_of(machines, host);
	machine->number = machines->machines->len;
	g_ptr_array_add(machines->machines, machine);
	g_hash_table_insert(machines->ids, g_string_free(id, FALSE), machine);
	return machine;
}

struct kr_machine *kr_machine_of(struct kr_machines *machines,
				 const bt_trace *trace)
{
	struct kr_machine *machine = g_hash_table_lookup(machines->traces, trace);

	if (!machine) {
		machine = add(machines, trace);
		/* Kept, so that its address is never another trace's. */
		bt_trace_get_ref(trace);
		g_hash_table_insert(machines->traces, (void *)trace, machine);
	}
	return machine;
}
