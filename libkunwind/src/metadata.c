// SPDX-License-Identifier: MIT
/*
 * The description of a profile's trace. Events, fields and their order are those of LTTng's
 * traces of the kernel (Documentation/trace-format.md), so that what reads these reads a
 * profile, too.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include "file.h"
#include "internal.h"
#include "metadata.h"

#define BOOT_ID		"/proc/sys/kernel/random/boot_id"

static const char head[] =
	"/* CTF 1.8 */\n"
	"typealias integer { size = 8; align = 8; signed = false; } := uint8_t;\n"
	"typealias integer { size = 16; align = 8; signed = false; } := uint16_t;\n"
	"typealias integer { size = 32; align = 8; signed = false; } := uint32_t;\n"
	"typealias integer { size = 64; align = 8; signed = false; } := uint64_t;\n"
	"typealias integer { size = 64; align = 8; signed = false; base = 16; } := hex64_t;\n"
	"typealias integer { size = 32; align = 8; signed = true; } := int32_t;\n"
	"trace {\n"
	"	major = 1; minor = 8; byte_order = le;\n"
	"	packet.header := struct { uint32_t magic; uint32_t stream_id; };\n"
	"};\n";

static const char samples[] =
	"typealias integer {\n"
	"	size = 64; align = 8; signed = false; map = clock.monotonic.value;\n"
	"} := clock_t;\n"
	"struct packet_context {\n"
	"	clock_t timestamp_begin;\n"
	"	clock_t timestamp_end;\n"
	"	uint64_t content_size;\n"
	"	uint64_t packet_size;\n"
	"	uint64_t packet_seq_num;\n"
	"	uint64_t events_discarded;\n"
	"	uint32_t cpu_id;\n"
	"};\n"
	"struct event_header { uint16_t id; clock_t timestamp; };\n"
	"stream {\n"
	"	id = 0;\n"
	"	packet.context := struct packet_context;\n"
	"	event.header := struct event_header;\n"
	"	event.context := struct {\n"
	"		string procname;\n"
	"		int32_t pid;\n"
	"		int32_t tid;\n"
	"		uint32_t __callstack_user_unwind_length;\n"
	"		hex64_t _callstack_user_unwind[ __callstack_user_unwind_length ];\n"
	"		enum : uint8_t {";

static const char maps[] =
	" } __callstack_user_unwind_stop;\n"
	"		uint64_t __callstack_user_unwind_space;\n"
	"		uint16_t __callstack_user_unwind_proven;\n"
	"		hex64_t __callstack_user_unwind_interrupted;\n"
	"	};\n"
	"};\n"
	"stream {\n"
	"	id = 1;\n"
	"	packet.context := struct packet_context;\n"
	"	event.header := struct event_header;\n"
	"};\n"
	"event { name = \"cpu_sample\"; id = 0; stream_id = 0;\n"
	"	fields := struct { uint32_t period; hex64_t ip; uint8_t user; };\n"
	"};\n"
	"event { name = \"kunwind_map\"; id = 0; stream_id = 1;\n"
	"	fields := struct {\n"
	"		uint64_t space; int32_t pid; hex64_t start; hex64_t end; hex64_t offset;\n"
	"		uint32_t dev; uint64_t inode; uint32_t __build_id_length;\n"
	"		uint8_t build_id[ __build_id_length ]; string path;\n"
	"	};\n"
	"};\n"
	"event { name = \"kunwind_unmap\"; id = 1; stream_id = 1;\n"
	"	fields := struct { uint64_t space; hex64_t start; hex64_t end; };\n"
	"};\n";

/* The clock of two traces of one boot is the same one. */
static void write_clock(FILE *file)
{
	struct timespec real, monotonic;
	FILE *boot = fopen(BOOT_ID, "re");
	char uuid[40] = "";

	if (boot && !fgets(uuid, sizeof(uuid), boot))
		uuid[0] = 0;
	if (boot)
		fclose(boot);
	uuid[strcspn(uuid, "\n")] = 0;
	clock_gettime(CLOCK_MONOTONIC, &monotonic);
	clock_gettime(CLOCK_REALTIME, &real);
	fputs("clock { name = monotonic; ", file);
	if (*uuid)
		fprintf(file, "uuid = \"%s\"; ", uuid);
	fprintf(file, "freq = 1000000000; offset = %" PRId64 "; };\n",
		(int64_t)(real.tv_sec - monotonic.tv_sec) * 1000000000 +
		real.tv_nsec - monotonic.tv_nsec);
}

static void write_env(FILE *file)
{
	struct utsname machine;
	const char *c;

	fputs("env { hostname = \"", file);
	if (!uname(&machine))
		for (c = machine.nodename; *c; c++)
			if (*c != '"' && *c != '\\' && (unsigned char)*c >= ' ')
				fputc(*c, file);
	fputs("\"; domain = \"kernel\"; tracer_name = \"libkunwind\"; };\n", file);
}

static void write_all(FILE *file)
{
	fputs(head, file);
	write_env(file);
	write_clock(file);
	fputs(samples, file);
#define STOP_VALUE(number, name, sentence) \
	fprintf(file, "%s \"%s\" = %d", number ? "," : "", #name, number);
	KUNWIND_STOPS(STOP_VALUE)
#undef STOP_VALUE
	fputs(maps, file);
}

static int write_file(int folder, const char *text, size_t size)
{
	int fd, ret = 0;

	if (!kunwind_file_may_have(size))
		return -EFBIG;
	fd = openat(folder, "metadata", O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (fd < 0)
		return -errno;
	while (size && !ret) {
		ssize_t done = write(fd, text, size);

		if (done > 0) {
			text += done;
			size -= done;
		} else if (done < 0 && errno != EINTR) {
			ret = -errno;
		}
	}
	if (close(fd) && !ret)
		ret = -errno;
	return ret;
}

int kunwind_metadata_write(int folder)
{
	char *text = NULL;
	size_t size = 0;
	FILE *memory = open_memstream(&text, &size);
	int ret = -ENOMEM;

	if (memory) {
		write_all(memory);
		if (!fclose(memory))
			ret = write_file(folder, text, size);
	}
	free(text);
	return ret;
}
