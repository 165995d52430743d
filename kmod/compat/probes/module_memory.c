// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* 6.4: a module's code, data and init are apart. */
#include <linux/module.h>

static __maybe_unused void *probe(const struct module *mod)
{
	return mod->mem[MOD_TEXT].base;
}
