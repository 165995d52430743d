/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* The device, its open files and its requests. */
#ifndef KW_DEVICE_H
#define KW_DEVICE_H

#include <linux/mutex.h>
#include <linux/sizes.h>
#include <linux/types.h>
#include <uapi/linux/kunwind.h>

struct kunwind_consumer;
struct kuw_result;

int kw_device_init(void);
void kw_device_exit(void);

/* The most frames that a caller may say it has room for. */
#define KW_MAX_CAPACITY	SZ_1M

/*
 * An open file. Made by open(), freed by the last close, used by requests on the file.
 * @own: covers the process that opened the file
 * @other: covers the process that the last request for another one named, or NULL. The next
 *	request is likely to be for another thread of that process. Under @lock
 */
struct kw_handle {
	struct kunwind_consumer *own;
	struct kunwind_consumer *other;
	struct mutex lock;
};

/* A request's argument: copied in, filled in, copied out up to the caller's size. */
union kw_argument {
	__u32 size;
	struct kunwind_version version;
	struct kunwind_stack stack;
	struct kunwind_stack_at stack_at;
	struct kunwind_thread thread;
};

/* Requests. They write frames to @to, in user memory. */
long kw_own_stack(struct kw_handle *handle, union kw_argument *arg, void __user *to);
long kw_own_stack_at(struct kw_handle *handle, union kw_argument *arg, void __user *to);
long kw_other_stack(struct kw_handle *handle, union kw_argument *arg, void __user *to);

int kw_put_frames(struct kunwind_frame __user *to, const u64 *frames,
		  const struct kuw_result *result, u32 skip, bool innermost);

#endif /* KW_DEVICE_H */
