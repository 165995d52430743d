/* SPDX-License-Identifier: MIT */
/*
 * With libkunwind, a program asks the kernel module kunwind for its own call stack, for those
 * of its other threads, and for those of other processes that it may trace.
 *
 * Functions that can fail return a negative errno value and leave errno alone, except
 * kunwind_backtrace_new(). See kunwind(7).
 */
#ifndef LIBKUNWIND_H
#define LIBKUNWIND_H

#include <stdint.h>
#include <sys/types.h>
#include <linux/kunwind.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The largest capacity of a backtrace, in frames. */
#define KUNWIND_MAX_CAPACITY	(1u << 20)

/* The most samples that a process may ask for, a second of its CPU time. */
#define KUNWIND_MAX_HZ		10000u

/* An open /dev/kunwind. Threads may share it. */
struct kunwind_handle;

/* Room for the frames of one stack. One thread at a time may use it. */
struct kunwind_bt;

/**
 * kunwind_open() - cover this process
 * @handle: where to put the handle; NULL on failure
 *
 * On return, the unwind tables of all mapped code are compiled.
 *
 * Return: 0; -ENODEV if the module is not loaded; -EPROTO if the module does not
 * support this library's ABI; -EOPNOTSUPP if the kernel lacks a function that the
 * module must hook, or if its sysctl kernel.ftrace_enabled is 0; -EINVAL if @handle is
 * NULL; -ENOMEM, -EMFILE, -ENFILE, -EACCES, -EINTR as open(2).
 */
int kunwind_open(struct kunwind_handle **handle);

/**
 * kunwind_close() - undo kunwind_open()
 * @handle: the handle, or NULL
 *
 * Never fails.
 */
void kunwind_close(struct kunwind_handle *handle);

/**
 * kunwind_backtrace_new() - allocate a backtrace
 * @capacity: how many frames it has room for, 1 to KUNWIND_MAX_CAPACITY
 *
 * Return: an empty backtrace; NULL and errno = EINVAL or ENOMEM on failure.
 */
struct kunwind_bt *kunwind_backtrace_new(uint32_t capacity);

/**
 * kunwind_backtrace_free() - undo kunwind_backtrace_new()
 * @bt: the backtrace, or NULL
 */
void kunwind_backtrace_free(struct kunwind_bt *bt);

/**
 * kunwind_backtrace() - take the calling thread's own stack
 * @handle: from kunwind_open(), in this process
 * @bt: where to put it
 *
 * Frame 0 is the address that this call returns to. The function is async-signal-safe: it
 * makes one system call for each KUNWIND_MAX_FRAMES frames, allocates nothing and takes no
 * lock. A stack that ends early is a result, not an error: see kunwind_backtrace_stop().
 *
 * Return: the number of frames; -EXDEV in a child of fork(2) or in another
 * process than the one that opened @handle; -EBADF or -ENOTTY if the program has closed the
 * descriptor of @handle; -ENOMEM; -EINVAL if an argument is NULL. After an error @bt is empty.
 */
int kunwind_backtrace(struct kunwind_handle *handle,
		      struct kunwind_bt *bt);

/**
 * kunwind_backtrace_thread() - take the stack of another thread
 * @handle: from kunwind_open(), in this process
 * @pidfd: the process that the thread belongs to, by pidfd_open(2); -1: this process
 * @tid: the thread, by its number in this PID namespace, as in /proc/PID/task; 0: the
 *	process's main thread
 * @bt: where to put it; at most KUNWIND_MAX_FRAMES frames
 *
 * The thread is not stopped and gets no signal, and its system calls are not interrupted.
 * Frame 0 is where the thread entered the kernel or was interrupted. Another process must be
 * one that this one may trace: ptrace(2), PTRACE_MODE_ATTACH_FSCREDS. The function is
 * thread-safe, but not async-signal-safe.
 *
 * Return: the number of frames; -ESRCH if there is no such thread, if it is the kernel's, if
 * it exits, or if @pidfd is given and /proc is another PID namespace's; -EACCES if this process
 * may not trace it; -EAGAIN if it kept moving between CPUs, or is in execve(); -EBADF if @pidfd
 * is not one; -ENOTTY if the module is older than this function; -EBADF or -ENOTTY if the
 * program has closed the descriptor of @handle; -ENOMEM; -EINVAL. If @pidfd is given, it reads
 * /proc: -ENOENT if that is not mounted, -EMFILE and -ENFILE. After an error @bt is empty.
 */
int kunwind_backtrace_thread(struct kunwind_handle *handle, int pidfd, pid_t tid,
			     struct kunwind_bt *bt);

/**
 * kunwind_backtrace_state() - where the thread of kunwind_backtrace_thread() was
 * @bt: the backtrace
 *
 * Return: KUNWIND_THREAD_OFF_CPU if it waited for something, or for a CPU;
 * KUNWIND_THREAD_ON_CPU if it was running; 0 if @bt has no stack of that function.
 */
