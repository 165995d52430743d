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
#include "hooks.h"
#include "stats.h"

DEFINE_PER_CPU(struct kw_counters, kw_counters);
struct kw_gauges kw_gauges;

static struct kobject *dir;

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
	return sysfs_emit(buf, "%s\n", kw_hooks_missing());
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

static struct figure stops[] = {
#define KW_FIGURE(number, name, sentence) \
	FIGURE(name, counter_show, offsetof(struct kw_counters, stops[number])),
	KUNWIND_STOPS(KW_FIGURE)
#undef KW_FIGURE
};

/* KUNWIND_STOPS lists them in the order of their numbers. */
static const char * const stop_names[KUNWIND_NR_STOPS] = {
#define KW_NAME(number, name, sentence) #name,
	KUNWIND_STOPS(KW_NAME)
#undef KW_NAME
};

const char *kunwind_stop_name(u32 stop)
{
	return stop < ARRAY_SIZE(stop_names) ? stop_names[stop] : "?";
}
EXPORT_SYMBOL_GPL(kunwind_stop_name);

static struct attribute *figure_attrs[ARRAY_SIZE(figures) + 2];
static struct attribute *stop_attrs[ARRAY_SIZE(stops) + 1];

static const struct attribute_group figure_group = {
	.attrs = figure_attrs,
};

static const struct attribute_group stop_group = {
	.name = "stops",
	.attrs = stop_attrs,
};

static const struct attribute_group *groups[] = {
	&figure_group,
	&stop_group,
	NULL
};

static void __init list_attrs(struct attribute **attrs, struct figure *f,
			      unsigned int count)
{
	while (count--)
		*attrs++ = &f++->attr.attr;
}

int __init kw_stats_init(void)
{
	int ret;

	list_attrs(figure_attrs, figures, ARRAY_SIZE(figures));
	figure_attrs[ARRAY_SIZE(figures)] = &missing.attr;
	list_attrs(stop_attrs, stops, ARRAY_SIZE(stops));
	dir = kobject_create_and_add("kunwind", kernel_kobj);
	if (!dir)
		return -ENOMEM;
	ret = sysfs_create_groups(dir, groups);
	if (ret)
		kw_stats_exit();
	return ret;
}

/* kobject_del() removes the files at once, also if the directory is still referenced. */
void kw_stats_exit(void)
{
	kobject_del(dir);
	kobject_put(dir);
}
