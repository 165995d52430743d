// SPDX-License-Identifier: GPL-2.0-only OR MIT
#include <linux/device.h>

/* 6.4: class_create() takes no module. */
static_assert(__same_type(&class_create, (struct class * (*)(const char *))0));
