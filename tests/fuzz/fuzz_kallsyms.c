// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* A copy of /proc/kallsyms: what is found at an address begins there or before. */
#include "fuzz_reader.h"
#include "kernel.h"

int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
	const struct kr_kernel_symbol *symbol;
	struct kr_kernel *kernel;
	u64 address = 1;
	char path[64];

	fuzz_write("kallsyms", data, size);
	snprintf(path, sizeof(path), "%s/kallsyms", fuzz_folder());
	kernel = kr_kernel_read(path);
	if (!kernel)
		return 0;
	while (address) {
		symbol = kr_kernel_find(kernel, address);
		must(!symbol || (symbol->address <= address && symbol->name && symbol->module));
		address <<= 1;
	}
	must(!(symbol = kr_kernel_find(kernel, ~0ULL)) || symbol->name);
	kr_kernel_free(kernel);
	return 0;
}
