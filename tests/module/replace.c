// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * Another module that replaces a function of the kernel, as a livepatch does.
 *
 * Parameters:
 *	replace	the name of a function, which does nothing from then on; none: the
 *		kernel's own is called again
 */
#include <linux/module.h>
#include <linux/moduleparam.h>
#include <linux/mutex.h>
#include <linux/string.h>
#include <kunwind/redirect.h>
#include "kunwind-test.h"

static DEFINE_MUTEX(lock);
/* Under lock: */
static char from[64];

static long nothing(void)
{
	return 0;
}

static struct kunwind_redirect redirect = {
	.from = from,
	.to = nothing,
	.owner = THIS_MODULE,
};

void replace_stop(void)
{
	kunwind_redirect_end(&redirect, 1);
	synchronize_rcu_tasks();
}

static int replace_set(const char *value, const struct kernel_param *kp)
{
	int ret = 0;

	mutex_lock(&lock);
	replace_stop();
	strscpy(from, value, sizeof(from));
	strim(from);
	if (*from)
		ret = kunwind_redirect_begin(&redirect, 1);
	mutex_unlock(&lock);
	return ret;
}

static const struct kernel_param_ops replace_ops = {
	.set = replace_set,
};

module_param_cb(replace, &replace_ops, NULL, 0200);
