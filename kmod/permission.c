// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * Whether the caller may see the stack of another process. The kernel's own check,
 * ptrace_may_access(), decides; so credentials, capabilities in user namespaces, dumpability
 * and security modules such as Yama count as for any other tool. It is not exported. But
 * opening /proc/TGID/task/TID/maps makes it, for PTRACE_MODE_READ, with the caller's
 * credentials. The module has a mount of proc of its own, where no user can mount anything.
 */
#include <linux/err.h>
#include <linux/file.h>
#include <linux/fs.h>
#include <linux/mount.h>
#include <linux/pid.h>
#include <linux/pid_namespace.h>
#include <linux/printk.h>
#include <linux/sched.h>
#include "permission.h"

/* NULL if there is none. Made and freed with the module. */
static struct vfsmount *proc;

/**
 * kw_may_see() - whether the caller may see the stack of a thread
 * @task: the thread; the caller holds a reference
 *
 * Context: process context, sleeps.
 * Return: 0; -EACCES or -EPERM if not; -ESRCH if the thread has exited; -EOPNOTSUPP if the
 *	module could not mount proc.
 */
int kw_may_see(struct task_struct *task)
{
	struct path root = { .mnt = proc };
	struct file *file;
	char name[64];

	if (!proc)
		return -EOPNOTSUPP;
	root.dentry = proc->mnt_root;
	snprintf(name, sizeof(name), "%d/task/%d/maps", task->tgid, task->pid);
	file = file_open_root(&root, name, O_RDONLY, 0);
	if (IS_ERR(file))
		return PTR_ERR(file) == -ENOENT ? -ESRCH : PTR_ERR(file);
	fput(file);
	/* If the thread has not exited, the number was its own all the time. */
	return pid_alive(task) ? 0 : -ESRCH;
}

/* Without the mount, a process still sees its own threads. */
void __init kw_permission_init(void)
{
	struct file_system_type *type;

	/* The mount shows the PID namespace of this task, and the numbers are the initial one's. */
	if (task_active_pid_ns(current) != &init_pid_ns)
		return;
	type = get_fs_type("proc");
	if (!type)
		return;
	proc = kern_mount(type);
	if (IS_ERR(proc)) {
		pr_warn("kunwind: proc cannot be mounted (error %ld): no process sees the stacks of another one\n",
			PTR_ERR(proc));
		proc = NULL;
	}
}

void kw_permission_exit(void)
{
	kern_unmount(proc);
}
