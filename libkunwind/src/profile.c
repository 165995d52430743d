// SPDX-License-Identifier: MIT
/*
 * A process samples itself: a timer of its CPU time sends SIGPROF, and the handler asks the
 * module for the stack that the signal interrupted. It starts at the registers that the
 * kernel tells the handler, so the walk passes neither the handler nor the signal's frame.
 *
 * The handler allocates nothing and waits for nobody. A writer is a packet of a trace and the
 * file that it goes to. The handler takes the one of its CPU, or the next one that is free.
 */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

#include "code.h"
#include "file.h"
#include "internal.h"
#include "libkunwind.h"
#include "metadata.h"
#include "recorder.h"
#include "stream.h"

#define SECOND		1000000000ull
#define MAX_WRITERS	64

/* A thread that has used less since its last sample was only woken for the signal, in ns. */
#define WOKEN		100000
/* Without a folder's name. */
#define MAX_FOLDERS	1000

/* Follows the last frame of a stack that is not whole. */
#define NOT_WHOLE	UINT64_MAX

/* The answer to a request, at whose end the addresses get the mark. */
struct answer {
	struct kunwind_stack_at at;
	struct kunwind_frame frames[KUNWIND_MAX_FRAMES + 1];
};

struct writer {
	int taken;
	struct kunwind_stream stream;
	struct answer answer;
	unsigned char packet[STREAM_PACKET];
};

_Static_assert(sizeof(uint64_t) * (KUNWIND_MAX_FRAMES + 1) + 256 <= STREAM_EVENT,
	       "the largest sample is an event");

/* What a profile needs, in one piece of memory that is zeros at first. */
struct memory {
	struct kunwind_code code;
	unsigned char code_packet[STREAM_PACKET];
	struct writer writers[];
};

enum state {
	IDLE,
	CHANGING,
	SAMPLING,
	/* Another program samples this one. */
	RECORDED,
};

/**
 * struct threads - what the threads of this process are doing with the profile
 * @state: enum state
 * @active: handlers that may be using the profile
 * @telling: a handler tells of code
 *
 * It has a page, which the kernel fills with zeros in a child of fork(). The child has none of
 * these threads, and does not sample. Its number says less: as the first process of a PID
 * namespace it can have the number of its parent.
 */
struct threads {
	int state;
	int active;
	int telling;
};

/**
 * struct profile - the profile of this process; a child of fork() has its parent's
 * @threads: NULL before the first start
 * @pid: the process that started it
 * @device: the device, which covers this process
 * @folder: where the trace is; while it is made
 * @timer: sends the signal
 * @period: of the timer, in ns
 * @before: what SIGPROF did
 * @nr_writers: how many there are
 * @memory: the writers, and what tells of code; or NULL
 * @bytes: of @memory
 * @mappings: the module's number of what was told
 * @lost: samples that got no writer
 * @owed: time that samples stand for which were not taken
 * @number: how many profiles there were, this one included
 * @name: of the folder, if the caller has named none
 */
static struct profile {
	struct threads *threads;
	pid_t pid;
	struct kunwind_file device;
	int folder;
	timer_t timer;
	uint64_t period;
	struct sigaction before;
	unsigned int nr_writers;
	struct memory *memory;
	size_t bytes;
	uint64_t mappings;
	uint64_t lost;
	uint64_t owed;
	uint64_t number;
	char name[64];
} profile;

/* Return: profile.threads, which is made if there is none; or NULL, with errno. */
static struct threads *make_threads(void)
{
	struct threads *threads = __atomic_load_n(&profile.threads, __ATOMIC_ACQUIRE), *fresh;

	if (threads)
		return threads;
	fresh = mmap(NULL, sizeof(*fresh), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
		     -1, 0);
	if (fresh == MAP_FAILED)
		return NULL;
	if (!madvise(fresh, sizeof(*fresh), MADV_WIPEONFORK) &&
	    __atomic_compare_exchange_n(&profile.threads, &threads, fresh, 0, __ATOMIC_ACQ_REL,
					__ATOMIC_ACQUIRE))
		return fresh;
	munmap(fresh, sizeof(*fresh));
	/* Another thread's, if that was faster. */
	return threads;
}

/*
 * The thread's last sample: of which profile, and how much CPU time it had used. Only this
 * kind of thread-local memory is there without an allocation, in a signal handler.
 */
static __thread struct {
	uint64_t profile;
	uint64_t used;
} last __attribute__((tls_model("initial-exec")));

static uint64_t read_clock(clockid_t clock)
{
	struct timespec time;

	clock_gettime(clock, &time);
	return time.tv_sec * SECOND + time.tv_nsec;
}

