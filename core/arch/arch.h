/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * The architecture that core/ is for, and that of its programs with smaller words. Each has
 * a file here, with its registers, its words, the code of its calls and its signal frames.
 */
#ifndef KUW_ARCH_H
#define KUW_ARCH_H

#include "arch/x86_64.h"
#include "arch/i386.h"

#endif /* KUW_ARCH_H */
