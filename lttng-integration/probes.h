/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* LTTng's probes of kunwind's tracepoints. */
#ifndef PROBES_H
#define PROBES_H

int map_probes_register(void);
void map_probes_unregister(void);
int statedump_probes_register(void);
void statedump_probes_unregister(void);
int sample_probes_register(void);
void sample_probes_unregister(void);
void sample_counters_begin(void);
void sample_counters_end(void);

#endif /* PROBES_H */
