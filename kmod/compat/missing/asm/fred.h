/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* Before 6.9, Linux does not use FRED. This feature is one that no kernel for x86-64 uses. */
#define X86_FEATURE_FRED	X86_FEATURE_K6_MTRR
#define MSR_IA32_FRED_RSP1	0x1cd
