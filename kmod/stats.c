// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * /sys/kernel/kunwind: one figure per file, and the name of a missing hook. Only root can read
 * the figures, as they would tell other users when programs run or files are mapped.
 */
#include <linux/cpumask.h>
#include <linux/export.h>
#include <linux/kobject.h>
#include <linux/stddef.h>
#include <linux/sysfs.h>
#include <kunwind/kunwind.h>
#include "consumer.h"
#include "stats.h"

DEFINE_PER_CPU(struct kw_counters, kw_counters);
struct kw_gauges kw_gauges;

static struct kobject *dir, *stops_dir;

/* A file of the directory: which counter or gauge, by its offset. */
struct figure {
	struct kobj_attribute attr;
	size_t offset;
};

static u64 counter_sum(size_t offset)
{
	u64 sum = 0;
	int cpu;

	for_each_possible_cpu(cpu)
		sum += READ_ONCE(*(u64 *)((char *)per_cpu_ptr(&kw_counters, cpu) +
					  offset));
	return sum;
}

static ssize_t counter_show(struct kobject *kobj, struct kobj_attribute *attr,
			    char *buf)
{
	const struct figure *f = container_of(attr, struct figure, attr);

	return sysfs_emit(buf, "%llu\n", counter_sum(f->offset));
}

static ssize_t gauge_show(struct kobject *kobj, struct kobj_attribute *attr,
			  char *buf)
{
	const struct figure *f = container_of(attr, struct figure, attr);
	atomic_long_t *gauge = (void *)((char *)&kw_gauges + f->offset);

	return sysfs_emit(buf, "%ld\n", atomic_long_read(gauge));
}

static ssize_t walks_show(struct kobject *kobj, struct kobj_attribute *attr,
			  char *buf)
{
	u64 sum = 0;
	u32 stop;

	for (stop = 0; stop < KUNWIND_NR_STOPS; stop++)
		sum += counter_sum(offsetof(struct kw_counters, stops[stop]));
	return sysfs_emit(buf, "%llu\n", sum);
}

static ssize_t missing_show(struct kobject *kobj, struct kobj_attribute *attr,
			    char *buf)
{
	return sysfs_emit(buf, "%s\n", kw_hooks_missing);
}

static struct kobj_attribute missing = __ATTR_RO(missing);

#define FIGURE(name, show, at) \
	{ .attr = __ATTR(name, 0400, show, NULL), .offset = (at) }

static struct figure figures[] = {
#define KW_FIGURE(name) \
	FIGURE(name, counter_show, offsetof(struct kw_counters, name)),
	KW_COUNTERS(KW_FIGURE)
#undef KW_FIGURE
#define KW_FIGURE(name) \
	FIGURE(name, gauge_show, offsetof(struct kw_gauges, name)),
	KW_GAUGES(KW_FIGURE)
#undef KW_FIGURE
	FIGURE(walks, walks_show, 0),
};

/* KUNWIND_STOPS lists them in the order of their numbers. */
static struct figure stops[] = {
#define KW_FIGURE(number, name, sentence) \
	FIGURE(name, counter_show, offsetof(struct kw_counters, stops[number])),
	KUNWIND_STOPS(KW_FIGURE)
#undef KW_FIGURE
};

const char *kunwind_stop_name(u32 stop)
{
	return stop < ARRAY_SIZE(stops) ? stops[stop].attr.attr.name : "?";
}
EXPORT_SYMBOL_GPL(kunwind_stop_name);

static int __init create_files(struct kobject *in, const struct figure *f, unsigned int count)
{
	int ret = 0;

	for (; count && !ret; count--)
		ret = sysfs_create_file(in, &f++->attr.attr);
	return ret;
}

int __init kw_stats_init(void)
{
	int ret = -ENOMEM;

	dir = kobject_create_and_add("kunwind", kernel_kobj);
	if (!dir)
		return ret;
	stops_dir = kobject_create_and_add("stops", dir);
	if (stops_dir)
		ret = create_files(stops_dir, stops, ARRAY_SIZE(stops));
	if (!ret)
		ret = create_files(dir, figures, ARRAY_SIZE(figures));
	if (!ret)
		ret = sysfs_create_file(dir, &missing.attr);
	if (ret)
		kw_stats_exit();
	return ret;
}

/* kobject_del() removes the files at once, also if the directory is still referenced. */
void kw_stats_exit(void)
{
	kobject_del(stops_dir);
	kobject_put(stops_dir);
	kobject_del(dir);
	kobject_put(dir);
}