static uint64_t now(void)
{
	return read_clock(CLOCK_MONOTONIC);
}

/*
 * The signal is for the thread that used the CPU. If that has it blocked, as in this handler,
 * the kernel wakes another one, which waits somewhere. Return: whether this is not such a one.
 */
static int used_cpu(void)
{
	uint64_t used = read_clock(CLOCK_THREAD_CPUTIME_ID);
	uint64_t since = last.profile == profile.number ? used - last.used : used;

	if (since < WOKEN)
		return 0;
	last.profile = profile.number;
	last.used = used;
	return 1;
}

static struct kunwind_registers registers_of(const ucontext_t *context)
{
	const greg_t *r = context->uc_mcontext.gregs;

	return (struct kunwind_registers) {
		.ip = r[REG_RIP], .sp = r[REG_RSP], .bp = r[REG_RBP],
		.ax = r[REG_RAX], .bx = r[REG_RBX], .cx = r[REG_RCX], .dx = r[REG_RDX],
		.si = r[REG_RSI], .di = r[REG_RDI],
		.r8 = r[REG_R8], .r9 = r[REG_R9], .r10 = r[REG_R10], .r11 = r[REG_R11],
		.r12 = r[REG_R12], .r13 = r[REG_R13], .r14 = r[REG_R14], .r15 = r[REG_R15],
	};
}

static long ask(struct answer *answer, const struct kunwind_registers *registers)
{
	answer->at.stack = (struct kunwind_stack) {
		.size = sizeof(answer->at),
		.capacity = KUNWIND_MAX_FRAMES,
	};
	answer->at.registers = *registers;
	return kunwind_ioctl(profile.device.fd, KUNWIND_IOC_STACK_AT, &answer->at);
}

/* Return: a writer that no other handler has until give_back(); or NULL. */
static struct writer *take_writer(void)
{
	unsigned int i, cpu = sched_getcpu();
	struct writer *writer;

	for (i = 0; i < profile.nr_writers; i++) {
		writer = &profile.memory->writers[(cpu + i) % profile.nr_writers];
		if (!__atomic_exchange_n(&writer->taken, 1, __ATOMIC_ACQUIRE))
			return writer;
	}
	return NULL;
}

static void give_back(struct writer *writer)
{
	__atomic_store_n(&writer->taken, 0, __ATOMIC_RELEASE);
}

/*
 * Tell of code before a stack that may have it, as of a time before that stack's. Return:
 * whether it is told; not if another thread is telling of it.
 */
static int tell_code(uint64_t mappings)
{
	int told = __atomic_load_n(&profile.mappings, __ATOMIC_ACQUIRE) == mappings;

	if (told || __atomic_exchange_n(&profile.threads->telling, 1, __ATOMIC_ACQUIRE))
		return told;
	told = !kunwind_code_tell(&profile.memory->code, now());
	if (told)
		__atomic_store_n(&profile.mappings, mappings, __ATOMIC_RELEASE);
	__atomic_store_n(&profile.threads->telling, 0, __ATOMIC_RELEASE);
	return told;
}

/* As Documentation/trace-format.md has them. */
struct process_fields {
	int32_t pid;
	int32_t tid;
	uint32_t length;
} __attribute__((packed));

struct stack_fields {
	uint8_t stop;
	uint64_t space;
	uint16_t proven;
	uint64_t interrupted;
	/* Of the event cpu_sample. */
	uint32_t period;
	uint64_t ip;
	uint8_t user;
} __attribute__((packed));

/* Take the addresses together, with the mark behind them. Return: how many there are. */
static uint32_t take_together(struct answer *answer, uint64_t *interrupted)
{
	uint32_t i, count = answer->at.stack.count;
	__u64 *addresses = (__u64 *)answer->frames;

	*interrupted = 0;
	for (i = 0; i < count; i++) {
		if (i < 64 && answer->frames[i].flags & KUNWIND_FRAME_INTERRUPTED)
			*interrupted |= 1ull << i;
		addresses[i] = answer->frames[i].address;
	}
	if (answer->at.stack.stop != KUNWIND_STOP_COMPLETE)
		addresses[count++] = NOT_WHOLE;
	return count;
}

