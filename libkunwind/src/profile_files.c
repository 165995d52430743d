// SPDX-License-Identifier: MIT
/* The files of a profile's trace, in a folder that is made for it. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "metadata.h"
#include "profile.h"

/* Without a folder's name. */
#define MAX_FOLDERS	1000

static void name_stream(char name[32], unsigned int i)
{
	snprintf(name, 32, "samples_%u", i);
}

int kunwind_profile_open_files(void)
{
	struct memory *memory = kunwind_profile.memory;
	char name[32];
	unsigned int i;
	int ret = 0;

	memory->code.stream.packet = memory->code_packet;
	for (i = 0; i < kunwind_profile.nr_writers; i++)
		memory->writers[i].stream.packet = memory->writers[i].packet;
	for (i = 0; i < kunwind_profile.nr_writers && !ret; i++) {
		name_stream(name, i);
		ret = kunwind_stream_open(&memory->writers[i].stream, kunwind_profile.folder, name,
					  METADATA_SAMPLES, i);
	}
	if (!ret)
		ret = kunwind_stream_open(&memory->code.stream, kunwind_profile.folder, "code",
					  METADATA_CODE, 0);
	if (!ret)
		ret = kunwind_metadata_write(kunwind_profile.folder);
	return ret ?: kunwind_code_open(&memory->code);
}

void kunwind_profile_close_files(void)
{
	struct memory *memory = kunwind_profile.memory;
	unsigned int i;

	for (i = 0; i < kunwind_profile.nr_writers; i++)
		kunwind_stream_close(&memory->writers[i].stream);
	kunwind_stream_close(&memory->code.stream);
	kunwind_code_close(&memory->code);
}

void kunwind_profile_remove_files(void)
{
	char name[32];
	unsigned int i;

	for (i = 0; i < kunwind_profile.nr_writers; i++) {
		name_stream(name, i);
		unlinkat(kunwind_profile.folder, name, 0);
	}
	unlinkat(kunwind_profile.folder, "code", 0);
	unlinkat(kunwind_profile.folder, "metadata", 0);
}

int kunwind_profile_make_folder(const char **path)
{
	int i, ret = 0;

	if (*path)
		ret = mkdir(*path, 0700) ? -errno : 0;
	for (i = 0; !*path || (*path == kunwind_profile.name && ret == -EEXIST &&
			       i < MAX_FOLDERS); i++) {
		snprintf(kunwind_profile.name, sizeof(kunwind_profile.name), "kunwind-profile-%d-%d",
			 (int)kunwind_profile.pid, i);
		*path = kunwind_profile.name;
		ret = mkdir(*path, 0700) ? -errno : 0;
	}
	if (ret)
		return ret;
	kunwind_profile.folder = open(*path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (kunwind_profile.folder >= 0)
		return 0;
	ret = -errno;
	rmdir(*path);
	return ret;
}
