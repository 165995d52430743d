// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* 6.9: a set of kfuncs is declared as such, and so pahole finds them. */
#include <linux/btf.h>
#include <linux/btf_ids.h>

__bpf_kfunc_start_defs();

__bpf_kfunc int probe(void)
{
	return 0;
}

__bpf_kfunc_end_defs();

BTF_KFUNCS_START(probes)
BTF_ID_FLAGS(func, probe)
BTF_KFUNCS_END(probes)
