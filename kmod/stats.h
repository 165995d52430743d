/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * What the module counts. /sys/kernel/kunwind shows it; the names and their
 * meaning are in Documentation/statistics.md.
 */
#ifndef KW_STATS_H
#define KW_STATS_H

#include <linux/atomic.h>
#include <linux/percpu.h>
#include <linux/types.h>
#include <uapi/linux/kunwind.h>

/* Only ever incremented. */
#define KW_COUNTERS(X) \
	X(mapping_events) \
	X(spaces_missed) \
	X(map_builds) \
	X(map_failures) \
	X(mappings_left) \
	X(table_builds) \
	X(table_copies) \
	X(table_failures) \
	X(table_refusals) \
	X(table_evictions) \
	X(file_changes) \
	X(allocation_failures)

/*
 * How much there is now. The module itself goes by some of them: consumers (consumer.c), pending
 * (work.c), and the bytes.
 */
#define KW_GAUGES(X) \
	X(consumers) \
	X(spaces) \
	X(maps) \
	X(tables) \
	X(table_bytes) \
	X(build_bytes) \
	X(pending)

/*
 * Made with the module, one per CPU. Written in any context, with one instruction. Read
 * without a lock, so a sum can be slightly out of date.
 */
struct kw_counters {
	u64 stops[KUNWIND_NR_STOPS];
#define KW_COUNTER(name) u64 name;
	KW_COUNTERS(KW_COUNTER)
#undef KW_COUNTER
};

DECLARE_PER_CPU(struct kw_counters, kw_counters);

struct kw_gauges {
#define KW_GAUGE(name) atomic_long_t name;
	KW_GAUGES(KW_GAUGE)
#undef KW_GAUGE
};

extern struct kw_gauges kw_gauges;

#define kw_count(name)		this_cpu_inc(kw_counters.name)
#define kw_gauge_add(name, n)	atomic_long_add((n), &kw_gauges.name)
#define kw_gauge_sub(name, n)	atomic_long_sub((n), &kw_gauges.name)
#define kw_gauge(name)		atomic_long_read(&kw_gauges.name)

static inline void kw_count_stop(u32 stop)
{
	if (likely(stop < KUNWIND_NR_STOPS))
		this_cpu_inc(kw_counters.stops[stop]);
}

int kw_stats_init(void);
void kw_stats_exit(void);

#endif /* KW_STATS_H */
