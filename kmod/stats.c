// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* /sys/kernel/kunwind: one figure per file, for people and for scripts. */
#include <linux/cpumask.h>
#include <linux/kobject.h>
#include <linux/stddef.h>
#include <linux/sysfs.h>
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
		sum += counter_sum(offsetof(struct kw_counters, stops) +
				   stop * sizeof(u64));
	return sysfs_emit(buf, "%llu\n", sum);
}

static struct kobj_attribute walks = __ATTR_RO(walks);

#define FIGURE(name, show, at) { .attr = __ATTR(name, 0444, show, NULL), .offset = (at) }

enum {
#define KW_INDEX(name) COUNTER_##name,
	KW_COUNTERS(KW_INDEX)
#undef KW_INDEX
	NR_COUNTERS
};

static struct figure counters[] = {
#define KW_FIGURE(name) \
	FIGURE(name, counter_show, offsetof(struct kw_counters, name)),
	KW_COUNTERS(KW_FIGURE)
#undef KW_FIGURE
};

enum {
#define KW_INDEX(name) GAUGE_##name,
	KW_GAUGES(KW_INDEX)
#undef KW_INDEX
	NR_GAUGES
};

static struct figure gauges[] = {
#define KW_FIGURE(name) \
	FIGURE(name, gauge_show, offsetof(struct kw_gauges, name)),
	KW_GAUGES(KW_FIGURE)
#undef KW_FIGURE
};

static struct figure stops[] = {
#define KW_FIGURE(number, name, sentence) \
	FIGURE(name, counter_show, \
	       offsetof(struct kw_counters, stops) + (number) * sizeof(u64)),
	KUNWIND_STOPS(KW_FIGURE)
#undef KW_FIGURE
};

static struct attribute *figure_attrs[] = {
	&walks.attr,
#define KW_ATTR(name) &counters[COUNTER_##name].attr.attr,
	KW_COUNTERS(KW_ATTR)
#undef KW_ATTR
#define KW_ATTR(name) &gauges[GAUGE_##name].attr.attr,
	KW_GAUGES(KW_ATTR)
#undef KW_ATTR
	NULL
};

static struct attribute *stop_attrs[] = {
#define KW_ATTR(number, name, sentence) &stops[number].attr.attr,
	KUNWIND_STOPS(KW_ATTR)
#undef KW_ATTR
	NULL
};

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

int __init kw_stats_init(void)
{
	int ret;

	dir = kobject_create_and_add("kunwind", kernel_kobj);
	if (!dir)
		return -ENOMEM;
	ret = sysfs_create_groups(dir, groups);
	if (ret)
		kobject_put(dir);
	return ret;
}

void kw_stats_exit(void)
{
	kobject_put(dir);
}
