// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * kunwind-test.ko, for tests in a guest. Its parameters are its interface:
 *
 *	attach	1 or 0: consume stacks of the whole system, in the task that writes
 *	attach_user
 *		a user: consume stacks of the processes of that user, too; -1: of none
 *	expect	what judge.c is to compare with, by the process that it is about
 *	rate	interrupts per second, and as many NMIs, each with a walk; 0: none
 *	faults	1 or 0: walk where a walk touches a page that is not there
 *	aim	a CPU, which gets as many NMIs as it takes, each with a walk; -1: none
 *
 * those of chains.c, replace.c, handover.c and hold.c, the counters of judge.c and nested.c, and
 * device.c.
 */
#include <linux/err.h>
#include <linux/module.h>
#include <linux/moduleparam.h>
#include <linux/mutex.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/uidgid.h>
#include <kunwind/kunwind.h>
#include "kunwind-test.h"

static DEFINE_MUTEX(lock);
/* Under lock: */
static struct kunwind_consumer *consumer;

/* What walks while its parameter is not @none. */
struct source {
	const int none;
	int (*start)(unsigned int value);
	void (*stop)(void);
	/* Under lock. */
	int value;
};

static int faults_start(unsigned int on)
{
	return nested_start();
}

static struct source rate = { 0, interrupts_start, interrupts_stop };
static struct source faults = { 0, faults_start, nested_stop };
static struct source aim = { -1, aim_start, aim_stop, -1 };

static bool is_on(const struct source *source)
{
	return source->value != source->none;
}

static void source_stop(struct source *source)
{
	if (is_on(source))
		source->stop();
	source->value = source->none;
}

static int source_set(const char *value, const struct kernel_param *kp)
{
	struct source *source = kp->arg;
	int ret, wanted;

	ret = kstrtoint(value, 0, &wanted);
	if (ret)
		return ret;
	mutex_lock(&lock);
	source_stop(source);
	if (wanted != source->none)
		ret = consumer ? source->start(wanted) : -EINVAL;
	if (!ret)
		source->value = wanted;
	mutex_unlock(&lock);
	return ret;
}

static int source_get(char *buffer, const struct kernel_param *kp)
{
	const struct source *source = kp->arg;

	return sysfs_emit(buffer, "%d\n", source->value);
}

static const struct kernel_param_ops source_ops = {
	.set = source_set,
	.get = source_get,
};

module_param_cb(rate, &source_ops, &rate, 0644);
module_param_cb(faults, &source_ops, &faults, 0644);
module_param_cb(aim, &source_ops, &aim, 0644);

static int attach(bool on)
{
	struct kunwind_consumer *c;

	lockdep_assert_held(&lock);
	if (on == !!consumer)
		return 0;
	if (!on) {
		if (is_on(&rate) || is_on(&faults) || is_on(&aim))
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
	/* This can take long, and the test writes other parameters meanwhile. */
	kernel_param_unlock(THIS_MODULE);
	mutex_lock(&lock);
	ret = attach(on);
	mutex_unlock(&lock);
	kernel_param_lock(THIS_MODULE);
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

static DEFINE_MUTEX(user_lock);
/* Under user_lock: */
static struct kunwind_consumer *user_consumer;

static int attach_user_set(const char *value, const struct kernel_param *kp)
{
	struct kunwind_consumer *c = NULL;
	int ret, uid;

	ret = kstrtoint(value, 0, &uid);
	if (ret)
		return ret;
	mutex_lock(&user_lock);
	kunwind_detach(user_consumer);
	if (uid >= 0)
		c = kunwind_attach_user(KUIDT_INIT(uid));
	user_consumer = IS_ERR(c) ? NULL : c;
	mutex_unlock(&user_lock);
	return PTR_ERR_OR_ZERO(c);
}

static const struct kernel_param_ops attach_user_ops = {
	.set = attach_user_set,
};

module_param_cb(attach_user, &attach_user_ops, NULL, 0200);

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
	if (is_on(&rate))
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
	source_stop(&rate);
	source_stop(&faults);
	source_stop(&aim);
	replace_stop();
	handover_stop();
	hold_stop();
	kunwind_detach(consumer);
	kunwind_detach(user_consumer);
	interrupts_exit();
	judge_exit();
}

module_init(kunwind_test_init);
module_exit(kunwind_test_exit);
MODULE_DESCRIPTION("Walks in interrupts, for kunwind's tests");
MODULE_LICENSE("Dual MIT/GPL");
