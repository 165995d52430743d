// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * kunwind-test.ko, for tests in a guest. Its parameters are its interface:
 *
 *	attach	1 or 0: consume stacks of the whole system, in the task that writes
 *	expect	what judge.c is to compare with, by the process that it is about
 *	rate	interrupts per second, and as many NMIs, each with a walk; 0: none
 *	faults	1 or 0: walk where a walk touches a page that is not there
 *
 *	aim	a CPU, which gets as many NMIs as it takes, each with a walk; -1: none
 *
 * those of chains.c and replace.c, the counters of judge.c and nested.c, and device.c.
 */
#include <linux/err.h>
#include <linux/module.h>
#include <linux/moduleparam.h>
#include <linux/mutex.h>
#include <linux/string.h>
#include <kunwind/kunwind.h>
#include "kunwind-test.h"

static DEFINE_MUTEX(lock);
/* Under lock: */
static struct kunwind_consumer *consumer;
static unsigned int rate;
static bool faults;
static int aim_at = -1;

static int attach(bool on)
{
	struct kunwind_consumer *c;

	lockdep_assert_held(&lock);
	if (on == !!consumer)
		return 0;
	if (!on) {
		if (rate || faults || aim_at >= 0)
			return -EBUSY;
		kunwind_detach(consumer);
		consumer = NULL;
		return 0;
	}
	c = kunwind_attach();
	if (IS_ERR(c))
		return PTR_ERR(c);
	consumer = c;
	return 0;
}

static int attach_set(const char *value, const struct kernel_param *kp)
{
	bool on;
	int ret;

	ret = kstrtobool(value, &on);
	if (ret)
		return ret;
	mutex_lock(&lock);
	ret = attach(on);
	mutex_unlock(&lock);
	return ret;
}

static int attach_get(char *buffer, const struct kernel_param *kp)
{
	return sysfs_emit(buffer, "%d\n", !!consumer);
}

static const struct kernel_param_ops attach_ops = {
	.set = attach_set,
	.get = attach_get,
};

module_param_cb(attach, &attach_ops, NULL, 0644);

static int rate_set(const char *value, const struct kernel_param *kp)
{
	unsigned int hz;
	int ret;

	ret = kstrtouint(value, 0, &hz);
	if (ret)
		return ret;
	mutex_lock(&lock);
	if (rate)
		interrupts_stop();
	rate = 0;
	if (hz)
		ret = consumer ? interrupts_start(hz) : -EINVAL;
	if (!ret)
		rate = hz;
	mutex_unlock(&lock);
	return ret;
}

static const struct kernel_param_ops rate_ops = {
	.set = rate_set,
	.get = param_get_uint,
};

module_param_cb(rate, &rate_ops, &rate, 0644);

static int faults_set(const char *value, const struct kernel_param *kp)
{
	bool on;
	int ret;

	ret = kstrtobool(value, &on);
	if (ret)
		return ret;
	mutex_lock(&lock);
	if (on && !faults)
		ret = consumer ? nested_start() : -EINVAL;
	else if (!on && faults)
		nested_stop();
	if (!ret)
		faults = on;
	mutex_unlock(&lock);
	return ret;
}

static const struct kernel_param_ops faults_ops = {
	.set = faults_set,
	.get = param_get_bool,
};

module_param_cb(faults, &faults_ops, &faults, 0644);

static int aim_set(const char *value, const struct kernel_param *kp)
{
	int ret, cpu;

	ret = kstrtoint(value, 0, &cpu);
	if (ret)
		return ret;
	mutex_lock(&lock);
	if (aim_at >= 0)
		aim_stop();
	aim_at = -1;
	if (cpu >= 0)
		ret = consumer ? aim_start(cpu) : -EINVAL;
	if (!ret)
		aim_at = cpu;
	mutex_unlock(&lock);
	return ret;
}

static const struct kernel_param_ops aim_ops = {
	.set = aim_set,
	.get = param_get_int,
};

module_param_cb(aim, &aim_ops, &aim_at, 0644);

/* LOW HIGH FRAME...: hexadecimal */
static int expect_set(const char *value, const struct kernel_param *kp)
{
	char *copy, *rest, *word;
	unsigned int count = 0;
	u64 words[64];
	int ret = 0;

	copy = kstrdup(value, GFP_KERNEL);
	if (!copy)
		return -ENOMEM;
	rest = strim(copy);
	while (!ret && (word = strsep(&rest, " "))) {
		ret = count < ARRAY_SIZE(words) ?
			kstrtou64(word, 16, &words[count++]) : -E2BIG;
	}
	kfree(copy);
	if (ret)
		return ret;
	if (count < 3)
		return -EINVAL;
	mutex_lock(&lock);
	if (rate)
		ret = -EBUSY;
	else
		judge_expect(words, count);
	mutex_unlock(&lock);
	return ret;
}

static const struct kernel_param_ops expect_ops = {
	.set = expect_set,
};

module_param_cb(expect, &expect_ops, NULL, 0200);

static int __init kunwind_test_init(void)
{
	int ret;

	ret = judge_init();
	if (ret)
		return ret;
	ret = interrupts_init();
	if (ret)
		goto no_interrupts;
	ret = device_init();
	if (ret)
		goto no_device;
	return 0;

no_device:
	interrupts_exit();
no_interrupts:
	judge_exit();
	return ret;
}

static void __exit kunwind_test_exit(void)
{
	device_exit();
	if (rate)
		interrupts_stop();
	if (faults)
		nested_stop();
	if (aim_at >= 0)
		aim_stop();
	replace_stop();
	kunwind_detach(consumer);
	interrupts_exit();
	judge_exit();
}

module_init(kunwind_test_init);
module_exit(kunwind_test_exit);
MODULE_DESCRIPTION("Walks in interrupts, for kunwind's tests");
MODULE_LICENSE("Dual MIT/GPL");
