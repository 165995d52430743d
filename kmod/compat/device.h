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

/* Before 6.4, class_create() takes the module. */
#ifdef KW_HAVE_class_create_name
#define kw_class_create(name)	class_create(name)
#else
#define kw_class_create(name)	class_create(THIS_MODULE, name)
#endif

#endif /* KW_COMPAT_DEVICE_H */
