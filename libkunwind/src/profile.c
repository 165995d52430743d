// SPDX-License-Identifier: MIT
/*
 * A process samples itself: a timer of its CPU time sends SIGPROF, whose handler takes a
 * sample (sample.c).
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

#include "profile.h"
#include "recorder.h"

#define MAX_WRITERS	64

/* Of the profile. */
enum state {
	IDLE,
	CHANGING,
	SAMPLING,
	/* Another program samples this one. */
	RECORDED,
};

struct kunwind_profile kunwind_profile;

/* Return: kunwind_profile.threads, which is made if there is none; or NULL, with errno. */
static struct threads *make_threads(void)
{
	struct threads *threads, *fresh;

	threads = __atomic_load_n(&kunwind_profile.threads, __ATOMIC_ACQUIRE);
	if (threads)
		return threads;
	fresh = mmap(NULL, sizeof(*fresh), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
		     -1, 0);
	if (fresh == MAP_FAILED)
		return NULL;
	if (!madvise(fresh, sizeof(*fresh), MADV_WIPEONFORK) &&
	    __atomic_compare_exchange_n(&kunwind_profile.threads, &threads, fresh, 0,
					__ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
		return fresh;
	munmap(fresh, sizeof(*fresh));
	/* Another thread's, if that was faster. */
	return threads;
}

static void on_signal(int number, siginfo_t *info, void *context)
{
	(void)number;
	/* Others may send the signal, too. */
	if (info->si_code != SI_TIMER || info->si_value.sival_ptr != &kunwind_profile)
		return;
	__atomic_fetch_add(&kunwind_profile.threads->active, 1, __ATOMIC_SEQ_CST);
	if (__atomic_load_n(&kunwind_profile.threads->state, __ATOMIC_SEQ_CST) == SAMPLING)
		kunwind_sample(context, (1ull + info->si_overrun) * kunwind_profile.period);
	__atomic_fetch_sub(&kunwind_profile.threads->active, 1, __ATOMIC_SEQ_CST);
}

static void set_state(int state)
{
	__atomic_store_n(&kunwind_profile.threads->state, state, __ATOMIC_SEQ_CST);
}

static void wait_for_handlers(void)
{
	const struct timespec while_ = { .tv_nsec = 1000000 };

	while (__atomic_load_n(&kunwind_profile.threads->active, __ATOMIC_SEQ_CST))
		nanosleep(&while_, NULL);
}

static int catch_signal(void)
{
	struct sigaction action = { .sa_sigaction = on_signal };

	if (sigaction(SIGPROF, NULL, &kunwind_profile.before))
		return -errno;
	if (kunwind_profile.before.sa_flags & SA_SIGINFO ||
	    (kunwind_profile.before.sa_handler != SIG_DFL &&
	     kunwind_profile.before.sa_handler != SIG_IGN))
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
	sigaction(SIGPROF, &kunwind_profile.before, NULL);
	return 0;
}

static int start_timer(unsigned int hz)
{
	struct sigevent event = {
		.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGPROF,
		.sigev_value.sival_ptr = &kunwind_profile,
	};
	struct itimerspec every = { 0 };
	int ret;

	if (timer_create(CLOCK_PROCESS_CPUTIME_ID, &event, &kunwind_profile.timer))
		return -errno;
	kunwind_profile.period = SECOND / hz;
	every.it_interval.tv_sec = kunwind_profile.period / SECOND;
	every.it_interval.tv_nsec = kunwind_profile.period % SECOND;
	every.it_value = every.it_interval;
	if (!timer_settime(kunwind_profile.timer, 0, &every, NULL))
		return 0;
	ret = -errno;
	timer_delete(kunwind_profile.timer);
	return ret;
}

static int make_memory(void)
{
	long cpus = sysconf(_SC_NPROCESSORS_CONF);
	void *memory;

	/* More than CPUs: threads can be preempted in the handler. */
	kunwind_profile.nr_writers = cpus < 1 ? 4 : cpus > MAX_WRITERS / 4 ? MAX_WRITERS :
						   4 * (unsigned int)cpus;
	kunwind_profile.bytes = sizeof(*kunwind_profile.memory) +
				kunwind_profile.nr_writers * sizeof(struct writer);
	memory = mmap(NULL, kunwind_profile.bytes, PROT_READ | PROT_WRITE,
		      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	kunwind_profile.memory = memory == MAP_FAILED ? NULL : memory;
	return kunwind_profile.memory ? 0 : -ENOMEM;
}

static void free_memory(void)
{
	struct memory *memory = kunwind_profile.memory;

	/* First, as another thread may fork() in between. */
	kunwind_profile.memory = NULL;
	munmap(memory, kunwind_profile.bytes);
}

static int start(struct kunwind_handle *handle, unsigned int hz, const char *path)
{
	int ret;

	kunwind_profile.lost = 0;
	kunwind_profile.owed = 0;
	kunwind_profile.number++;
	ret = kunwind_file_take(&kunwind_profile.device, fcntl(handle->fd, F_DUPFD_CLOEXEC, 0));
	if (ret)
		return ret;
	ret = make_memory();
	if (ret)
		goto close_device;
	ret = kunwind_profile_make_folder(&path);
	if (ret)
		goto free_memory;
	ret = kunwind_profile_open_files() ?: kunwind_sample_begin() ?: catch_signal();
	if (ret)
		goto remove_folder;
	ret = start_timer(hz);
	if (!ret) {
		close(kunwind_profile.folder);
		/* From here on another thread may stop it. */
		set_state(SAMPLING);
		return 0;
	}
	(void)release_signal();
remove_folder:
	kunwind_profile_close_files();
	kunwind_profile_remove_files();
	close(kunwind_profile.folder);
	rmdir(path);
free_memory:
	free_memory();
close_device:
	kunwind_file_close(&kunwind_profile.device);
	return ret;
}

/* Write what is left. Return: 0 or the first error. */
static int end_writers(uint64_t *lost)
{
	struct memory *memory = kunwind_profile.memory;
	int error = memory->code.stream.error, told = 0;
	unsigned int i;

	*lost = kunwind_profile.lost;
	for (i = 0; i < kunwind_profile.nr_writers; i++) {
		struct kunwind_stream *stream = &memory->writers[i].stream;

		/* These were no writer's, and the first that writes tells of them. */
		if (stream->events && !told) {
			stream->discarded += kunwind_profile.lost;
			*lost = 0;
			told = 1;
		}
		(void)kunwind_stream_flush(stream);
		error = error ?: stream->error;
	}
	for (i = 0; i < kunwind_profile.nr_writers; i++)
		*lost += memory->writers[i].stream.discarded;
	return error;
}

static void free_profile(void)
{
	kunwind_profile_close_files();
	kunwind_file_close(&kunwind_profile.device);
	free_memory();
}

/* A child of the process that sampled gives back what it has of that. */
static void forget_parents(void)
{
	if (!kunwind_profile.memory)
		return;
	(void)release_signal();
	free_profile();
}

/* Return: the state before, which is CHANGING now if it was @from. */
static int change_from(int from)
{
	int state = from;

	__atomic_compare_exchange_n(&kunwind_profile.threads->state, &state, CHANGING, 0,
				    __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
	return state;
}

EXPORT int kunwind_profile_start(struct kunwind_handle *handle, unsigned int hz,
				 const char *path)
{
	int saved_errno = errno, cancellable, ret;

	if (!handle || !hz || hz > KUNWIND_MAX_HZ)
		return -EINVAL;
	if (!make_threads()) {
		ret = -errno;
		goto out_errno;
	}
	if (change_from(IDLE) != IDLE)
		return -EBUSY;
	/* A thread that ended in here would leave the profile CHANGING. */
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancellable);
	forget_parents();
	kunwind_profile.pid = getpid();
	if (kunwind_recorder_exists()) {
		ret = kunwind_recorder_start();
		set_state(ret ? IDLE : RECORDED);
	} else {
		ret = start(handle, hz, path);
		if (ret)
			set_state(IDLE);
	}
	pthread_setcancelstate(cancellable, NULL);
out_errno:
	errno = saved_errno;
	return ret;
}

/* What a child of the process that sampled has inherited. Return: -EALREADY. */
static int stop_nothing(void)
{
	forget_parents();
	return -EALREADY;
}

/* What start() did. Return: as kunwind_profile_stop(). */
static int stop(void)
{
	uint64_t lost;
	int ret, error;

	timer_delete(kunwind_profile.timer);
	ret = release_signal();
	wait_for_handlers();
	error = end_writers(&lost);
	free_profile();
	return error ?: ret ?: lost < INT32_MAX ? (int)lost : INT32_MAX;
}

EXPORT int kunwind_profile_stop(void)
{
	int saved_errno = errno, state, cancellable, ret;

	if (!__atomic_load_n(&kunwind_profile.threads, __ATOMIC_ACQUIRE))
		return -EALREADY;
	state = change_from(SAMPLING);
	if (state == RECORDED || state == IDLE)
		state = change_from(state);
	if (state == CHANGING)
		return -EBUSY;
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancellable);
	ret = state == SAMPLING ? stop() :
	      state == RECORDED ? kunwind_recorder_stop() : stop_nothing();
	set_state(IDLE);
	pthread_setcancelstate(cancellable, NULL);
	errno = saved_errno;
	return ret;
}

/* What a program that ends has not stopped. */
static __attribute__((destructor)) void stop_at_exit(void)
{
	if (kunwind_profile.pid == getpid())
		(void)kunwind_profile_stop();
}
