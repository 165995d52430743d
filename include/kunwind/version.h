/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* The version of all of kunwind. configure.ac reads it here. */
#ifndef KUNWIND_VERSION_H
#define KUNWIND_VERSION_H

#define KUNWIND_VERSION "1.0.0"

#endif /* KUNWIND_VERSION_H */