static void write_sample(struct writer *writer, uint64_t time, uint64_t period)
{
	const struct kunwind_stack *stack = &writer->answer.at.stack;
	struct kunwind_stream *stream = &writer->stream;
	struct process_fields process = {
		.pid = profile.pid,
		.tid = kunwind_syscall(SYS_gettid, 0, 0, 0, 0),
	};
	struct stack_fields fields = {
		.stop = stack->stop, .space = profile.pid, .proven = stack->proven,
		.period = period < UINT32_MAX ? period : UINT32_MAX,
		.ip = writer->answer.at.registers.ip, .user = 1,
	};
	char name[16] = "";
	uint64_t mask;

	kunwind_syscall(SYS_prctl, PR_GET_NAME, (long)name, 0, 0);
	process.length = take_together(&writer->answer, &mask);
	fields.interrupted = mask;
	kunwind_stream_event(stream, METADATA_SAMPLE, time);
	kunwind_stream_put(stream, name, strnlen(name, sizeof(name) - 1));
	kunwind_stream_put(stream, "", 1);
	kunwind_stream_put(stream, &process, sizeof(process));
	kunwind_stream_put(stream, writer->answer.frames, process.length * sizeof(uint64_t));
	kunwind_stream_put(stream, &fields, sizeof(fields));
	/* A process that is killed loses no more than this. */
	if (time - stream->begin > SECOND)
		(void)kunwind_stream_flush(stream);
}

/* Return: whether there is a sample, of what was interrupted. */
static int take_sample(struct writer *writer, const ucontext_t *context, uint64_t period)
{
	const struct kunwind_registers registers = registers_of(context);
	uint64_t told, time, mappings;

	/*
	 * What is told of code has a later time than stacks from before, and an earlier one
	 * than those that need it. The writer was taken before, so that the times in its file
	 * do not go back.
	 */
	told = __atomic_load_n(&profile.mappings, __ATOMIC_ACQUIRE);
	time = now();
	if (ask(&writer->answer, &registers) < 0)
		return 0;
	mappings = writer->answer.at.mappings;
	if (mappings != told) {
		if (!tell_code(mappings))
			return 0;
		time = now();
	}
	write_sample(writer, time, period);
	return 1;
}

/*
 * @period: how much CPU time it stands for, in ns. If there is no sample, the next one stands
 * for that time, too.
 */
static void sample(const ucontext_t *context, uint64_t period)
{
	int taken = 0, used = used_cpu();
	struct writer *writer = used ? take_writer() : NULL;

	period += __atomic_exchange_n(&profile.owed, 0, __ATOMIC_RELAXED);
	if (writer) {
		taken = take_sample(writer, context, period);
		writer->stream.discarded += !taken;
		give_back(writer);
	} else if (used) {
		__atomic_fetch_add(&profile.lost, 1, __ATOMIC_RELAXED);
	}
	if (!taken)
		__atomic_fetch_add(&profile.owed, period, __ATOMIC_RELAXED);
}

static void on_signal(int number, siginfo_t *info, void *context)
{
	(void)number;
	/* Others may send the signal, too. */
	if (info->si_code != SI_TIMER || info->si_value.sival_ptr != &profile)
		return;
	__atomic_fetch_add(&profile.threads->active, 1, __ATOMIC_SEQ_CST);
	if (__atomic_load_n(&profile.threads->state, __ATOMIC_SEQ_CST) == SAMPLING)
		sample(context, (1ull + info->si_overrun) * profile.period);
	__atomic_fetch_sub(&profile.threads->active, 1, __ATOMIC_SEQ_CST);
}

static void set_state(int state)
{
	__atomic_store_n(&profile.threads->state, state, __ATOMIC_SEQ_CST);
}

static void wait_for_handlers(void)
{
	const struct timespec while_ = { .tv_nsec = 1000000 };

	while (__atomic_load_n(&profile.threads->active, __ATOMIC_SEQ_CST))
		nanosleep(&while_, NULL);
}

static int catch_signal(void)
{
	struct sigaction action = { .sa_sigaction = on_signal };

	if (sigaction(SIGPROF, NULL, &profile.before))
		return -errno;
	if (profile.before.sa_flags & SA_SIGINFO ||
	    (profile.before.sa_handler != SIG_DFL && profile.before.sa_handler != SIG_IGN))
		return -EBUSY;
	/* A small stack may have no room. The walk starts at the one that was interrupted. */
	action.sa_flags = SA_SIGINFO | SA_RESTART | SA_ONSTACK;
	/*
	 * All of them, libc's own for pthread_cancel() among them, which sigfillset() leaves
	 * out: what a handler has taken it must give back.
	 */
	memset(&action.sa_mask, 0xff, sizeof(action.sa_mask));
	return sigaction(SIGPROF, &action, NULL) ? -errno : 0;
}

