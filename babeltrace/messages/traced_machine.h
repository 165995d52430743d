/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * The machines that traces are of. Numbers of processes are a machine's own; so those of
 * another machine, or of the same one after it was booted again, are other processes.
 */
#ifndef KR_TRACED_MACHINE_H
#define KR_TRACED_MACHINE_H

#include <babeltrace2/babeltrace.h>
#include <glib.h>
#include <stdbool.h>

/**
 * struct kr_machine - from its boot to its end
 * @name: of the host, "" if the trace does not say; of the second one with that
 *	  name with its number behind it
 * @number: counted from 0
 */
struct kr_machine {
	char *name;
	guint number;
};

/**
 * struct kr_machines - all of them
 * @machines: struct kr_machine, by number
 * @ids: the same, by what tells them apart
 * @traces: the same, by bt_trace
 */
struct kr_machines {
	GPtrArray *machines;
	GHashTable *ids;
	GHashTable *traces;
};

struct kr_machines *kr_machines_new(void);
void kr_machines_free(struct kr_machines *machines);

/* Return: that of a trace. */
struct kr_machine *kr_machine_of(struct kr_machines *machines,
				 const bt_trace *trace);

#endif /* KR_TRACED_MACHINE_H */
