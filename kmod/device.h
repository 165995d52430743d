/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* /dev/kunwind */
#ifndef KW_DEVICE_H
#define KW_DEVICE_H

int kw_device_init(void);
void kw_device_exit(void);

#endif /* KW_DEVICE_H */
