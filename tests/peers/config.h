/* SPDX-License-Identifier: MIT */
/* What the configure scripts of elfutils and of libbacktrace find in the guest. */
#define HAVE_ERROR_H 1
#define HAVE_DECL_REALLOCARRAY 1
#define HAVE_DECL_POWEROF2 1
#define HAVE_DECL_MEMPCPY 1

#define HAVE_ATOMIC_FUNCTIONS 1
#define HAVE_SYNC_FUNCTIONS 1
#define HAVE_DECL_GETPAGESIZE 1
#define HAVE_DECL_STRNLEN 1
#define HAVE_DL_ITERATE_PHDR 1
#define HAVE_LINK_H 1
#define HAVE_FCNTL 1
#define HAVE_LSTAT 1
#define HAVE_READLINK 1
#define HAVE_STDINT_H 1
#define HAVE_GETIPINFO 1
#define BACKTRACE_ELF_SIZE 64

/* What elfutils' configure puts at the end of its own. */
#if __has_include(<eu-config.h>)
#include <eu-config.h>
#endif
