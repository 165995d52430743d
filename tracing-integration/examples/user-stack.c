// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * Prints the stack of each openat() of a running process, until it is interrupted:
 *
 *	cc user-stack.c -o user-stack -lbpf
 *	./user-stack user-stack.bpf.o PID
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <bpf/libbpf.h>

/* As in user-stack.bpf.c. */
struct stack {
	unsigned int pid;
	unsigned int count;
	unsigned int proven;
	unsigned int stop;
	unsigned long long frames[];
};

static volatile sig_atomic_t interrupted;

static void interrupt(int signal)
{
	interrupted = 1;
}

static int print(void *unused, void *data, size_t size)
{
	const struct stack *s = data;
	unsigned int i;

	printf("%u: %u frames, %u proven, stop %u\n", s->pid, s->count, s->proven,
	       s->stop);
	for (i = 0; i < s->count; i++)
		printf("\t%#llx\n", s->frames[i]);
	return 0;
}

/* @traced: the process: a read-only variable of the program, to be set before loading */
static struct bpf_object *load(const char *file, unsigned int traced)
{
	struct bpf_object *object = bpf_object__open(file);
	struct bpf_map *constants;
	size_t size;
	void *value;

	if (!object)
		return NULL;
	constants = bpf_object__find_map_by_name(object, ".rodata");
	value = constants ? bpf_map__initial_value(constants, &size) : NULL;
	if (!value || size < sizeof(traced))
		return NULL;
	memcpy(value, &traced, sizeof(traced));
	return bpf_object__load(object) ? NULL : object;
}

int main(int argc, char **argv)
{
	struct ring_buffer *buffer;
	struct bpf_program *program;
	struct bpf_object *object;

	if (argc != 3) {
		fprintf(stderr, "usage: user-stack OBJECT PID\n");
		return 2;
	}
	object = load(argv[1], strtoul(argv[2], NULL, 0));
	if (!object) {
		fprintf(stderr, "user-stack: %s: %s; is kunwind-tracing loaded?\n",
			argv[1], strerror(errno));
		return 1;
	}
	program = bpf_object__find_program_by_name(object, "on_openat");
	buffer = ring_buffer__new(bpf_object__find_map_fd_by_name(object, "stacks"),
				  print, NULL, NULL);
	if (!program || !buffer || !bpf_program__attach(program)) {
		fprintf(stderr, "user-stack: %s\n", strerror(errno));
		return 1;
	}
	signal(SIGINT, interrupt);
	signal(SIGTERM, interrupt);
	/* The first call starts coverage, so the first stacks say NOT_COVERED (5). */
	fprintf(stderr, "user-stack: ready\n");
	while (!interrupted)
		if (ring_buffer__poll(buffer, 100) < 0 && errno != EINTR)
			return 1;
	ring_buffer__consume(buffer);
	return 0;
}
