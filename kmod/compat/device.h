/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* Classes of devices. */
#ifndef KW_COMPAT_DEVICE_H
#define KW_COMPAT_DEVICE_H

#include <linux/device.h>
#include "found.h"

/* Before 6.2, a class's devnode() may change the device. */
#ifdef KW_HAVE_class_devnode_const
#define KW_DEVNODE_CONST	const
#else
#define KW_DEVNODE_CONST
#endif

#endif /* KW_COMPAT_DEVICE_H */
