/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* The API of kunwind.ko for other kernel modules. */
#ifndef KUNWIND_KUNWIND_H
#define KUNWIND_KUNWIND_H

#include <linux/types.h>
#include <linux/uidgid.h>

struct kunwind_consumer;
struct pt_regs;
struct task_struct;

/**
 * struct kunwind_result - how a walk ended
 * @count: frames written
 * @proven: how many of them are certain. The frames after them rest on a guess: the walk
 *	followed the code ahead to the function's return, took a step by frame pointer, or
 *	assumed that the code had pushed nothing since it was called
 * @stop: enum kunwind_stop of <uapi/linux/kunwind.h>
 * @space: the number of the address space that was walked, 0 if there was none;
 *	see struct kunwind_mapping
 * @interrupted: for the first 64 frames: if bit n is set, the address of frame n is
 *	that of the next instruction to execute. Bit 0 is set if there is a frame. All
 *	other addresses are return addresses: the call is the instruction before
 */
struct kunwind_result {
	u32 count;
	u32 proven;
	u32 stop;
	u64 space;
	u64 interrupted;
};

/**
 * struct kunwind_mapping - an executable mapping of a covered address space
 * @space: the number of the address space; no other one gets the same number until
 *	the machine reboots
 * @start: first address
 * @end: first address after the mapping
 * @offset: where in the file @start is, in bytes
 * @inode: the file's inode number, 0 if there is no file
 * @dev: the device of its file system, 0 if there is no file
 * @pid: the process that the address space was made for, as a thread group ID of
 *	the initial PID namespace
 * @build_id_len: bytes of @build_id, 0 if it is not known
 * @build_id: NT_GNU_BUILD_ID
 * @path: the file, as seen by the task that listed the mapping (usually one of the
 *	process); "[vdso]", "[uprobes]"; "" if it is not known
 */
struct kunwind_mapping {
	u64 space;
	u64 start;
	u64 end;
	u64 offset;
	u64 inode;
	dev_t dev;
	pid_t pid;
	u32 build_id_len;
	const u8 *build_id;
	const char *path;
};

/**
 * kunwind_attach() - start to consume stacks of the whole system
 *
 * On return, new mappings are covered before their code runs. Running processes are
 * covered, too, except where the attaching task would run out of memory or of time
 * (attach_work_ms), or could block: files of FUSE servers, files that are being
 * written, an mmap_lock that is taken. Those processes catch up themselves. Until then
 * their walks say INCOMPLETE_MAP or NOT_COVERED.
 *
 * Context: process context, may sleep. Compiles missing tables for up to
 *	attach_work_ms, and takes two seconds more at most for what needs none, or
 *	longer where a cgroup delays allocations. The caller must check privileges: the
 *	consumer covers all processes.
 * Return: the consumer, or ERR_PTR(): -ENOMEM; -EINTR after a fatal signal;
 *	-EOPNOTSUPP if the kernel lacks a function that must be hooked, or ftrace cannot
 *	hook it, as with the sysctl kernel.ftrace_enabled at 0.
 */
struct kunwind_consumer *kunwind_attach(void);

/**
 * kunwind_attach_user() - start to consume stacks of one user's processes
 * @uid: their real user ID
 *
 * As kunwind_attach(), for a tracer that may not see the whole system: processes of
 * other users are not covered, and do no work.
 *
 * Context: as of kunwind_attach().
 * Return: as kunwind_attach(); -EINVAL if @uid is not valid.
 */
struct kunwind_consumer *kunwind_attach_user(kuid_t uid);

/**
 * kunwind_detach() - end what kunwind_attach() or kunwind_attach_user() started
 * @consumer: the consumer that the function returned
 *
 * When the last consumer has detached, the module soon frees all tables, and removes
 * its hooks minutes later.
 *
 * Context: process context, may sleep.
 */
void kunwind_detach(struct kunwind_consumer *consumer);

/**
 * kunwind_walk() - the user call stack of the current task
 * @regs: the current task's user registers, if the caller has them; NULL for those that
 *	its last entry into the kernel saved (task_pt_regs()). Registers that are not those of
 *	the system call that the task is in have a negative orig_ax
 * @frames: where to write addresses, innermost first
 * @capacity: how many addresses @frames has room for; the walk writes at most
 *	KUNWIND_MAX_FRAMES
 * @result: how it ended
 *
 * A stack that could not be walked to its end is a result, with the reason in
 * @result->stop. Two reasons can come without any frame: KUNWIND_STOP_NO_USER, for a
 * kernel thread or a worker of io_uring, and KUNWIND_STOP_CONTEXT, where the user registers
 * are not known: an NMI came while the kernel was saving them, the task is in execve(), or
 * @regs are not those of user mode.
 *
 * The walk waits for no lock, allocates nothing, faults in no page and is bounded in
 * time. A walk that interrupts another one on the same CPU and context level gets
 * KUNWIND_STOP_CONTEXT.
 *
 * Context: any, NMI included, while the caller holds a consumer.
 */
void kunwind_walk(const struct pt_regs *regs, u64 *frames, u32 capacity,
		  struct kunwind_result *result);

/**
 * kunwind_walk_thread() - the user call stack of any thread
 * @task: the thread; the caller holds a reference. A thread of another process must be one
 *	that the caller may trace: that is the caller's to check
 * @frames: as of kunwind_walk()
 * @capacity: as of kunwind_walk()
 * @result: how it ended
 * @running: whether the thread was on a CPU; if not, it was waiting for something, or for a
 *	CPU
 *
 * The thread is not stopped, and notices nothing. Its stack is that of one moment. Pages of
 * the stack that are not in memory are not read: KUNWIND_STOP_STACK_FAULT.
 *
 * Context: process context, sleeps; the caller holds a consumer.
 * Return: 0; -ESRCH if the thread has no user memory, exits, or has just started another
 *	program; -EAGAIN if it kept moving between CPUs; -EINTR after a fatal signal.
 */
int kunwind_walk_thread(struct task_struct *task, u64 *frames, u32 capacity,
			struct kunwind_result *result, bool *running);

typedef void (*kunwind_tell_fn)(const struct kunwind_mapping *m, void *data);

/**
 * kunwind_for_each_mapping() - report all mappings that walks know of
 * @tell: called for each mapping, with a spinlock held: must not sleep
 * @data: for @tell
 *
 * What is mapped meanwhile goes to the tracepoints only: see <kunwind/trace.h>.
 *
 * Context: process context, sleeps.
 * Return: 0; -EAGAIN if processes forked faster than they could be reported, so that
 *	some are missing; -EINTR after a fatal signal.
 */
int kunwind_for_each_mapping(kunwind_tell_fn tell, void *data);

/**
 * kunwind_stop_name() - the name of a stop reason
 * @stop: enum kunwind_stop
 *
 * Context: any.
 * Return: a constant string such as "COMPLETE"; "?" for an unknown number.
 */
const char *kunwind_stop_name(u32 stop);

#endif /* KUNWIND_KUNWIND_H */