uint32_t kunwind_backtrace_state(const struct kunwind_bt *bt);

/**
 * kunwind_backtrace_frames() - the frames
 * @bt: the backtrace
 *
 * A frame's address is a return address, and the call is the instruction before: look up
 * the address minus 1. If the frame has KUNWIND_FRAME_INTERRUPTED in its flags, it made a
 * system call there, or a signal interrupted it: look up the address itself.
 * KUNWIND_FRAME_GUESSED means that no unwind information proves the frame.
 *
 * Return: kunwind_backtrace_count() frames, innermost first. They change with the
 * next kunwind_backtrace() and live as long as @bt.
 */
const struct kunwind_frame *
kunwind_backtrace_frames(const struct kunwind_bt *bt);

/**
 * kunwind_backtrace_count() - how many frames there are
 * @bt: the backtrace
 *
 * Return: 0 to kunwind_backtrace_capacity().
 */
uint32_t kunwind_backtrace_count(const struct kunwind_bt *bt);

/**
 * kunwind_backtrace_capacity() - how many frames there is room for
 * @bt: the backtrace
 *
 * Return: the capacity that was passed to kunwind_backtrace_new().
 */
uint32_t kunwind_backtrace_capacity(const struct kunwind_bt *bt);

/**
 * kunwind_backtrace_proven() - how many frames are certain
 * @bt: the backtrace
 *
 * Return: 0 to kunwind_backtrace_count(). The frames after them have
 * KUNWIND_FRAME_GUESSED. They are plausible, but not proven: the walk followed the
 * code ahead, took a step by frame pointer, or assumed that a function had pushed nothing.
 */
uint32_t kunwind_backtrace_proven(const struct kunwind_bt *bt);

/**
 * kunwind_backtrace_stop() - why the walk ended
 * @bt: the backtrace
 *
 * Return: enum kunwind_stop: KUNWIND_STOP_COMPLETE if and only if the stack is whole;
 * KUNWIND_STOP_NONE (0) before the first kunwind_backtrace(), and after one that failed.
 */
uint32_t kunwind_backtrace_stop(const struct kunwind_bt *bt);

/**
 * kunwind_stop_name() - the name of a stop reason
 * @stop: from kunwind_backtrace_stop()
 *
 * Return: a constant string such as "COMPLETE"; "?" for an unknown number.
 */
const char *kunwind_stop_name(uint32_t stop);

/**
 * kunwind_stop_text() - a stop reason in words
 * @stop: from kunwind_backtrace_stop()
 *
 * Return: a constant string such as "the outermost frame was reached"; "unknown
 * reason" for an unknown number.
 */
const char *kunwind_stop_text(uint32_t stop);

/**
 * kunwind_profile_start() - sample this process from now on
 * @handle: from kunwind_open(), in this process
 * @hz: samples for each second of CPU time, 1 to KUNWIND_MAX_HZ; the kernel takes at most as
 *	many as its timer has ticks, 100 to 1000, and weighs each accordingly
 * @path: a folder to make for the trace; NULL: kunwind-profile-PID-0 in the working
 *	directory, or the next number that is free
 *
 * Whatever thread uses the CPU is sampled. `kunwind report` shows the trace. The profile uses
 * SIGPROF, and @handle may be closed. It ends by kunwind_profile_stop(), at exit(), and by
 * execve(). A child of fork(2) is not sampled. Samples wait in buffers: four for each CPU, but
 * 64 at most. A sample writes its buffer if that is full, or if the first sample in it is older
 * than a second. A process that is killed loses what is in the buffers.
 *
 * Return: 0; -EBUSY if this process is being sampled, or if it uses SIGPROF itself; -EEXIST
 * if @path exists; -ENOTTY if the module is older than this function; -EXDEV in another
 * process than the one that opened @handle; -EINVAL if @handle is NULL or @hz is not in its
 * range; -ENOMEM; errors of mkdir(2), open(2), write(2) and timer_create(2).
 */
int kunwind_profile_start(struct kunwind_handle *handle, unsigned int hz, const char *path);

/**
 * kunwind_profile_stop() - undo kunwind_profile_start()
 *
 * On return, all samples are written, and SIGPROF does what it did before.
 *
 * In a child of fork(), it gives back what the child has inherited of its parent's profile.
 *
 * Return: how many samples were lost, mostly 0; -EALREADY if this process is not being
 * sampled; -EBUSY if another thread starts or stops it, or if the program changed what SIGPROF
 * does, and so lost samples; errors of write(2), such as -ENOSPC, if the trace is not whole.
 */
int kunwind_profile_stop(void);

#ifdef __cplusplus
}
#endif

#endif /* LIBKUNWIND_H */