/* Return: 0; -EBUSY if the program has changed it meanwhile, and so took the samples. */
static int release_signal(void)
{
	const struct sigaction ignore = { .sa_handler = SIG_IGN };
	struct sigaction action;

	sigaction(SIGPROF, NULL, &action);
	if (!(action.sa_flags & SA_SIGINFO) || action.sa_sigaction != on_signal)
		return -EBUSY;
	/* One that is pending would end the program. To ignore the signal discards it. */
	sigaction(SIGPROF, &ignore, NULL);
	sigaction(SIGPROF, &profile.before, NULL);
	return 0;
}

static int start_timer(unsigned int hz)
{
	struct sigevent event = {
		.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGPROF,
		.sigev_value.sival_ptr = &profile,
	};
	struct itimerspec every = { 0 };
	int ret;

	if (timer_create(CLOCK_PROCESS_CPUTIME_ID, &event, &profile.timer))
		return -errno;
	profile.period = SECOND / hz;
	every.it_interval.tv_sec = profile.period / SECOND;
	every.it_interval.tv_nsec = profile.period % SECOND;
	every.it_value = every.it_interval;
	if (!timer_settime(profile.timer, 0, &every, NULL))
		return 0;
	ret = -errno;
	timer_delete(profile.timer);
	return ret;
}

static void name_stream(char name[32], unsigned int i)
{
	snprintf(name, 32, "samples_%u", i);
}

/* Return: 0 or a negative errno. What was opened stays open. */
static int open_files(void)
{
	struct memory *memory = profile.memory;
	char name[32];
	unsigned int i;
	int ret = 0;

	memory->code.stream.packet = memory->code_packet;
	for (i = 0; i < profile.nr_writers; i++)
		memory->writers[i].stream.packet = memory->writers[i].packet;
	for (i = 0; i < profile.nr_writers && !ret; i++) {
		name_stream(name, i);
		ret = kunwind_stream_open(&memory->writers[i].stream, profile.folder, name,
					  METADATA_SAMPLES, i);
	}
	if (!ret)
		ret = kunwind_stream_open(&memory->code.stream, profile.folder, "code",
					  METADATA_CODE, 0);
	if (!ret)
		ret = kunwind_metadata_write(profile.folder);
	return ret ?: kunwind_code_open(&memory->code);
}

static void close_files(void)
{
	struct memory *memory = profile.memory;
	unsigned int i;

	for (i = 0; i < profile.nr_writers; i++)
		kunwind_stream_close(&memory->writers[i].stream);
	kunwind_stream_close(&memory->code.stream);
	kunwind_code_close(&memory->code);
}

/* There is no trace. */
static void remove_files(void)
{
	char name[32];
	unsigned int i;

	for (i = 0; i < profile.nr_writers; i++) {
		name_stream(name, i);
		unlinkat(profile.folder, name, 0);
	}
	unlinkat(profile.folder, "code", 0);
	unlinkat(profile.folder, "metadata", 0);
}

