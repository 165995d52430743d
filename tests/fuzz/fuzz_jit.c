// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * Names of compiled code, in a text and, behind 0xff 0xff, in a dump: a function that is found
 * has the address.
 */
#include "fuzz_reader.h"
#include "jit.h"

int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
	const struct kr_jit_function *function;
	struct kr_jit *jit;
	const u8 *part;
	size_t length;
	u64 address;

	length = fuzz_part(&data, &size, &part);
	fuzz_write("perf-7.map", part, length);
	fuzz_write("jit-7.dump", data, size);
	jit = kr_jit_new(fuzz_folder());
	for (address = 1; address; address <<= 1) {
		function = kr_jit_find(jit, 7, address);
		must(!function || (function->start <= address && address < function->end));
		must(!kr_jit_find(jit, 8, address));
	}
	kr_jit_free(jit);
	return 0;
}
