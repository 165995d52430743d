// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * Whether the caller may see the stack of another process. The kernel's own check,
 * ptrace_may_access(), decides; so credentials, capabilities in user namespaces, dumpability
 * and security modules such as Yama count as for any other tool. It is not exported. It is
 * looked up, and called as nmi_uaccess_okay() is (walk_task.c).
 */
#include <linux/errno.h>
#include <linux/printk.h>
#include <linux/ptrace.h>
#include <linux/rwsem.h>
#include <linux/sched.h>
#include <linux/sched/signal.h>
#include <linux/static_call.h>
#include <kunwind/redirect.h>
#include "permission.h"

/* Until it is found, nobody may. */
DEFINE_STATIC_CALL_RET0(may_access, ptrace_may_access);

/*
 * Whether the caller may see the stack of @task, to which it holds a reference. The thread must
 * have @mm.
 *
 * A stack says where a process is and what it has called, as /proc/PID/syscall does, so the right
 * to attach is needed. Yama lets more processes read each other than attach.
 *
 * Under the lock, the thread's credentials and its memory do not change by an execve().
 * /proc/PID/syscall takes the same lock. A thread in execve() can hold it for as long as a file
 * server likes, so this function does not wait.
 *
 * Context: process context.
 * Return: 0; -EACCES if not; -EAGAIN if the thread is in execve(); -ESRCH if it has exited or
 * started another program.
 */
int kw_may_see(struct task_struct *task, const struct mm_struct *mm)
{
	bool may, same;

	if (!down_read_trylock(&task->signal->exec_update_lock))
		return -EAGAIN;
	may = static_call(may_access)(task, PTRACE_MODE_ATTACH_FSCREDS);
	same = READ_ONCE(task->mm) == mm;
	up_read(&task->signal->exec_update_lock);
	if (!may)
		return -EACCES;
	return same ? 0 : -ESRCH;
}

/* Without the function, a process still sees its own threads. */
void __init kw_permission_init(void)
{
	unsigned long addr = kunwind_function("ptrace_may_access");

	if (addr)
		static_call_update(may_access, (typeof(ptrace_may_access) *)addr);
	else
		pr_warn("kunwind: this kernel has no function ptrace_may_access(): no process sees the stacks of another one\n");
}
