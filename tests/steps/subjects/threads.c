// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* Threads and processes: how they begin and end, seen from the main thread. */
#include <pthread.h>
#include <spawn.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int count;

static void *work(void *arg)
{
	pthread_mutex_lock(&lock);
	count += *(int *)arg;
	pthread_cond_signal(&changed);
	pthread_mutex_unlock(&lock);
	return NULL;
}

int main(void)
{
	char *argv[] = { "true", NULL };
	int one = 1, i, status = 1;
	pthread_t threads[3];
	pid_t pid;

	for (i = 0; i < 3; i++)
		pthread_create(&threads[i], NULL, work, &one);
	pthread_mutex_lock(&lock);
	while (count < 3)
		pthread_cond_wait(&changed, &lock);
	pthread_mutex_unlock(&lock);
	for (i = 0; i < 3; i++)
		pthread_join(threads[i], NULL);
	if (posix_spawnp(&pid, "true", NULL, NULL, argv, environ) ||
	    waitpid(pid, &status, 0) != pid)
		return 1;
	pid = fork();
	if (!pid)
		_exit(0);
	waitpid(pid, &status, 0);
	printf("%d\n", count);
	return count != 3 || status;
}
