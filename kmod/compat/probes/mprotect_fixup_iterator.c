// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* 6.3: mprotect_fixup() has the VMA iterator as its first argument. */
#include <linux/mm.h>

int probe(struct vma_iterator *vmi, struct mmu_gather *tlb, struct vm_area_struct *vma,
	  struct vm_area_struct **pprev, unsigned long start, unsigned long end,
	  unsigned long newflags);
static_assert(__same_type(mprotect_fixup, probe));
