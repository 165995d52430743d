// SPDX-License-Identifier: GPL-2.0-only OR MIT
#include <linux/device.h>

/* 6.2: a class's devnode() may not change the device. */
char *devnode(const struct device *dev, umode_t *mode);
static_assert(__same_type(((struct class *)0)->devnode, &devnode));
