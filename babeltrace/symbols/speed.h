/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * How fast this machine is. Budgets of processor time are a fast machine's seconds: a guest
 * without KVM takes ten times as long for the same work.
 */
#ifndef KR_SPEED_H
#define KR_SPEED_H

#include <stdint.h>

/**
 * kr_slowness() - compare this machine with a fast one
 *
 * The first call measures it, which takes a fast machine some milliseconds. Children that are
 * forked later know it, too.
 *
 * Return: how many times the seconds of a fast machine this one takes; 1 at least.
 */
uint64_t kr_slowness(void);

#endif /* KR_SPEED_H */