/* @path: NULL for one of our own choice. Return: 0 or a negative errno. */
static int make_folder(const char **path)
{
	int i, ret = 0;

	if (*path)
		ret = mkdir(*path, 0700) ? -errno : 0;
	for (i = 0; !*path || (*path == profile.name && ret == -EEXIST && i < MAX_FOLDERS); i++) {
		snprintf(profile.name, sizeof(profile.name), "kunwind-profile-%d-%d",
			 (int)profile.pid, i);
		*path = profile.name;
		ret = mkdir(*path, 0700) ? -errno : 0;
	}
	if (ret)
		return ret;
	profile.folder = open(*path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (profile.folder >= 0)
		return 0;
	ret = -errno;
	rmdir(*path);
	return ret;
}

static int make_memory(void)
{
	long cpus = sysconf(_SC_NPROCESSORS_CONF);
	void *memory;

	/* More than CPUs: threads can be preempted in the handler. */
	profile.nr_writers = cpus < 1 ? 4 : cpus > MAX_WRITERS / 4 ? MAX_WRITERS :
						   4 * (unsigned int)cpus;
	profile.bytes = sizeof(*profile.memory) + profile.nr_writers * sizeof(struct writer);
	memory = mmap(NULL, profile.bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
		      -1, 0);
	profile.memory = memory == MAP_FAILED ? NULL : memory;
	return profile.memory ? 0 : -ENOMEM;
}

static void free_memory(void)
{
	struct memory *memory = profile.memory;

	/* First, as another thread may fork() in between. */
	profile.memory = NULL;
	munmap(memory, profile.bytes);
}

/* The module must know the request, in this process. */
static int tell_first(void)
{
	struct answer *answer = &profile.memory->writers[0].answer;
	const struct kunwind_registers registers = { .ip = (uintptr_t)tell_first };
	long ret = ask(answer, &registers);

	if (ret < 0)
		return ret;
	ret = kunwind_code_tell(&profile.memory->code, now());
	profile.mappings = answer->at.mappings;
	return ret;
}

static int start(struct kunwind_handle *handle, unsigned int hz, const char *path)
{
	int ret;

	profile.lost = 0;
	profile.owed = 0;
	profile.number++;
	ret = kunwind_file_take(&profile.device, fcntl(handle->fd, F_DUPFD_CLOEXEC, 0));
	if (ret)
		return ret;
	ret = make_memory();
	if (ret)
		goto close_device;
	ret = make_folder(&path);
	if (ret)
		goto free_memory;
	ret = open_files() ?: tell_first() ?: catch_signal();
	if (ret)
		goto remove_folder;
	ret = start_timer(hz);
	if (!ret) {
		close(profile.folder);
		/* From here on another thread may stop it. */
		set_state(SAMPLING);
		return 0;
	}
	(void)release_signal();
remove_folder:
	close_files();
	remove_files();
	close(profile.folder);
	rmdir(path);
free_memory:
	free_memory();
close_device:
	kunwind_file_close(&profile.device);
	return ret;
}

/* Write what is left. Return: 0 or the first error. */
static int end_writers(uint64_t *lost)
{
	struct memory *memory = profile.memory;
	int error = memory->code.stream.error, told = 0;
	unsigned int i;

	*lost = profile.lost;
	for (i = 0; i < profile.nr_writers; i++) {
		struct kunwind_stream *stream = &memory->writers[i].stream;

		/* These were no writer's, and the first that writes tells of them. */
		if (stream->events && !told) {
			stream->discarded += profile.lost;
			*lost = 0;
			told = 1;
		}
		(void)kunwind_stream_flush(stream);
		error = error ?: stream->error;
	}
	for (i = 0; i < profile.nr_writers; i++)
		*lost += memory->writers[i].stream.discarded;
	return error;
}

static void free_profile(void)
{
	close_files();
	kunwind_file_close(&profile.device);
	free_memory();
}

/* A child of the process that sampled gives back what it has of that. */
static void forget_parents(void)
{
	if (!profile.memory)
		return;
	(void)release_signal();
	free_profile();
}

/* Return: the state before, which is CHANGING now if it was @from. */
static int change_from(int from)
{
	int state = from;

	__atomic_compare_exchange_n(&profile.threads->state, &state, CHANGING, 0,
				    __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
	return state;
}

EXPORT int kunwind_profile_start(struct kunwind_handle *handle, unsigned int hz,
				 const char *path)
{
	int saved_errno = errno, ret;

	if (!handle || !hz || hz > KUNWIND_MAX_HZ)
		return -EINVAL;
	if (!make_threads()) {
		ret = -errno;
		goto out_errno;
	}
	if (change_from(IDLE) != IDLE)
		return -EBUSY;
	forget_parents();
	profile.pid = getpid();
	if (kunwind_recorder_exists()) {
		ret = kunwind_recorder_start();
		set_state(ret ? IDLE : RECORDED);
	} else {
		ret = start(handle, hz, path);
		if (ret)
			set_state(IDLE);
	}
out_errno:
	errno = saved_errno;
	return ret;
}

/* What start() did. Return: as kunwind_profile_stop(). */
static int stop(void)
{
	uint64_t lost;
	int ret, error;

	timer_delete(profile.timer);
	ret = release_signal();
	wait_for_handlers();
	error = end_writers(&lost);
	free_profile();
	return error ?: ret ?: lost < INT32_MAX ? (int)lost : INT32_MAX;
}

EXPORT int kunwind_profile_stop(void)
{
	int saved_errno = errno, state, ret;

	if (!__atomic_load_n(&profile.threads, __ATOMIC_ACQUIRE))
		return -EALREADY;
	state = change_from(SAMPLING);
	if (state == RECORDED)
		state = change_from(RECORDED);
	if (state != SAMPLING && state != RECORDED)
		return state == IDLE ? -EALREADY : -EBUSY;
	ret = state == SAMPLING ? stop() : kunwind_recorder_stop();
	set_state(IDLE);
	errno = saved_errno;
	return ret;
}

/* What a program that ends has not stopped. */
static __attribute__((destructor)) void stop_at_exit(void)
{
	if (profile.pid == getpid())
		(void)kunwind_profile_stop();
}
