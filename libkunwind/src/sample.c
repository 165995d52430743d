// SPDX-License-Identifier: MIT
/*
 * A sample: the handler asks the module for the stack that the signal interrupted, and writes
 * it down. The walk starts at the registers that the kernel tells the handler, so it passes
 * neither the handler nor the signal's frame.
 *
 * The handler allocates nothing and waits for nobody. A writer is a packet of a trace and the
 * file that it goes to. The handler takes the one of its CPU, or the next one that is free.
 */
#include <errno.h>
#include <sched.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#include "metadata.h"
#include "profile.h"

/* A thread that has used less since its last sample was only woken for the signal, in ns. */
#define WOKEN		100000

/* Follows the last frame of a stack that is not whole. */
#define NOT_WHOLE	UINT64_MAX

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
	uint64_t since = last.profile == kunwind_profile.number ? used - last.used : used;

	if (since < WOKEN)
		return 0;
	last.profile = kunwind_profile.number;
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
	if (!kunwind_file_is_own(&kunwind_profile.device))
		return -EBADF;
	return kunwind_ioctl(kunwind_profile.device.fd, KUNWIND_IOC_STACK_AT, &answer->at);
}

/* Return: a writer that no other handler has until give_back(); or NULL. */
static struct writer *take_writer(void)
{
	unsigned int i, cpu = sched_getcpu();
	struct writer *writer;

	for (i = 0; i < kunwind_profile.nr_writers; i++) {
		writer = &kunwind_profile.memory->writers[(cpu + i) % kunwind_profile.nr_writers];
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
	int told = __atomic_load_n(&kunwind_profile.mappings, __ATOMIC_ACQUIRE) == mappings;

	if (told || __atomic_exchange_n(&kunwind_profile.threads->telling, 1, __ATOMIC_ACQUIRE))
		return told;
	told = !kunwind_code_tell(&kunwind_profile.memory->code, now());
	if (told)
		__atomic_store_n(&kunwind_profile.mappings, mappings, __ATOMIC_RELEASE);
	__atomic_store_n(&kunwind_profile.threads->telling, 0, __ATOMIC_RELEASE);
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

static void write_sample(struct writer *writer, uint64_t time, uint32_t period)
{
	const struct kunwind_stack *stack = &writer->answer.at.stack;
	struct kunwind_stream *stream = &writer->stream;
	struct process_fields process = {
		.pid = kunwind_profile.pid,
		.tid = kunwind_syscall(SYS_gettid, 0, 0, 0, 0),
	};
	struct stack_fields fields = {
		.stop = stack->stop, .space = kunwind_profile.pid, .proven = stack->proven,
		.period = period,
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
	/* A process that is killed loses what is in packets, which wait for the next sample. */
	if (time - stream->begin > SECOND)
		(void)kunwind_stream_flush(stream);
}

/* Return: whether there is a sample, of what was interrupted. */
static int take_sample(struct writer *writer, const ucontext_t *context, uint32_t period)
{
	const struct kunwind_registers registers = registers_of(context);
	uint64_t told, time, mappings;

	/*
	 * What is told of code has a later time than stacks from before, and an earlier one
	 * than those that need it. The writer was taken before, so that the times in its file
	 * do not go back.
	 */
	told = __atomic_load_n(&kunwind_profile.mappings, __ATOMIC_ACQUIRE);
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

void kunwind_sample(const ucontext_t *context, uint64_t period)
{
	int taken = 0, used = used_cpu();
	struct writer *writer = used ? take_writer() : NULL;
	uint32_t told;

	period += __atomic_exchange_n(&kunwind_profile.owed, 0, __ATOMIC_RELAXED);
	/* The field has 4.29 s at most. The next sample tells of the rest. */
	told = period < UINT32_MAX ? period : UINT32_MAX;
	if (writer) {
		taken = take_sample(writer, context, told);
		writer->stream.discarded += !taken;
		give_back(writer);
	} else if (used) {
		__atomic_fetch_add(&kunwind_profile.lost, 1, __ATOMIC_RELAXED);
	}
	if (taken)
		period -= told;
	if (period)
		__atomic_fetch_add(&kunwind_profile.owed, period, __ATOMIC_RELAXED);
}

int kunwind_sample_begin(void)
{
	struct answer *answer = &kunwind_profile.memory->writers[0].answer;
	const struct kunwind_registers registers = { .ip = (uintptr_t)kunwind_sample_begin };
	long ret = ask(answer, &registers);

	if (ret < 0)
		return ret;
	ret = kunwind_code_tell(&kunwind_profile.memory->code, now());
	kunwind_profile.mappings = answer->at.mappings;
	return ret;
}
